/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * coordinator_events.cpp - passes events of the nodes to the state machine, and reads the values in
 * rank pages that it needs.
 */
#include "agent/coordinator/coordinator.hpp"

#include "common/error.hpp"
#include "common/invariant.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <map>

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
    CKPT_INVARIANT(where_.size() == hosts_.size());
    where_[rank] = &node;
    hosts_[rank] = node.host();
    if (std::ranges::find(agents_, &node) == agents_.end()) {
        agents_.push_back(&node);
    }
    epoch_ = std::max(epoch_, cut.epoch);
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
        CKPT_INVARIANT(where_[rank] != nullptr);
        trace_.seen_by(rank, where_[rank]->seen(rank, epoch_),
                       where_[rank]->clock());
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
    where_[rank] = nullptr;
}

/* The rank may still live and return. */
void Coordinator::rank_lost(int rank)
{
    CKPT_EXPECT(rank >= 0 && rank < machine_.rank_count());
    drop_asks(refusal(CKPT_REFUSAL_AGENT_LOST, "the agent of rank {} was lost", rank));
    held_.rank_exited(rank);
    machine_.agent_lost(rank, steady_clock::now());
    perform();
    where_[rank] = nullptr;
    worker_.reply([this] { start_waiting(); }); /* a cut that no rank settles now may have
                                                   delayed them */
}

void Coordinator::node_gone(Node &node)
{
    for (int rank = 0; rank < machine_.rank_count(); rank++) {
        if (where_[rank] == &node) {
            rank_lost(rank);
        }
    }
    attempt_.turns.drop(node);
    std::erase(agents_, &node);
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
    for (Node *node : std::set<Node *>(where_.begin(), where_.end())) {
        if (node != nullptr) { /* the ranks of all nodes run the same program */
            node->pause_protection(reason.detail());
        }
    }
    failed(reason);
}

void Coordinator::undone(Node &node)
{
    if (attempt_.undoing.erase(&node) > 0 && attempt_.undoing.empty()) {
        remove_attempt();
    }
}

/* Returns the nodes, in the order of their first ranks. */
std::vector<Node *> Coordinator::nodes() const
{
    std::vector<Node *> list;

    for (Node *node : where_) {
        if (std::find(list.begin(), list.end(), node) == list.end()) {
            list.push_back(node);
        }
    }
    return list;
}

/* Returns the ranks that are saved one after another. Requires that all ranks are present. */
Lanes Coordinator::lanes(Stagger stagger) const
{
    const std::vector<Node *> list = nodes();
    std::vector<std::string> servers(list.size());
    std::vector<RankPlace> places;

    for (std::size_t i = 0; stagger == Stagger::storage && i < list.size();
         i++) {
        servers[i] = list[i]->file_system().server();
    }
    for (int rank = 0; rank < machine_.rank_count(); rank++) {
        Node *node = where_[rank];
        auto at = std::find(list.begin(), list.end(), node) - list.begin();
        CKPT_INVARIANT(node != nullptr && static_cast<std::size_t>(at) < list.size());
        places.push_back(
            {static_cast<int>(at), servers[at], node->memory_of(rank)});
    }
    return lanes_of(stagger, places);
}

/* Returns the nodes with their ranks, in the order of their first ranks. */
std::vector<TraceNode> Coordinator::nodes_to_trace() const
{
    std::vector<TraceNode> nodes;
    std::map<const Node *, std::size_t> index;

    for (int rank = 0; rank < machine_.rank_count(); rank++) {
        CKPT_EXPECT(where_[rank] != nullptr);
        auto [entry, is_new] = index.try_emplace(where_[rank], nodes.size());
        if (is_new) {
            nodes.emplace_back().host = where_[rank]->host();
        }
        auto &runs = nodes[entry->second].ranks;
        if (!runs.empty() && runs.back().second == rank - 1) {
            runs.back().second = rank;
        } else {
            runs.emplace_back(rank, rank);
        }
    }
    return nodes;
}

/* ---- Pages ----------------------------------------------------------------- */

std::vector<ckpt_clock> Coordinator::clocks(int rank) const
{
    CKPT_EXPECT(rank >= 0 && rank < std::ssize(where_));
    return where_[rank] == nullptr ? std::vector<ckpt_clock>()
                                   : where_[rank]->clocks(rank);
}

std::uint64_t Coordinator::sent(int from, int to) const
{
    CKPT_EXPECT(from >= 0 && from < std::ssize(where_) && to >= 0);
    return where_[from] == nullptr ? 0 : where_[from]->sent(from, to);
}

std::uint64_t Coordinator::received(int to, int from) const
{
    CKPT_EXPECT(to >= 0 && to < std::ssize(where_) && from >= 0);
    return where_[to] == nullptr ? 0 : where_[to]->received(to, from);
}

} // namespace ckpt
