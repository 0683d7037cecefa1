/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * coordinator_events.cpp - passes events of the nodes to the state machine.
 */
#include "agent/coordinator/coordinator.hpp"

#include "common/error.hpp"
#include "common/invariant.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>

namespace ckpt
{

namespace
{

using std::chrono::steady_clock;

} // namespace

/* ---- Events of the nodes --------------------------------------------------- */

void Coordinator::rank_here(Node &node, int rank, int rank_count, pid_t,
                            const RankCut &cut)
{
    if (rank_count != machine_.rank_count() || rank < 0 ||
        rank >= machine_.rank_count()) {
        fail("rank {} of {} on {} does not belong to this job", rank, rank_count,
             node.host());
    }
    if (machine_.phase() != Phase::idle) { /* the rank has lost its agent and has returned */
        rank_lost(rank);
    }
    if (rank == proxy_) { /* its node has ended the proxy */
        proxy_ = -1;
    }
    places_.connect(rank, node);
    epoch_ = std::max({epoch_, cut.epoch, cut.asked}); /* a CUT may have been obeyed unheard */
    machine_.hello(rank, cut, steady_clock::now());
    perform();
    if (machine_.present() == machine_.rank_count()) {
        spdlog::info("all {} ranks are here", machine_.rank_count());
        last_end_ = steady_clock::now();
        leftover_due_ = true;
    }
}

void Coordinator::rank_said(int rank, const ckpt_message &message)
{
    CKPT_EXPECT(rank >= 0 && rank < machine_.rank_count());
    if (message.type == CKPT_MSG_ASK) {
        rank_asks(rank, message);
        return;
    }
    if (held_.rank_said(rank, message, epoch_)) {
        return;
    }
    Time now = steady_clock::now();
    bool of_attempt = machine_.phase() != Phase::idle &&
                      !machine_.is_settling() && message.epoch == epoch_;

    if (of_attempt) {
        trace_.answered(rank, message, now);
    }
    if (of_attempt && message.type == CKPT_MSG_LOGGED) {
        const Node *node = places_.node_of(rank);
        CKPT_INVARIANT(node != nullptr);
        trace_.seen_by(rank, node->seen(rank, epoch_), node->clock());
    }
    machine_.message(rank, message, now);
    if (of_attempt) {
        trace_.stands_still(rank, machine_.stands_still(rank), now);
    }
    perform();
}

void Coordinator::rank_finished(int rank)
{
    CKPT_EXPECT(rank >= 0 && rank < machine_.rank_count());
    drop_asks(refusal(CKPT_REFUSAL_JOB_ENDING, "rank {} has called MPI_Finalize", rank));
    machine_.finalized(rank, steady_clock::now());
    perform();
}

void Coordinator::rank_gone(int rank)
{
    CKPT_EXPECT(rank >= 0 && rank < machine_.rank_count());
    drop_asks(refusal(CKPT_REFUSAL_RANK_DIED, "rank {} has died", rank));
    pmix_events_.exited(rank, steady_clock::now());
    held_.rank_exited(rank);
    machine_.exited(rank, steady_clock::now());
    perform();
    places_.disconnect(rank);
}

/* The rank may still live and return. */
void Coordinator::rank_lost(int rank)
{
    CKPT_EXPECT(rank >= 0 && rank < machine_.rank_count());
    drop_asks(refusal(CKPT_REFUSAL_AGENT_LOST, "the agent of rank {} was lost", rank));
    held_.rank_exited(rank);
    machine_.agent_lost(rank, steady_clock::now());
    perform();
    places_.disconnect(rank);
    worker_.reply([this] { start_waiting(); }); /* a cut that no rank settles now may have
                                                   delayed them */
}

void Coordinator::node_gone(Node &node)
{
    for (int rank = 0; rank < machine_.rank_count(); rank++) {
        if (places_.node_of(rank) == &node) {
            rank_lost(rank);
        }
    }
    attempt_.turns.drop(node);
    places_.agent_gone(node);
    if (flush_) {
        flush_->host_gone(node.host());
        node_level_->host_gone(node.host());
    }
    told_plan_ = {};
    if (attempt_.writing.erase(&node) > 0 &&
        machine_.phase() >= Phase::open) {
        machine_.failed(refusal(CKPT_REFUSAL_AGENT_LOST, "the agent of {} was lost", node.host()),
                        steady_clock::now());
        perform();
    }
    undone(node);
    sweep_opened(node); /* nothing waits for its part of the sweep */
}

void Coordinator::captured(int rank)
{
    Time now = steady_clock::now();

    CKPT_EXPECT(rank >= 0 && rank < machine_.rank_count());
    if (machine_.phase() == Phase::write || machine_.is_moving()) {
        trace_.captured(rank, now);
    }
    machine_.captured(rank, now);
    perform();
    tell_progress(true);
}

void Coordinator::written(Node &node, const WrittenPiece &written)
{
    if (machine_.phase() != Phase::write) {
        return;
    }
    trace_.written(written.piece.host, steady_clock::now());
    attempt_.pieces.push_back(written.piece);
    attempt_.memory += written.memory;
    attempt_.standing += written.standing;
    attempt_.faults.add(written.faults);
    attempt_.turns.end(node);
    CKPT_INVARIANT(attempt_.pieces.size() <= attempt_.writing.size());
    if (attempt_.pieces.size() == attempt_.writing.size()) {
        machine_.written(steady_clock::now());
        perform();
    }
}

void Coordinator::failed(const Refusal &reason)
{
    machine_.failed(reason, steady_clock::now());
    perform();
}

void Coordinator::failed_once(const Refusal &reason)
{
    attempt_.once_more = true;
    for (Node *node : places_.nodes()) { /* the ranks of all nodes run the same program */
        node->pause_protection(reason.detail());
    }
    failed(reason);
}

void Coordinator::undone(Node &node)
{
    if (attempt_.undoing.erase(&node) > 0 && attempt_.undoing.empty()) {
        remove_attempt();
    }
}

} // namespace ckpt
