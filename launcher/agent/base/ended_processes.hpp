/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ended_processes.hpp - watches how ranks end that have no session at present. They are not
 * children of this process.
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
        /* status: as from wait(2) */
        std::function<void(int rank, int status)> status;
    };

    /* Whether the kernel reports how a process has ended. */
    static bool can_tell_status();

    EndedProcesses(EventLoop &loop, Handlers handlers);
    ~EndedProcesses();
    EndedProcesses(const EndedProcesses &) = delete;
    EndedProcesses &operator=(const EndedProcesses &) = delete;

    /* Reports that the process has ended, now or later. Then reports its status, when its parent
     * has reaped it; the kernel provides that since Linux 6.15. */
    void watch(int rank, Fd process);
    /* The rank is a different process now, or its process has connected again. */
    void forget(int rank);
    /* Sends SIGKILL to processes that have not ended. */
    void kill() const;
    /* Whether there is nothing left to report. */
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
