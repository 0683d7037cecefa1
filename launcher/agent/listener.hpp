/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * listener.hpp - a Unix socket in the run directory, for our own user only.
 */
#pragma once

#include "agent/accept_watch.hpp"
#include "agent/refusals.hpp"
#include "common/event_loop.hpp"
#include "common/fd.hpp"

#include <filesystem>
#include <functional>
#include <optional>

namespace ckpt
{

/* True if somebody listens at `path`. type: SOCK_*. */
bool is_listening(const std::filesystem::path &path, int type);

class Listener
{
  public:
    /*
     * Listens at `path`, in the place of an agent that has died (and whose
     * socket the kernel may not have closed yet): the caller has made sure that
     * none is alive. Each connection of our own user goes to `accepted`, others
     * are closed and counted. Throws Error.
     */
    Listener(EventLoop &loop, const std::filesystem::path &path, int type,
             Refusals &refusals, std::function<void(Fd)> accepted);
    ~Listener(); /* removes the socket */

    /* Takes a connection that is already waiting; false if there is none. */
    bool accept_one();

  private:
    std::filesystem::path path_;
    Refusals &refusals_;
    std::function<void(Fd)> accepted_;
    Fd socket_;
    std::optional<AcceptWatch> watch_;
};

} // namespace ckpt
