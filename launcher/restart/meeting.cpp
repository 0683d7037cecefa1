/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * meeting.cpp - the restart programs of a node agree on what their ranks share.
 *
 * Each guest tells the host what its rank shares, in one packet for each object
 * and at least one. When all ranks of the node have told everything, the host
 * makes the objects and answers each packet with descriptors. If it cannot, it
 * ends, and with it the launch.
 */
#include "config.h"
#include "restart/meeting.hpp"

#include "common/error.hpp"
#include "restart/connection.hpp"
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
    std::uint32_t listening;
    std::uint64_t is_pipe;
    std::uint64_t inode;
    std::uint64_t size;
    std::uint64_t end;
    std::uint64_t other;
    ckpt_socket ends[2];
    char piece[NAME_MAX + 1];
    char path[PATH_MAX];
};

struct Answer {
    std::uint32_t index; /* or, without an object: */
};
constexpr std::uint32_t all_here = UINT32_MAX;

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
        packet.other = object.other;
        packet.listening = object.listening;
        packet.is_pipe = object.is_pipe ? 1 : 0;
        std::ranges::copy(object.ends, packet.ends);
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

    /* Valid as long as this. */
    std::vector<int> descriptors(const SharedObject &object) const;
    void answer(MeetingSocket &socket) const;

  private:
    using Key = std::pair<std::string, std::pair<std::uint64_t, std::string>>;

    struct Group {
        SharedObject object; /* size and end: the largest */
        std::set<int> ranks;
        std::vector<Fd> fds;
    };
    struct Guest {
        std::map<std::uint32_t, SharedObject> objects;
        MeetingSocket::Address address;
    };

    static void make(Group &group);
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
                            packet.end, packet.other, {},
                            packet.listening, packet.is_pipe != 0};
        std::ranges::copy(packet.ends, object.ends);
        auto [entry, is_new] =
            groups_.try_emplace(key_of(object), Group{object, {}, {}});
        Group &group = entry->second;
        group.object.size = std::max(group.object.size, object.size);
        group.object.end = std::max(group.object.end, object.end);
        group.object.mode |= object.mode;
        group.object.listening |= object.listening;
        for (int i = 0; i < 2; i++) {
            if (object.ends[i].domain != 0) {
                group.object.ends[i] = object.ends[i];
            }
        }
        group.ranks.insert(packet.rank);
        guest.objects.emplace(packet.index, std::move(object));
    }
    if (guest.objects.size() == packet.count) {
        complete_.insert(packet.rank);
    }
}

void Host::make(Group &group)
{
    const SharedObject &object = group.object;
    if (object.is_connection()) {
        group.fds = connect_ends(object.path, object.ends, object.listening);
    } else if (object.is_pipe) {
        group.fds.push_back(make_pipe(object.path, object.size));
    } else if (is_system_v(object.inode)) {
        make_system_v(object.path, object.inode, object.mode, object.size);
    } else {
        group.fds.push_back(
            open_shared_file(object.path, object.mode,
                             object.size != 0 ? object.size : object.end));
    }
}

void Host::make_objects()
{
    for (auto &[key, group] : groups_) {
        const SharedObject &object = group.object;
        if (group.ranks.size() != object.sharers) {
            fail("{} ranks shared {} {}: they must be on one node, but here are "
                 "only {} of them",
                 object.sharers,
                 object.is_connection() ? "the connection"
                 : object.is_pipe       ? "the pipe"
                                        : "the memory",
                 object.path, group.ranks.size());
        }
        make(group);
    }
}

std::vector<int> Host::descriptors(const SharedObject &object) const
{
    std::vector<int> list;
    for (const Fd &fd : groups_.at(key_of(object)).fds) {
        list.push_back(fd.get());
    }
    return list;
}

void Host::answer(MeetingSocket &socket) const
{
    for (const auto &[rank, guest] : guests_) {
        for (const auto &[index, object] : guest.objects) {
            if (guest.address.size != 0) {
                Answer answer{index};
                socket.send(&answer, sizeof(answer), guest.address,
                            descriptors(object));
            }
        }
    }
}

} // namespace

/* ---- The meeting --------------------------------------------------------- */

Meeting::Meeting(const Place &place)
    : place_(place), host_(MeetingSocket::address(fmt::format(
                         "ckpt-restart-{}-{}", ::geteuid(), ::getppid()))),
      is_host_(socket_.take(host_))
{
    if (!is_host_) {
        socket_.take_any();
    }
}

std::vector<std::vector<Fd>>
Meeting::share_as_host(const std::vector<SharedObject> &objects)
{
    Host host;
    for (std::size_t i = 0; i == 0 || i < objects.size(); i++) {
        host.add(pack(place_.rank, i, objects), {});
    }
    while (host.complete() < static_cast<std::size_t>(place_.local_size)) {
        Packet packet;
        std::vector<Fd> none;
        auto from = socket_.receive(&packet, sizeof(packet), none);
        packet.piece[sizeof(packet.piece) - 1] = '\0';
        packet.path[sizeof(packet.path) - 1] = '\0';
        host.add(packet, from);
    }
    host.make_objects();
    host.answer(socket_);
    std::vector<std::vector<Fd>> descriptors;
    for (const SharedObject &object : objects) {
        auto &own = descriptors.emplace_back();
        for (int fd : host.descriptors(object)) {
            own.emplace_back(::dup(fd));
        }
    }
    return descriptors;
}

std::vector<std::vector<Fd>>
Meeting::share_as_guest(const std::vector<SharedObject> &objects)
{
    std::vector<std::vector<Fd>> descriptors(objects.size());
    for (std::size_t i = 0; i == 0 || i < objects.size(); i++) {
        Packet packet = pack(place_.rank, i, objects);
        socket_.send(&packet, sizeof(packet), host_, {});
    }
    for (std::size_t i = 0; i < objects.size(); i++) {
        Answer answer{};
        std::vector<Fd> fds;
        socket_.receive(&answer, sizeof(answer), fds);
        descriptors.at(answer.index) = std::move(fds);
    }
    return descriptors;
}

std::vector<std::vector<Fd>>
Meeting::share(const std::vector<SharedObject> &objects)
{
    return is_host_ ? share_as_host(objects) : share_as_guest(objects);
}

/* Each guest tells that it is here, and is told when all are. */
void Meeting::await_all()
{
    Answer here{all_here};
    std::vector<Fd> none;
    if (!is_host_) {
        socket_.send(&here, sizeof(here), host_, {});
        socket_.receive(&here, sizeof(here), none);
        return;
    }
    std::vector<MeetingSocket::Address> guests;
    while (guests.size() + 1 < static_cast<std::size_t>(place_.local_size)) {
        guests.push_back(socket_.receive(&here, sizeof(here), none));
    }
    for (const MeetingSocket::Address &guest : guests) {
        socket_.send(&here, sizeof(here), guest, {});
    }
}

} // namespace ckpt::restart
