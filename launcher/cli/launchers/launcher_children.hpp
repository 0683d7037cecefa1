/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * launcher_children.hpp - observes how the children of a launcher on this node end, for a
 * launcher that ignores the end of ranks. It also sees children that end before they become
 * ranks, and works without an agent. The children announce themselves (libckpt/process/started.h).
 */
#pragma once

#include "agent/base/ended_processes.hpp"
#include "agent/base/listener.hpp"
#include "common/event_loop.hpp"

#include <sys/types.h>

#include <filesystem>
#include <functional>

namespace ckpt::cli
{

class LauncherChildren
{
  public:
    /* status: from wait(2), not 0. */
    using Failed = std::function<void(pid_t child, int status)>;

    /* Whether the kernel has the required features. */
    static bool can_watch();

    /* Listens at `socket` from now on, so that a launch that starts later is not missed. `loop`
     * must outlive this object. Throws Error. */
    LauncherChildren(EventLoop &loop, const std::filesystem::path &socket, Failed failed);

    /* Sets the parent of the observed children; other processes may continue without being
     * observed. */
    void belong_to(pid_t launcher) { launcher_ = launcher; }

  private:
    void take(const Fd &connection);

    pid_t launcher_ = 0;
    EndedProcesses ended_;
    RejectedFrames rejected_;
    Listener listener_;
};

} // namespace ckpt::cli
