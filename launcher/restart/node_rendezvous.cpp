/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * node_rendezvous.cpp - the restart programs of a node recreate the objects that their ranks share.
 *
 * Each client connects to the host and describes the objects that its rank shares: one packet
 * for each object, and at least one. When all ranks of the node have sent everything, the
 * host creates the objects and answers each packet with descriptors. If the host fails, it
 * ends, and so does the launch.
 */
#include "config.h"
#include "restart/node_rendezvous.hpp"

#include "common/checksum.hpp"
#include "common/error.hpp"
#include "common/files/files.hpp"
#include "common/processes.hpp"
#include "common/files/run_directory.hpp"
#include "common/invariant.hpp"
#include "restart/connection.hpp"
#include "restart/shared_file.hpp"
#include "restart/siblings.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <climits>
#include <cstdlib>
#include <map>
#include <set>
#include <span>
#include <utility>

namespace ckpt::restart
{

namespace
{

struct Packet {
    std::int32_t rank;
    std::uint32_t index; /* index of the object, among those of the rank */
    std::uint32_t count; /* number of the rank's objects */
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
    std::uint32_t index; /* or all_here, without an object */
};
constexpr std::uint32_t all_here = UINT32_MAX;
static_assert(std::is_trivially_copyable_v<Packet> && std::is_trivially_copyable_v<Answer>);

/* Maximum time between the starts of two ranks of a node. */
constexpr auto start_timeout = std::chrono::minutes(5);

/* Returns a name that is the same for all processes of this launch on this node, and differs
 * for others. A parent in another pid namespace appears as process 0; then PMIX_NAMESPACE
 * distinguishes the launches. */
std::string rendezvous_name()
{
    const char *launch = std::getenv("PMIX_NAMESPACE");
    const std::string text =
        fmt::format("{} {}", process_identity(::getppid()), launch != nullptr ? launch : "");

    return fmt::format("{:016x}{}", checksum_of(std::as_bytes(std::span(text))), rendezvous_ending);
}

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
    CKPT_EXPECT(rank >= 0 && (index == 0 || index < objects.size()));
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
    /* Adds a packet of a rank. from: the client to answer, null for the host's own rank; it
     * must outlive this object. */
    void add(const Packet &packet, RendezvousSocket *from);

    /* Throws Error if an object cannot be shared as before. */
    void make_objects();

    /* Valid as long as this object exists. */
    std::vector<int> descriptors(const SharedObject &object) const;
    void answer() const;

  private:
    using Key = std::pair<std::string, std::pair<std::uint64_t, std::string>>;

    struct Group {
        SharedObject object; /* `size` and `end` are the maxima over the ranks */
        std::set<int> ranks;
        std::vector<Fd> fds;
    };
    struct Client {
        std::map<std::uint32_t, SharedObject> objects;
        RendezvousSocket *socket = nullptr;
    };

    static void make(Group &group);
    static Key key_of(const SharedObject &object)
    {
        return {object.piece, {object.inode, object.path}};
    }

    std::map<Key, Group> groups_;
    std::map<int, Client> clients_;
};

void Host::add(const Packet &packet, RendezvousSocket *from)
{
    Client &client = clients_[packet.rank];
    client.socket = from;
    if (packet.count > 0) {
        SharedObject object{
            packet.piece,
            packet.inode,
            packet.path,
            packet.sharers,
            packet.mode,
            packet.size,
            packet.end,
            packet.other,
            {},
            packet.listening,
            packet.is_pipe != 0,
        };
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
        client.objects.emplace(packet.index, std::move(object));
    }
}

void Host::make(Group &group)
{
    CKPT_EXPECT(group.fds.empty() && !group.ranks.empty()); /* each object is made once */
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
            refuse(CKPT_REFUSAL_OTHER_PLACEMENT,
                   "{} ranks shared {} {}: they must be on one node, but this node has only {}",
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

void Host::answer() const
{
    for (const auto &[rank, client] : clients_) {
        for (const auto &[index, object] : client.objects) {
            if (client.socket != nullptr) {
                Answer answer{index};
                client.socket->send(&answer, sizeof(answer), descriptors(object));
            }
        }
    }
}

} // namespace

/* ---- The rendezvous --------------------------------------------------------- */

NodeRendezvous::NodeRendezvous(const Place &place)
    : place_(place)
{
    const std::filesystem::path directory = run_directory();
    const std::string name = rendezvous_name();

    make_private_directory(directory);
    if (auto listener = RendezvousListener::open(directory, name)) {
        listener_.emplace(std::move(*listener));
    } else {
        host_ = RendezvousSocket::connect(directory, name);
    }
}

/* The launcher need not end the launch when a rank ends, so this looks for the missing ranks. */
void NodeRendezvous::accept_clients()
{
    CKPT_EXPECT(listener_);
    const auto all = static_cast<std::size_t>(place_.local_size);
    SiblingWatch watch(all, start_timeout);

    while (clients_.size() + 1 < all) {
        clients_.push_back(listener_->accept([&] { watch.check(); }));
    }
    listener_.reset();
}

std::vector<std::vector<Fd>>
NodeRendezvous::share_as_host(const std::vector<SharedObject> &objects)
{
    Host host;
    accept_clients();
    for (std::size_t i = 0; i == 0 || i < objects.size(); i++) {
        host.add(pack(place_.rank, i, objects), nullptr);
    }
    for (RendezvousSocket &client : clients_) {
        Packet packet{};
        std::uint32_t received = 0;
        do {
            (void)client.receive(&packet, sizeof(packet));
            packet.piece[sizeof(packet.piece) - 1] = '\0';
            packet.path[sizeof(packet.path) - 1] = '\0';
            host.add(packet, &client);
        } while (++received < packet.count);
    }
    host.make_objects();
    host.answer();
    std::vector<std::vector<Fd>> descriptors;
    for (const SharedObject &object : objects) {
        auto &own = descriptors.emplace_back();
        for (int fd : host.descriptors(object)) {
            own.emplace_back(::dup(fd));
        }
    }
    CKPT_INVARIANT(descriptors.size() == objects.size());
    return descriptors;
}

std::vector<std::vector<Fd>>
NodeRendezvous::share_as_client(const std::vector<SharedObject> &objects)
{
    std::vector<std::vector<Fd>> descriptors(objects.size());
    for (std::size_t i = 0; i == 0 || i < objects.size(); i++) {
        Packet packet = pack(place_.rank, i, objects);
        host_->send(&packet, sizeof(packet), {});
    }
    for (std::size_t i = 0; i < objects.size(); i++) {
        Answer answer{};
        std::vector<Fd> fds = host_->receive(&answer, sizeof(answer));
        descriptors.at(answer.index) = std::move(fds);
    }
    return descriptors;
}

std::vector<std::vector<Fd>>
NodeRendezvous::share(const std::vector<SharedObject> &objects)
{
    CKPT_EXPECT(host_.has_value() != listener_.has_value()); /* a host stops listening here */
    return host_ ? share_as_client(objects) : share_as_host(objects);
}

/* Each client reports its arrival; the host answers when all have arrived. */
void NodeRendezvous::await_all()
{
    CKPT_EXPECT(host_ || !listener_); /* after share() */
    Answer here{all_here};
    if (host_) {
        host_->send(&here, sizeof(here), {});
        (void)host_->receive(&here, sizeof(here));
        return;
    }
    for (RendezvousSocket &client : clients_) {
        (void)client.receive(&here, sizeof(here));
    }
    for (RendezvousSocket &client : clients_) {
        client.send(&here, sizeof(here), {});
    }
}

} // namespace ckpt::restart
