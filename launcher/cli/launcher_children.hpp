/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * launcher_children.hpp - how the processes end that a launcher on this node has started, for
 * a launcher that goes on as if nothing had happened: also before they are ranks, when no agent
 * can tell, or when there is none. They say that they are there (libckpt/task/started.h).
 */
#pragma once

#include "agent/ended_processes.hpp"
#include "agent/listener.hpp"
#include "common/event_loop.hpp"

#include <sys/types.h>

#include <filesystem>
#include <functional>

namespace ckpt::cli
{

class LauncherChildren
{
  public:
    /* status: as wait(2) gives it, and not 0. */
    using Failed = std::function<void(pid_t child, int status)>;

    /* Whether this kernel tells all that is needed. */
    static bool can_watch();

    /* Listens at `socket` from now on: a launch that begins later is not missed. `loop` must
     * live longer. Throws Error. */
    LauncherChildren(EventLoop &loop, const std::filesystem::path &socket, Failed failed);

    /* Whose children these are; others are let go on unseen. */
    void belong_to(pid_t launcher) { launcher_ = launcher; }

  private:
    void take(const Fd &connection);

    pid_t launcher_ = 0;
    EndedProcesses ended_;
    Refusals refusals_;
    Listener listener_;
};

} // namespace ckpt::cli
