/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * meeting.cpp - the restart programs of a node agree on what their ranks share.
 *
 * Each guest tells the host what its rank shares, in one packet for each object
 * and at least one. When all ranks of the node have told everything, the host
 * makes the objects and answers each packet with a descriptor. If it cannot, it
 * ends, and with it the launch.
 */
#include "config.h"
#include "restart/meeting.hpp"

#include "common/error.hpp"
#include "restart/meeting_socket.hpp"
#include "restart/shared_file.hpp"

#include <unistd.h>

#include <algorithm>
#include <climits>
#include <map>
#include <set>
#include <utility>

namespace ckpt::restart
{

namespace
{

struct Packet {
    std::int32_t rank;
    std::uint32_t index; /* of the object, among those of the rank */
    std::uint32_t count; /* of them */
    std::uint32_t sharers;
    std::uint32_t mode;
    std::uint32_t reserved;
    std::uint64_t inode;
    std::uint64_t size;
    std::uint64_t end;
    char piece[NAME_MAX + 1];
    char path[PATH_MAX];
};

struct Answer {
    std::uint32_t index;
};

void copy_text(const std::string &from, char *to, std::size_t capacity)
{
    if (from.size() >= capacity) {
        fail("{} is too long a name", from);
    }
    from.copy(to, capacity - 1);
}

Packet pack(int rank, std::size_t index,
            const std::vector<SharedObject> &objects)
{
    Packet packet{};
    packet.rank = rank;
    packet.index = static_cast<std::uint32_t>(index);
    packet.count = static_cast<std::uint32_t>(objects.size());
    if (index < objects.size()) {
        const SharedObject &object = objects[index];
        packet.sharers = object.sharers;
        packet.mode = object.mode;
        packet.inode = object.inode;
        packet.size = object.size;
        packet.end = object.end;
        copy_text(object.piece, packet.piece, sizeof(packet.piece));
        copy_text(object.path, packet.path, sizeof(packet.path));
    }
    return packet;
}

/* ---- The host ------------------------------------------------------------ */

class Host
{
  public:
    /* A packet of a rank; `from`: whom to answer. */
    void add(const Packet &packet, const MeetingSocket::Address &from);

    /* Ranks that have told everything. */
    std::size_t complete() const { return complete_.size(); }

    /* Throws Error if an object cannot be shared as it was. */
    void make_objects();

    int descriptor(const SharedObject &object) const;
    void answer(MeetingSocket &socket) const;

  private:
    using Key = std::pair<std::string, std::pair<std::uint64_t, std::string>>;

    struct Group {
        SharedObject object; /* size and end: the largest */
        std::set<int> ranks;
        Fd fd;
    };
    struct Guest {
        std::map<std::uint32_t, SharedObject> objects;
        MeetingSocket::Address address;
    };

    static Key key_of(const SharedObject &object)
    {
        return {object.piece, {object.inode, object.path}};
    }

    std::map<Key, Group> groups_;
    std::map<int, Guest> guests_;
    std::set<int> complete_;
};

void Host::add(const Packet &packet, const MeetingSocket::Address &from)
{
    Guest &guest = guests_[packet.rank];
    guest.address = from;
    if (packet.count > 0) {
        SharedObject object{packet.piece, packet.inode, packet.path,
                            packet.sharers, packet.mode, packet.size,
                            packet.end};
        auto [entry, is_new] =
            groups_.try_emplace(key_of(object), Group{object, {}, {}});
        Group &group = entry->second;
        group.object.size = std::max(group.object.size, object.size);
        group.object.end = std::max(group.object.end, object.end);
        group.object.mode |= object.mode;
        group.ranks.insert(packet.rank);
        guest.objects.emplace(packet.index, std::move(object));
    }
    if (guest.objects.size() == packet.count) {
        complete_.insert(packet.rank);
    }
}

void Host::make_objects()
{
    for (auto &[key, group] : groups_) {
        const SharedObject &object = group.object;
        if (group.ranks.size() != object.sharers) {
            fail("{} ranks shared the memory {}: they must be on one node, but "
                 "here are only {} of them",
                 object.sharers, object.path, group.ranks.size());
        }
        if (is_system_v(object.inode)) {
            make_system_v(object.path, object.inode, object.mode, object.size);
        } else {
            group.fd = open_shared_file(object.path, object.mode,
                                        object.size != 0 ? object.size
                                                         : object.end);
        }
    }
}

int Host::descriptor(const SharedObject &object) const
{
    return groups_.at(key_of(object)).fd.get();
}

void Host::answer(MeetingSocket &socket) const
{
    for (const auto &[rank, guest] : guests_) {
        for (const auto &[index, object] : guest.objects) {
            if (guest.address.size != 0) {
                Answer answer{index};
                socket.send(&answer, sizeof(answer), guest.address,
                            descriptor(object));
            }
        }
    }
}

std::vector<Fd> be_host(MeetingSocket &socket, const Place &place,
                        const std::vector<SharedObject> &objects)
{
    Host host;
    for (std::size_t i = 0; i == 0 || i < objects.size(); i++) {
        host.add(pack(place.rank, i, objects), {});
    }
    while (host.complete() < static_cast<std::size_t>(place.local_size)) {
        Packet packet;
        Fd none;
        auto from = socket.receive(&packet, sizeof(packet), none);
        packet.piece[sizeof(packet.piece) - 1] = '\0';
        packet.path[sizeof(packet.path) - 1] = '\0';
        host.add(packet, from);
    }
    host.make_objects();
    host.answer(socket);
    std::vector<Fd> descriptors;
    for (const SharedObject &object : objects) {
        descriptors.emplace_back(::dup(host.descriptor(object)));
    }
    return descriptors;
}

/* ---- A guest ------------------------------------------------------------- */

std::vector<Fd> be_guest(MeetingSocket &socket,
                         const MeetingSocket::Address &host, const Place &place,
                         const std::vector<SharedObject> &objects)
{
    std::vector<Fd> descriptors(objects.size());
    socket.take_any();
    for (std::size_t i = 0; i == 0 || i < objects.size(); i++) {
        Packet packet = pack(place.rank, i, objects);
        socket.send(&packet, sizeof(packet), host, -1);
    }
    for (std::size_t i = 0; i < objects.size(); i++) {
        Answer answer{};
        Fd fd;
        socket.receive(&answer, sizeof(answer), fd);
        descriptors.at(answer.index) = std::move(fd);
    }
    return descriptors;
}

} // namespace

std::vector<Fd> meet(const Place &place,
                     const std::vector<SharedObject> &objects)
{
    MeetingSocket socket;
    auto host = MeetingSocket::address(
        fmt::format("ckpt-restart-{}-{}", ::geteuid(), ::getppid()));
    return socket.take(host) ? be_host(socket, place, objects)
                             : be_guest(socket, host, place, objects);
}

} // namespace ckpt::restart
