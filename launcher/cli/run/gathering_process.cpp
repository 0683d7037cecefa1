/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gathering_process.cpp - a child process that gathers a checkpoint for its parent.
 */
#include "cli/run/gathering_process.hpp"

#include "common/durations.hpp"
#include "common/error.hpp"
#include "common/event_loop.hpp"
#include "common/fd.hpp"
#include "common/host.hpp"
#include "common/pidfd.hpp"
#include "gather/gathering.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <fcntl.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <exception>

namespace ckpt::cli
{

namespace
{

/* Serves until all pieces are gathered or the launcher has ended. `parent` is a pidfd, readable
 * when the launcher has ended. */
void serve(EventLoop &loop, const gather::Gathering &gathering, int parent)
{
    bool is_alone = false;

    loop.watch(parent, EPOLLIN, [&](std::uint32_t) { is_alone = true; });
    while (!is_alone && !gathering.is_done() && gathering.failure().empty()) {
        loop.turn(std::chrono::steady_clock::now() + std::chrono::hours(1));
    }
    if (!gathering.failure().empty()) {
        fmt::print(stderr, "ckpt: the checkpoint cannot be gathered from the nodes: {}\n",
                   gathering.failure());
    }
}

/* Signals on the pipe `ready` that the nodes can connect. */
int gather(const std::filesystem::path &file, const NodeRecord &record, int parent, Fd ready)
{
    try {
        /* No log messages about the agents' connections. */
        spdlog::set_level(spdlog::level::off);
        EventLoop loop;
        gather::Gathering gathering(loop, file, host_name(), record, say_gathered);
        (void)!::write(ready.get(), "", 1);
        ready.reset();
        serve(loop, gathering, parent);
        return 0;
    } catch (const std::exception &error) {
        fmt::print(stderr, "ckpt: {}\n", error.what());
        return 1;
    }
}

} // namespace

void say_gathered(std::size_t pieces, double seconds)
{
    if (pieces > 0) {
        fmt::print(stderr, "ckpt: {} {} fetched or made again in {}\n", pieces,
                   pieces == 1 ? "piece was" : "pieces were", format_seconds(seconds));
    }
}

void start_gathering(const std::filesystem::path &file, const NodeRecord &record)
{
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) < 0) {
        fail_errno(errno, "cannot make a pipe");
    }
    Fd from(ends[0]), to(ends[1]);
    Fd self = open_pidfd(::getpid());
    const pid_t child = self ? ::fork() : -1;
    if (child < 0) {
        fail_errno(errno, "cannot start a process that gathers the checkpoint");
    }
    if (child == 0) {
        from.reset();
        ::_exit(gather(file, record, self.get(), std::move(to)));
    }
    to.reset();
    char ready = 0;
    if (::read(from.get(), &ready, 1) != 1) {
        fail("the checkpoint cannot be gathered");
    }
}

} // namespace ckpt::cli
