/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * thawing.hpp - one frozen copy becomes a rank: the process `ckpt-restart --thaw`
 * (docs/protocol.md, section 14).
 */
#pragma once

#include "agent/base/spawned_process.hpp"
#include "agent/ranks/kept_copies.hpp"
#include "common/event_loop.hpp"

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace ckpt
{

/* Standard input, output and error of a rank; empty: closed. */
using Streams = std::array<Fd, 3>;

/* Returns duplicates of the streams of a process; nothing if this process may not have them (yet):
 * the other one has to let it trace it. */
std::optional<Streams> streams_of(int pidfd);

class Thawing
{
  public:
    /* Handlers must not destroy the object. */
    struct Hooks {
        /* The copy will never live: for this reason. */
        std::function<void(const std::string &why)> failed;
        /* The copy has begun to live. From now on it cannot be read. */
        std::function<void()> lives = [] {};
    };

    struct Order {
        int rank;
        KeptCopy copy;
        std::string checkpoint;               /* JOB/NUMBER */
        std::vector<std::string> environment; /* of the rank in its new world */
        const Streams &streams;
        Fd connection; /* the rank's end of its connection to this agent; or, if it is to stand, the
                          program's end of one that brings the streams and the former later */
        bool is_to_stand = false;
        bool is_replayed = false; /* no other rank goes back */
    };

    /* Starts the program. Throws Error. */
    Thawing(EventLoop &loop, Order order, Hooks hooks);
    /* Ends the program, but not the copy if that lives. */
    ~Thawing();
    Thawing(const Thawing &) = delete;
    Thawing &operator=(const Thawing &) = delete;

    pid_t pid() const { return pid_; }
    /* The rank has sent HELLO. */
    void connected() { is_connected_ = true; }
    bool is_connected() const { return is_connected_; }
    /* Whether the copy's process has not ended. */
    bool is_alive() const { return static_cast<bool>(process_); }
    /* Ends the copy, whether it lives or not. */
    void kill() const;

  private:
    void program_ended();
    void copy_ended();

    EventLoop &loop_;
    const int rank_;
    const pid_t pid_;
    Hooks hooks_;
    KeptCopy copy_; /* frozen copies end with their last reference */
    Fd process_;    /* of the copy */
    bool is_connected_ = false;
    SpawnedProcess program_;
};

} // namespace ckpt
