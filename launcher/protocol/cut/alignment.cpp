/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * alignment.cpp - phase ALIGN: the ranks agree on a cut of the collectives
 * (docs/protocol.md, sections 4 to 6).
 */
#include "protocol/cut/cut_state.hpp"

#include <algorithm>

namespace ckpt
{

namespace
{

using Time = CutState::Time;

void run_those_who_may(CutState &state, const Clocks &clocks, Time now)
{
    /* a rank inside may need the lower halves of others, for example to
     * access their memory */
    const bool help = std::ranges::any_of(state.ranks, &RankState::inside_unclocked);

    for (int i = 0; i < state.rank_count(); i++) {
        RankState &rank = state.ranks[i];
        const bool shut =
            rank.place == CKPT_PLACE_GATE && !state.targets.has_opened(rank, clocks[i]);
        if (rank.holds && !shut) {
            rank.place = 0;
            state.let_continue(rank, now);
            state.send(i, CKPT_MSG_RUN, false, {.run = {help ? 1u : 0u}});
        }
    }
}

/*
 * Asks running ranks where they are. A rank may by now be inside a call without a clock, such as
 * MPI_Comm_create_group, and wait there for a rank at a gate. Most such calls are short, so ranks
 * do not report them without a question. A rank that computes has no news, so it is asked less and
 * less often.
 */
void ask_where(CutState &state, Time now)
{
    if (!state.stall.is_time_to_ask(now, state.options.long_stall_timeout)) {
        return;
    }
    for (int i = 0; i < state.rank_count(); i++) {
        const RankState &rank = state.ranks[i];
        if (!rank.holds && (rank.place == 0 || rank.place == CKPT_PLACE_FREE)) {
            state.send(i, CKPT_MSG_WHERE, true);
        }
    }
}

bool any_can_move(const std::vector<RankState> &ranks, const Clocks &clocks)
{
    const FewestEntered fewest = fewest_entered(clocks);

    for (std::size_t i = 0; i < ranks.size(); i++) {
        if (can_move(ranks[i], clocks[i], fewest)) {
            return true;
        }
    }
    return false;
}

/*
 * Targets may require the impossible. Rank A has to reach a collective, and for that needs a
 * message from rank B. B sends it only after a collective beyond B's own target. Then all ranks are
 * at a gate, inside, or waiting. So this opens the gates by one collective, which also raises the
 * target for the other members.
 *
 * A gate stays shut if any member of its communicator is still below the target. In a correct
 * program no rank needs the call behind such a gate to proceed. The call might have had to wait for
 * that member (MPI 4.1, section 6.14). So each round brings the lagging ranks nearer to their
 * targets without raising these. As only finitely many steps precede a collective, the rounds end.
 * A wait for a message that would have ended without help looks the same. The timeout makes that
 * rare, and a needless round costs one collective. After the long timeout, this also helps a
 * program that relies on collectives not to synchronise.
 *
 * A rank that seems to compute may wait outside MPI, for example for memory that it shares with a
 * rank at a gate. So after the long stall_timeout the gates are opened for that as well. This does
 * not harm ranks that do compute.
 */
void break_stall(CutState &state, const Clocks &clocks, Time now)
{
    const CutOptions &options = state.options;
    const StallWatch::Duration still = state.stall.still(now);
    const bool may_compute = any_can_move(state.ranks, clocks);
    bool opened = false;

    if (may_compute) {
        ask_where(state, now);
    }
    if (still >= (may_compute ? options.long_stall_timeout : options.stall_timeout)) {
        opened = state.targets.open_gates(state.ranks, clocks, false);
    }
    if (!opened && !may_compute && still >= options.long_stall_timeout) {
        opened = state.targets.open_gates(state.ranks, clocks, true);
    }
    if (opened) {
        state.stall.begin(now, options.stall_timeout);
        state.write_targets(clocks);
        run_those_who_may(state, clocks, now);
    }
}

} // namespace

void align(CutState &state, Time now)
{
    if (!std::ranges::all_of(state.ranks, &RankState::reported)) {
        return; /* targets need the clocks of all ranks */
    }
    const Clocks clocks = state.read_clocks();
    state.targets.raise(state.ranks, clocks);
    if (state.targets.all_aligned(state.ranks, clocks)) {
        state.write_targets(clocks);
        state.protocol->aligned(state, now);
        return;
    }
    if (state.stall.has_moved(state.ranks, clocks)) {
        state.stall.begin(now, state.options.stall_timeout);
    }
    state.write_targets(clocks);
    run_those_who_may(state, clocks, now);
    break_stall(state, clocks, now);
}

bool note_report(RankState &rank, const ckpt_msg_report &report)
{
    rank.needs |= report.needs;
    rank.has_sent = rank.has_sent || (report.traffic & CKPT_REPORT_SENT) != 0;
    rank.synchronous = rank.synchronous || (report.traffic & CKPT_REPORT_SYNCHRONOUS) != 0;
    if (report.of_thread != 0) {
        rank.gates[static_cast<std::uint32_t>(report.slot)] = report.entered;
        return false; /* about one thread; the rank reports for itself separately */
    }
    return true;
}

} // namespace ckpt
