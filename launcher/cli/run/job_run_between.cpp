/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * job_run_between.cpp - waits between two launches, and obeys the signals that arrive then.
 */
#include "cli/run/job_run.hpp"

#include "cli/jobs/own_status.hpp"
#include "common/durations.hpp"
#include "common/invariant.hpp"
#include "journal/drop.hpp"

#include <fmt/core.h>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <utility>
#include <sys/epoll.h>

namespace ckpt::cli
{

using std::chrono::milliseconds;
using std::chrono::steady_clock;

/* Returns false if a request to end the job arrives meanwhile. */
bool JobRun::rest(milliseconds time)
{
    const auto until = steady_clock::now() + time;
    bool goes_on = true;

    loop_.watch(signals_.descriptor(), EPOLLIN, [&](std::uint32_t) {
        while (auto info = signals_.next()) {
            const int signal = static_cast<int>(info->ssi_signo);
            goes_on = goes_on && (take_job_control(signal) || signal == SIGCONT ||
                                  take_nodes_between(signal));
            is_warned_ = is_warned_ || batch_.warning_signals().contains(signal);
        }
    });
    do {
        loop_.turn(until);
    } while (goes_on && steady_clock::now() < until);
    loop_.forget(signals_.descriptor());
    return goes_on;
}

/* Returns false if the job is to end instead. Its nodes are free meanwhile. */
bool JobRun::wait_until_resumed()
{
    CKPT_EXPECT(requests_);
    const double since = static_cast<double>(now_nanoseconds()) * 1e-9;
    std::optional<bool> resumed;

    fmt::print(stderr, "ckpt: the job is swapped out; ckpt resume {} brings it back\n",
               options_.job);
    loop_.watch(signals_.descriptor(), EPOLLIN, [&](std::uint32_t) {
        while (auto info = signals_.next()) {
            const int signal = static_cast<int>(info->ssi_signo);
            if (take_job_control(signal)) {
                continue;
            }
            if (signal == SIGCONT) {
                resumed = true;
            } else if (!options_.swaps.contains(signal) && !take_nodes_between(signal)) {
                resumed = false;
            }
        }
    });
    requests_->handle([&](std::uint64_t client, const control::Request &request) {
        control::Reply reply;
        if (request.command == "resume") {
            reply.event = "result";
            reply.result.job = options_.job;
            requests_->reply(client, reply);
            resumed = true;
        } else if (request.command == "status") {
            reply.event = "status";
            reply.status = swapped_out_status(options_.directories, options_.job, since);
            requests_->reply(client, reply);
        } else {
            requests_->refuse(client, {CKPT_REFUSAL_SWAPPED_OUT, "the job is swapped out"});
        }
    });
    while (!resumed) {
        loop_.turn(steady_clock::now() + std::chrono::hours(1));
    }
    requests_->handle(nullptr);
    loop_.forget(signals_.descriptor());
    return *resumed;
}

Refusal JobRun::obstacle(const std::string &from, const std::string &to) const
{
    if (!nodes_.is_known()) {
        return {CKPT_REFUSAL_UNSUITABLE_NODE, "the command names no nodes (--host, --hostfile)"};
    }
    try {
        NodePlan(nodes_).move(from, to);
        return {};
    } catch (const Error &problem) {
        return refusal_of(problem, CKPT_REFUSAL_UNSUITABLE_NODE);
    }
}

/* Returns nothing if no rank has to move, or if that is impossible, which it prints. */
std::optional<Words> JobRun::nodes_to_move_to(int signal)
{
    try {
        const Words names = read_node_names(options_.nodes_file);
        NodePlan plan(nodes_);
        if (plan.use_only(names) > 0) {
            fmt::print(stderr, "ckpt: SIG{}: the job moves to nodes of {}\n",
                       sigabbrev_np(signal), options_.nodes_file.string());
            return names;
        }
        nodes_ = plan;
        fmt::print(stderr, "ckpt: SIG{}: all ranks are on nodes of {}\n", sigabbrev_np(signal),
                   options_.nodes_file.string());
    } catch (const Error &problem) {
        fmt::print(stderr, "ckpt: SIG{}: the job stays where it is: {}\n", sigabbrev_np(signal),
                   problem.what());
    }
    return std::nullopt;
}

/* Between two launches the shell stops and continues only this process, so its SIGCONT is not
 * for the job. Returns false if the signal has another purpose. */
bool JobRun::take_job_control(int signal)
{
    if (signal == SIGTSTP) {
        was_stopped_ = true;
        std::raise(SIGSTOP);
        return true;
    }
    return signal == SIGCHLD || (signal == SIGCONT && std::exchange(was_stopped_, false));
}

/* Handles a migration signal between two launches. Returns false if the signal has another
 * purpose. */
bool JobRun::take_nodes_between(int signal)
{
    if (!options_.migrations.contains(signal)) {
        return false;
    }
    if (const auto names = nodes_to_move_to(signal)) {
        nodes_.use_only(*names);
        has_other_nodes_ = true;
    }
    return true;
}

} // namespace ckpt::cli
