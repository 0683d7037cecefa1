/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * signal_watch.hpp - detects ranks that do not get the request for a checkpoint. Either the thread
 * that has to answer blocks the checkpoint signal, or the program handles the signal.
 *
 * A rank learns of the request by the signal. If its thread does not take the signal, the rank
 * would stay silent until the checkpoint's time is over. If the rank has taken the signal but does
 * not read the request, it is signalled again.
 */
#pragma once

#include "agent/base/loop_timer.hpp"
#include "agent/ranks/rank_session.hpp"

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
    /* The rank cannot be reached, for the reason `why`. */
    using Deaf = std::function<void(int rank, std::uint64_t epoch, const std::string &why)>;

    /* deaf: called by the loop. Throws Error. */
    SignalWatch(EventLoop &loop, Deaf deaf);

    /* The request is about to be sent to this rank. The session must exist until heard() or
     * forget(). */
    void ask(const RankSession &session, std::uint64_t epoch);
    /* The rank has sent a message. */
    void heard(int rank);
    /* The checkpoint is over, or the rank has gone: nothing is reported about it any more. */
    void forget(int rank) { asked_.erase(rank); }

  private:
    using Time = std::chrono::steady_clock::time_point;

    struct Asked {
        const RankSession *session;
        std::uint64_t epoch;
        std::uint64_t taken; /* signals that the rank had taken before the request */
        Time due;            /* when to check */
    };

    void look();
    void start_timer();

    Deaf deaf_;
    std::map<int, Asked> asked_; /* by rank */
    std::set<int> known_;        /* ranks that were deaf at the last request */
    LoopTimer timer_;
};

/* State of a signal and a thread, from the text of /proc/PID/status. */
struct SignalOfThread {
    bool is_blocked = false;
    bool is_waiting = false; /* pending for this thread alone */
};
SignalOfThread read_signal_of_thread(const std::string &status, int signal);

} // namespace ckpt
