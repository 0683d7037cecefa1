/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shells.hpp - processes that were ranks of this node, and stay for their launcher's sake while
 * frozen copies are the ranks (docs/protocol.md, section 5).
 */
#pragma once

#include "agent/ranks/rank_session.hpp"
#include "common/event_loop.hpp"

#include <functional>
#include <map>
#include <memory>

namespace ckpt
{

class Shells
{
  public:
    /* The process of a shell has ended, and this class has not ended it: its launcher has. */
    using Ended = std::function<void(int rank)>;

    /* loop must live longer. Context of all functions: normal, in the loop's thread. */
    Shells(EventLoop &loop, Ended ended)
        : loop_(loop), ended_(std::move(ended)) {}
    ~Shells();
    Shells(const Shells &) = delete;
    Shells &operator=(const Shells &) = delete;

    /* The session's process is a shell from now on. It replaces an earlier one of its rank. */
    void add(std::unique_ptr<RankSession> session);
    bool has(int rank) const { return shells_.contains(rank); }
    bool empty() const { return shells_.empty(); }
    int count() const { return static_cast<int>(shells_.size()); }

    /* This process is the rank now. */
    void follow(int rank, pid_t successor);
    /* The rank has ended with this exit code, so the shell does. No shell: does nothing. */
    void end(int rank, int code);
    /* Ends all processes. */
    void kill();

  private:
    void look(int rank);
    void forget(int rank);

    EventLoop &loop_;
    Ended ended_;
    std::map<int, std::unique_ptr<RankSession>> shells_; /* by rank */
};

} // namespace ckpt
