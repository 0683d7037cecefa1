/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * coordinator_salvage.cpp - a rank has died, and a proxy has taken its place. The coordinator saves
 * the job in this state and ends it, to be restarted from there; or the rank comes back in place.
 */
#include "agent/coordinator/coordinator.hpp"

#include "common/durations.hpp"
#include "common/invariant.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <utility>

namespace ckpt
{

namespace
{

using std::chrono::steady_clock;

} // namespace

/* Comes after rank_gone(), which gave up any checkpoint under way. The files of that checkpoint
 * may still be in removal. */
void Coordinator::proxy_here(Node &node, int rank, const RankCut &cut)
{
    const Refusal obstacle = machine_.proxy_obstacle();

    if (!obstacle.empty()) {
        node.salvage_over(0, obstacle);
        return;
    }
    CKPT_INVARIANT(proxy_ < 0 && rank >= 0 && rank < machine_.rank_count());
    proxy_ = rank;
    places_.connect_proxy(rank, node);
    machine_.hello(rank, cut, steady_clock::now());
    perform();
    if (held_.is_holding()) {
        drop_held(refusal(CKPT_REFUSAL_RANK_DIED, "rank {} has died", rank));
    }
    queue_.push_back({0, Then::kill});
    start_waiting();
}

/* The survivors' change of worlds stands before the end of the checkpoint in their connections. */
void Coordinator::goes_on_in_place()
{
    CKPT_EXPECT(proxy_ >= 0 && proxy_ == attempt_.replayed && machine_.phase() == Phase::write);
    const int rank = std::exchange(proxy_, -1);

    attempt_.is_in_place = true;
    attempt_.unsaved.reset();
    (void)places_.disconnect(rank);
    machine_.exited(rank, steady_clock::now()); /* gives the checkpoint up */
    perform();
}

void Coordinator::save_instead()
{
    const auto capture = std::exchange(attempt_.unsaved, std::nullopt);

    if (capture && machine_.phase() == Phase::write) { /* not given up meanwhile */
        save(*capture);
    }
}

/* Ends the proxy, whatever the result. number: of the checkpoint, or 0; `why` then gives the
 * reason. */
void Coordinator::end_salvage(std::uint64_t number, const Refusal &why)
{
    const int rank = std::exchange(proxy_, -1);
    if (rank < 0) {
        return;
    }
    CKPT_INVARIANT(rank < machine_.rank_count());
    Node *node = places_.disconnect(rank);

    if (number != 0) {
        salvaged_ = {number, rank, static_cast<double>(now_nanoseconds()) * 1e-9, {}};
    }
    machine_.exited(rank, steady_clock::now());
    if (node != nullptr) {
        node->salvage_over(number, why);
    }
}

} // namespace ckpt
