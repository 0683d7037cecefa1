/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ended_processes.hpp - when and how ranks end that no session watches, any more or yet, and
 * that are nobody's children here.
 */
#pragma once

#include "common/event_loop.hpp"
#include "common/fd.hpp"

#include <functional>
#include <map>

namespace ckpt
{

class EndedProcesses
{
  public:
    struct Handlers {
        std::function<void(int rank)> ended;
        /* status: as wait(2) gives it */
        std::function<void(int rank, int status)> status;
    };

    /* Whether the kernel tells how a process has ended. */
    static bool can_tell_status();

    EndedProcesses(EventLoop &loop, Handlers handlers);
    ~EndedProcesses();
    EndedProcesses(const EndedProcesses &) = delete;
    EndedProcesses &operator=(const EndedProcesses &) = delete;

    /* Tells that the process has ended, now or later; and then its status, when its parent
     * has taken that: the kernel says so since Linux 6.15. */
    void watch(int rank, Fd process);
    /* The rank is another process now, or the same one that has come again. */
    void forget(int rank);
    /* SIGKILL to those that have not ended. */
    void kill() const;
    /* All that can be told of those has been told. */
    bool idle() const { return entries_.empty(); }

  private:
    void event(int rank, std::uint32_t events);

    struct Entry {
        Fd process;
        bool has_ended = false;
    };

    EventLoop &loop_;
    Handlers handlers_;
    std::map<int, Entry> entries_; /* by rank */
};

} // namespace ckpt
