/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * local_node_shells.cpp - a rank's process becomes a shell, since another process is the rank.
 */
#include "agent/ranks/local_node.hpp"

#include "common/error.hpp"
#include "common/invariant.hpp"

#include <spdlog/spdlog.h>

#include <utility>

namespace ckpt
{

void LocalNode::become_shell(int rank, pid_t successor)
{
    RankSession *session = find(rank);

    CKPT_EXPECT(session != nullptr);
    becoming_shells_.insert(rank);
    if (session->become_shell(successor)) {
        session->signal();
    } else {
        session->kill();
    }
}

/* Either a rank of this node obeys, or a shell of an agent that has died has found this one. */
void LocalNode::is_shell(RankSession *session, const ckpt_message &message)
{
    const bool was_rank = session->introduced();

    if (was_rank && !becoming_shells_.contains(session->rank())) {
        reject(Rejection::malformed, "a shell that was not ordered");
    }
    if (!was_rank) {
        session->shell(message);
    }
    const int rank = session->rank();
    spdlog::info("process {} is a shell of rank {}, with {} bytes of memory", session->pid(), rank,
                 message.as.shell.resident);
    std::unique_ptr<RankSession> owner = take_out(session);
    CKPT_INVARIANT(owner);
    if (was_rank) {
        leave(*session);
    }
    shells_.add(std::move(owner));
    if (was_rank) {
        hooks_.is_shell(rank);
        if (events_ != nullptr) {
            events_->rank_gone(rank);
        }
    }
}

/* The launcher ends its processes, and the rank is one of them. */
void LocalNode::shell_ended(int rank)
{
    spdlog::info("the shell of rank {} has ended", rank);
    if (const RankSession *session = find(rank); session != nullptr) {
        session->terminate();
    }
}

} // namespace ckpt
