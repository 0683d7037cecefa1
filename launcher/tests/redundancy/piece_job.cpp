/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * piece_job.cpp - an agent's node with ranks, and its coordinator.
 */
#include "config.h"
#include "tests/redundancy/piece_job.hpp"

#include "protocol/rank_message.hpp"

#include "tests/common/descriptor_message.hpp"
#include "tests/common/rank_page_file.hpp"

#include <gtest/gtest.h>

#include <signal.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <fstream>

namespace ckpt::test
{

namespace fs = std::filesystem;

namespace
{

constexpr auto longest = std::chrono::seconds(20);

/* In the child: says HELLO to the agent and keeps the connection open. */
void join(const std::string &path, int rank)
{
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strcpy(address.sun_path, path.c_str());
    int socket = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    ckpt_rank_page *own = nullptr;
    const Fd page = make_rank_page(rank, piece_ranks, own);
    if (connect(socket, reinterpret_cast<sockaddr *>(&address),
                sizeof address) != 0) {
        _exit(1);
    }

    ckpt_message hello = make_message(CKPT_MSG_HELLO, 0);
    const auto pid = static_cast<std::uint64_t>(getpid());
    hello.as.hello.rank = static_cast<std::uint64_t>(rank);
    hello.as.hello.rank_count = piece_ranks;
    hello.as.hello.pid = hello.as.hello.thread = pid;
    hello.as.hello.signal = static_cast<std::uint64_t>(SIGRTMIN);
    if (!send_with_descriptor(socket, hello, page.get())) {
        _exit(1);
    }
}

} // namespace

Job::Job(Where where, const Prepare &prepare)
{
    settings_.host = "n1";
    settings_.launch_namespace = "space";
    settings_.directory = scratch.path();
    settings_.snapshot = SnapshotMethod::stop; /* all that the pretended ranks can do */
    local_.emplace(loop_, worker_, settings_, rejected_,
                   LocalNode::Hooks{[](auto &) { return ""; }, [](auto &) {}});
    listener_ = std::make_unique<Listener>(
        loop_, scratch / "socket", SOCK_SEQPACKET, rejected_,
        [this](Fd socket) { local_->accept(std::move(socket)); });
    loop_.watch(worker_.descriptor(), EPOLLIN,
                [this](std::uint32_t) { worker_.run_replies(); });
    /* The ranks start before the connections, which they would otherwise keep
     * open. */
    for (int rank = 0; rank < piece_ranks; rank++) {
        ranks_.push_back(std::make_unique<ChildProcess>([&](Description &own) {
            own.snapshot.rank = rank;
            own.snapshot.rank_count = piece_ranks;
            fill_random(own.map(mebibyte), static_cast<std::uint64_t>(rank));
            if (prepare) {
                prepare(own, rank);
            }
            join(scratch / "socket", rank);
        }));
    }
    if (where == Where::here) {
        local_->attach(&events);
    } else {
        peers_ = std::make_unique<PeerListener>(
            loop_, settings_.identity(), PeerAddress::make(), rejected_,
            [this](std::unique_ptr<FrameStream> stream, const std::string &,
                   const std::string &) {
                remote_ = std::make_unique<RemoteNode>(std::move(stream), "n1",
                                                       events, [] {});
            });
        link_ = std::make_unique<CoordinatorLink>(
            loop_, worker_, *local_, settings_, peers_->address(), rejected_);
        await([this] { return remote_ != nullptr; });
    }
    await([this] { return events.here.size() == piece_ranks; });
}

Job::~Job()
{
    worker_.stop();
    remote_.reset();
    link_.reset();
    local_.reset();
}

void Job::await(const std::function<bool()> &condition)
{
    const auto end = std::chrono::steady_clock::now() + longest;
    while (!condition()) {
        const auto now = std::chrono::steady_clock::now();
        if (now >= end) {
            FAIL() << "told: " << fmt::format("{}", fmt::join(events.told, " "))
                   << " " << events.last_reason;
        }
        loop_.turn(now + std::chrono::milliseconds(20));
        if (link_) {
            link_->tick(now);
        }
    }
}

/* The node reports `undone` when all earlier orders are complete. */
void Job::settle()
{
    const auto before = std::ranges::count(events.told, "undone");
    node().undo();
    await([&] { return std::ranges::count(events.told, "undone") > before; });
}

void Job::write_log(int rank, const std::string &bytes) const
{
    std::ofstream(log(rank), std::ios::binary) << bytes;
}

Words Job::files() const
{
    return names_in(checkpoint());
}

} // namespace ckpt::test
