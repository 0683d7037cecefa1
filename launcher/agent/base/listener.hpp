/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * listener.hpp - a Unix socket in the run directory, for connections of the
 * same user only.
 */
#pragma once

#include "agent/base/accept_watch.hpp"
#include "agent/base/rejected_frames.hpp"
#include "common/event_loop.hpp"
#include "common/fd.hpp"

#include <filesystem>
#include <functional>
#include <optional>

namespace ckpt
{

/* Returns whether a process listens at `path`. type: SOCK_*. */
bool is_listening(const std::filesystem::path &path, int type);

class Listener
{
  public:
    /*
     * Listens at `path`, and replaces the socket of an agent that has died
     * (which the kernel may not have closed yet). The caller has made sure that
     * no agent is alive. Passes each connection of the same user to `accepted`;
     * closes and counts all others. Throws Error.
     */
    Listener(EventLoop &loop, const std::filesystem::path &path, int type,
             RejectedFrames &rejected, std::function<void(Fd)> accepted);
    ~Listener(); /* removes the socket */

    /* Takes a connection that is already waiting. Returns false if there is
     * none. */
    bool accept_one();

  private:
    std::filesystem::path path_;
    RejectedFrames &rejected_;
    std::function<void(Fd)> accepted_;
    Fd socket_;
    std::optional<AcceptWatch> watch_;
};

} // namespace ckpt
