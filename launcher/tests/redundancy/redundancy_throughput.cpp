/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * redundancy_throughput.cpp - the speed at which the nodes of a group protect their pieces and
 * rebuild lost ones. Compares it with the cost of each part on this machine: copying, tags,
 * checksums, arithmetic, TCP. Not a test.
 *
 * Usage: redundancy_throughput DIRECTORY [MIB] [NODES] [ROUNDS]
 *
 * Each node is a process, with a piece of MIB MiB, and its own directory below DIRECTORY. Bytes per
 * second count the bytes of all pieces together. From the second round on, parity files overwrite
 * older ones, as agents do it.
 */
#include "config.h"
#include "agent/blocks/block_server.hpp"
#include "agent/blocks/block_tags.hpp"
#include "agent/blocks/remote_source.hpp"
#include "common/checksum.hpp"
#include "common/durations.hpp"
#include "common/files/files.hpp"
#include "image/store/store.hpp"
#include "redundancy/coder.hpp"
#include "redundancy/groups.hpp"
#include "redundancy/protect.hpp"
#include "redundancy/rebuild.hpp"
#include "redundancy/slice_buffers.hpp"
#include "tests/common/child_process.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <vector>

using namespace ckpt;
using namespace ckpt::redundancy;
namespace fs = std::filesystem;

namespace
{

const std::string number = "job/000001";

/* processors: their total seconds, if known */
void print(const std::string &what, std::uint64_t bytes, double seconds,
           double processors = 0)
{
    fmt::print("{:28} {:8.1f} ms {:7.2f} GB/s", what, seconds * 1e3,
               static_cast<double>(bytes) / seconds / 1e9);
    if (processors > 0) {
        fmt::print(" {:8.1f} ms of processors", processors * 1e3);
    }
    fmt::print("\n");
    std::fflush(stdout); /* before the next fork */
}

/* ---- Cost of each part ----------------------------------------------------------------- */

void time_part(const std::string &what, std::uint64_t bytes,
               const std::function<void()> &part)
{
    double best = std::numeric_limits<double>::max();

    for (int i = 0; i < 3; i++) {
        Stopwatch watch;
        part();
        best = std::min(best, watch.seconds());
    }
    print(what, bytes, best);
}

void copy_through_tcp(std::span<const std::byte> bytes)
{
    sockaddr_in address{};
    socklen_t size = sizeof address;
    auto *generic = reinterpret_cast<sockaddr *>(&address);
    Fd listener(::socket(AF_INET, SOCK_STREAM, 0));

    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::bind(listener.get(), generic, size) < 0 || ::listen(listener.get(), 1) < 0 ||
        ::getsockname(listener.get(), generic, &size) < 0) {
        fail_errno(errno, "no TCP");
    }
    const pid_t child = ::fork();
    if (child == 0) {
        Fd socket(::accept(listener.get(), nullptr, nullptr));
        std::vector<std::byte> block(block_bytes);
        while (::recv(socket.get(), block.data(), block.size(), MSG_WAITALL) > 0) {
        }
        ::_exit(0);
    }
    Fd socket(::socket(AF_INET, SOCK_STREAM, 0));
    bool is_good = ::connect(socket.get(), generic, size) == 0;
    for (std::size_t at = 0; at < bytes.size() && is_good; at += block_bytes) {
        is_good = ::send(socket.get(), &bytes[at], block_bytes, 0) > 0;
    }
    socket.reset();
    (void)::waitpid(child, nullptr, 0);
    if (!is_good) {
        fail("TCP does not work");
    }
}

/* Each part uses one processor, except TCP, which uses one at each end. */
void time_parts(const fs::path &directory)
{
    constexpr std::size_t size = 256u << 20, half = size / 2;
    std::vector<std::byte> from(size), to(size);
    SliceBuffers result(1);
    BlockTags tags(MessageKey::make());
    const auto for_blocks = [&](std::size_t block, auto call) {
        for (std::size_t at = 0; at < size; at += block) {
            call(std::span(from).subspan(at, block));
        }
    };

    test::fill_random(from, 1);
    time_part("memcpy", size, [&] { std::memcpy(to.data(), from.data(), size); });
    time_part("tags (Poly1305)", size, [&] {
        for_blocks(block_bytes, [&](auto block) { (void)tags.next(block); });
    });
    time_part("checksums (XXH3)", size, [&] {
        for_blocks(slice_bytes, [&](auto slice) { (void)checksum_of(slice); });
    });
    const auto combine = [&](const Combination &combination) {
        for (std::size_t at = 0; at < half; at += slice_bytes) {
            const std::byte *sources[] = {&from[at], &from[half + at]};
            combination.apply(sources, result.at(0, slice_bytes));
        }
    };
    time_part("exclusive or of two", size, [&] { combine(Coder(2, 1).parity(0)); });
    time_part("Reed-Solomon of two", size, [&] { combine(Coder(2, 2).parity(1)); });
    time_part("TCP to another process", size, [&] { copy_through_tcp(from); });
    time_part("a file written and read", size, [&] {
        const fs::path path = directory / "part";
        Fd fd = open_file(path, O_RDWR | O_CREAT | O_TRUNC, 0600, "file");
        for_blocks(slice_bytes, [&](auto slice) {
            (void)write_exactly(fd.get(), slice.data(), slice.size(),
                                static_cast<std::uint64_t>(slice.data() - from.data()));
        });
        (void)read_exactly(fd.get(), to.data(), size, 0);
        fs::remove(path);
    });
}

/* ---- Nodes ------------------------------------------------------------------------------ */

/* Memory that the nodes share with this process. */
struct Shared {
    char addresses[64][512]; /* PeerAddress::text() */
};

struct Times {
    double seconds;    /* until the last node is done */
    double processors; /* seconds of all nodes */
};

/* The processor time of all children that have ended. */
double processor_seconds()
{
    rusage usage{};
    const auto seconds = [](const timeval &time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
    };

    (void)::getrusage(RUSAGE_CHILDREN, &usage);
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/* Processes that carry out one task, all at once. */
class Nodes
{
  public:
    using Task = std::function<void(std::size_t node)>;

    Nodes(const fs::path &directory, std::size_t count, std::uint64_t bytes)
        : directory_(directory), count_(count),
          shared_(static_cast<Shared *>(::mmap(nullptr, sizeof(Shared),
                                               PROT_READ | PROT_WRITE,
                                               MAP_SHARED | MAP_ANONYMOUS, -1, 0)))
    {
        std::vector<std::byte> content(bytes);
        for (std::size_t i = 0; i < count; i++) {
            test::fill_random(content, i + 1);
            make_private_directory(place(i));
            Fd fd = open_file(place(i) / node_file_name(host(i)),
                              O_WRONLY | O_CREAT | O_TRUNC, 0600, "piece");
            if (write_exactly(fd.get(), content.data(), bytes, 0) != 0) {
                fail("no space for the pieces");
            }
        }
    }
    ~Nodes() { fs::remove_all(directory_ / "nodes"); }

    std::size_t count() const { return count_; }
    static std::string host(std::size_t i) { return fmt::format("n{}", i); }
    fs::path place(std::size_t i) const { return root(i) / number; }

    /* The servers run before the task begins. */
    Times run(const Task &task)
    {
        const double before = processor_seconds();
        std::vector<pid_t> children;
        int ready[2], go[2], done[2];
        if (::pipe(ready) < 0 || ::pipe(go) < 0 || ::pipe(done) < 0) {
            fail_errno(errno, "no pipe");
        }
        for (std::size_t i = 0; i < count_; i++) {
            children.push_back(::fork());
            if (children.back() == 0) {
                ::close(done[1]);
                serve(i, ready[1], go[0], done[0], task);
            }
        }
        char byte = 0;
        for (std::size_t i = 0; i < count_; i++) {
            (void)!::read(ready[0], &byte, 1);
        }
        Stopwatch watch;
        for (std::size_t i = 0; i < count_; i++) {
            (void)!::write(go[1], &byte, 1);
        }
        bool is_good = true;
        for (std::size_t i = 0; i < count_; i++) {
            is_good = ::read(ready[0], &byte, 1) == 1 && byte == 1 && is_good;
        }
        const double seconds = watch.seconds();
        ::close(done[1]); /* servers may end */
        for (pid_t child : children) {
            (void)::waitpid(child, nullptr, 0);
        }
        for (int fd : {ready[0], ready[1], go[0], go[1], done[0]}) {
            ::close(fd);
        }
        if (!is_good) {
            fail("a node has failed");
        }
        return {seconds, processor_seconds() - before};
    }

    /* In a node: opens a connection to another node. */
    std::unique_ptr<RemoteSource> source(std::size_t self, std::size_t other) const
    {
        return std::make_unique<RemoteSource>(
            PeerAddress::parse(shared_->addresses[other]).value(),
            PeerIdentity{"launch", host(self), 0}, number);
    }

  private:
    fs::path root(std::size_t i) const { return directory_ / "nodes" / host(i); }

    [[noreturn]] void serve(std::size_t i, int ready, int go, int done, const Task &task)
    {
        RejectedFrames rejected;
        BlockServer server({"launch", host(i), 0}, key_, root(i), rejected);
        const std::string address = server.address().text();
        char byte = 1;

        std::memcpy(shared_->addresses[i], address.c_str(), address.size() + 1);
        (void)!::write(ready, &byte, 1);
        (void)!::read(go, &byte, 1);
        byte = 1;
        try {
            task(i);
        } catch (const std::exception &error) {
            fmt::print(stderr, "n{}: {}\n", i, error.what());
            byte = 0;
        }
        (void)!::write(ready, &byte, 1);
        (void)!::read(done, &byte, 1);
        ::_exit(0);
    }

    const fs::path directory_;
    const std::size_t count_;
    const MessageKey key_ = MessageKey::make();
    Shared *shared_;
};

const std::atomic<bool> never = false;

/* The group of a node, as the node sees it. */
struct View {
    Group group;
    std::size_t self = 0;
    std::vector<std::unique_ptr<RemoteSource>> connections; /* none to lost nodes */
    std::vector<BlockSource *> sources;
};

View view_of(const Nodes &nodes, const Scheme &scheme, std::uint64_t bytes, std::size_t node,
             const std::set<std::size_t> &lost)
{
    std::vector<NodeInfo> infos(nodes.count());
    View view;
    std::vector<Member> members;

    for (const auto &group : make_groups(infos, scheme)) {
        if (std::ranges::find(group, node) == group.end()) {
            continue;
        }
        for (std::size_t other : group) {
            const std::string host = Nodes::host(other);
            if (other == node) {
                view.self = members.size();
            }
            members.push_back({host, node_file_name(host), bytes});
            view.connections.push_back(other == node || lost.contains(other)
                                           ? nullptr
                                           : nodes.source(node, other));
            view.sources.push_back(view.connections.back().get());
        }
    }
    view.group = Group::make(scheme.losses, std::move(members));
    return view;
}

/* Overwrites an older file, if there is one, as an agent does. */
Times protect(Nodes &nodes, const Scheme &scheme, std::uint64_t bytes)
{
    const std::string room_name(scheme.text().substr(0, scheme.text().find('/')));

    return nodes.run([&](std::size_t i) {
        const View view = view_of(nodes, scheme, bytes, i, {});
        const fs::path parity = nodes.place(i) / parity_file_name(Nodes::host(i));
        const fs::path room = parity.string() + "." + room_name;
        write_parity(view.group, view.self, nodes.place(i), view.sources, nullptr, never,
                     room);
        fs::create_hard_link(parity, room); /* for the next round */
    });
}

/* Rebuilds each lost node in its own directory. */
Times rebuild(Nodes &nodes, const Scheme &scheme, std::uint64_t bytes,
              const std::set<std::size_t> &lost)
{
    return nodes.run([&](std::size_t i) {
        if (lost.contains(i)) {
            const View view = view_of(nodes, scheme, bytes, i, lost);
            rebuild_piece(view.group, view.self, nodes.place(i), view.sources, never);
        }
    });
}

void time_scheme(Nodes &nodes, const Scheme &scheme, std::uint64_t bytes)
{
    std::set<std::size_t> lost;

    const Times times = protect(nodes, scheme, bytes);
    print(scheme.text() + ": protect all", nodes.count() * bytes, times.seconds,
          times.processors);
    for (std::size_t i = 0; i < scheme.losses; i++) {
        lost.insert(i);
        const Times anew = rebuild(nodes, scheme, bytes, lost);
        print(fmt::format("{}: rebuild {}", scheme.text(), lost.size()),
              lost.size() * bytes, anew.seconds, anew.processors);
    }
}

} // namespace

int main(int argc, char **argv)
try {
    if (argc < 2) {
        fmt::print(stderr, "usage: {} DIRECTORY [MIB] [NODES] [ROUNDS]\n", argv[0]);
        return 2;
    }
    const std::uint64_t bytes = (argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 256) << 20;
    const std::size_t count = argc > 3 ? std::strtoul(argv[3], nullptr, 10) : 4;
    const int rounds = argc > 4 ? std::atoi(argv[4]) : 3;

    spdlog::set_level(spdlog::level::warn);
    time_parts(argv[1]);
    Nodes nodes(argv[1], count, bytes);
    for (int i = 0; i < rounds; i++) {
        for (const char *scheme : {"partner", "parity/{}", "rs2/{}"}) {
            time_scheme(nodes, Scheme::parse(fmt::format(fmt::runtime(scheme), count)), bytes);
        }
    }
    return 0;
} catch (const Error &error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
}
