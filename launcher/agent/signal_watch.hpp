/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * signal_watch.hpp - ranks that do not hear the request for a checkpoint: the thread that
 * is to answer blocks the checkpoint signal, or its program takes it.
 *
 * A rank learns of the request by the signal. If its thread does not take that, nothing
 * would be heard of it until the time for the whole checkpoint is over. If it has taken it
 * and does not read the request, it is signalled again.
 */
#pragma once

#include "agent/loop_timer.hpp"
#include "agent/rank_session.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>

namespace ckpt
{

class SignalWatch
{
  public:
    /* The rank cannot be asked, and why. */
    using Deaf = std::function<void(int rank, std::uint64_t epoch, const std::string &why)>;

    /* deaf: called by the loop. Throws Error. */
    SignalWatch(EventLoop &loop, Deaf deaf);

    /* The request is about to be sent to this rank. The session stays until heard(), or
     * forget(). */
    void ask(const RankSession &session, std::uint64_t epoch);
    /* It has said something. */
    void heard(int rank);
    /* The checkpoint is over, or the rank has gone: nothing is told of it any more. */
    void forget(int rank) { asked_.erase(rank); }

  private:
    using Time = std::chrono::steady_clock::time_point;

    struct Asked {
        const RankSession *session;
        std::uint64_t epoch;
        std::uint64_t taken; /* signals before the request */
        Time due;            /* when to look */
    };

    void look();
    void start_timer();

    Deaf deaf_;
    std::map<int, Asked> asked_; /* by rank */
    std::set<int> known_;        /* were deaf at the last request */
    LoopTimer timer_;
};

/* What the kernel tells of a signal and a thread, in the text of /proc/PID/status. */
struct SignalOfThread {
    bool is_blocked = false;
    bool is_waiting = false; /* for the thread alone */
};
SignalOfThread read_signal_of_thread(const std::string &status, int signal);

} // namespace ckpt
