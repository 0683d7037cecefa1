/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * alignment.cpp - phase ALIGN: the ranks agree on a cut of the collectives
 * (docs/protocol.md, sections 4 to 6).
 */
#include "protocol/cut_protocol.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace ckpt
{

CutProtocol::Clocks CutProtocol::read_clocks() const
{
    Clocks clocks;

    clocks.reserve(ranks_.size());
    for (int i = 0; i < rank_count(); i++) {
        clocks.push_back(pages_.clocks(i));
    }
    return clocks;
}

std::uint64_t CutProtocol::target(std::uint64_t id) const
{
    auto found = targets_.find(id);
    return found == targets_.end() ? 0 : found->second;
}

bool CutProtocol::inside_unclocked(const Rank &rank) const
{
    return rank.place == CKPT_PLACE_INSIDE &&
           (rank.flags & CKPT_INSIDE_CLOCKED) == 0;
}

bool CutProtocol::any_synchronous() const
{
    return std::any_of(ranks_.begin(), ranks_.end(),
                       [](const Rank &rank) { return rank.synchronous; });
}

/* Whether a restart can enter the collective again that the rank is inside. That is impossible
 * if ranks run on after their cuts and any rank uses synchronous sends. A rank inside cannot be
 * asked about these, and a sender may need the answer before it enters. */
bool CutProtocol::may_be_redone(const Rank &rank, std::size_t slot) const
{
    return !(is_to_move() && any_synchronous()) &&
           rank.place == CKPT_PLACE_INSIDE && rank.slot == slot &&
           (rank.flags & CKPT_INSIDE_CLOCKED) != 0 &&
           (rank.flags & CKPT_INSIDE_REDO) != 0;
}

/*
 * All members must leave a collective before the cut in two cases: a rank has
 * left it for good, or a rank is inside and cannot enter it again after a
 * restart. A restart begins later nonblocking collectives again. Targets never
 * decrease: a member may have freed the communicator meanwhile.
 */
void CutProtocol::raise_targets(const Clocks &clocks)
{
    for (std::size_t i = 0; i < ranks_.size(); i++) {
        for (std::size_t slot = 0; slot < clocks[i].size(); slot++) {
            const ckpt_clock &clock = clocks[i][slot];
            if (clock.id != 0) {
                std::uint64_t least =
                    clock.entered > clock.left && !may_be_redone(ranks_[i], slot)
                        ? clock.entered
                        : clock.settled;
                std::uint64_t &target = targets_[clock.id];
                target = std::max(target, least);
            }
        }
    }
    if (is_to_move()) {
        raise_for_those_about_to_leave(clocks);
    }
}

/* Returns, by clock id, the smallest number of collectives that any member has entered. */
CutProtocol::Fewest CutProtocol::fewest_entered(const Clocks &clocks)
{
    Fewest fewest;

    for (const auto &clocks_of_rank : clocks) {
        for (const ckpt_clock &clock : clocks_of_rank) {
            auto entry = fewest.emplace(clock.id, clock.entered).first;
            entry->second = std::min(entry->second, clock.entered);
        }
    }
    return fewest;
}

/* Raises targets for collectives that all members have entered. A rank may
 * leave such a collective at any time, also between now and the cut, when it
 * is too late to raise the target. */
void CutProtocol::raise_for_those_about_to_leave(const Clocks &clocks)
{
    const Fewest fewest = fewest_entered(clocks);

    for (const auto &clocks_of_rank : clocks) {
        for (const ckpt_clock &clock : clocks_of_rank) {
            if (clock.id != 0 && clock.entered > clock.left &&
                fewest.at(clock.id) >= clock.entered) {
                std::uint64_t &target = targets_[clock.id];
                target = std::max(target, clock.entered);
            }
        }
    }
}

bool CutProtocol::is_aligned(const Rank &rank,
                             const std::vector<ckpt_clock> &clocks) const
{
    if (inside_unclocked(rank)) {
        return false;
    }
    return std::all_of(
        clocks.begin(), clocks.end(), [this](const ckpt_clock &clock) {
            return clock.id == 0 || clock.left >= target(clock.id);
        });
}

bool CutProtocol::all_aligned(const Clocks &clocks) const
{
    for (std::size_t i = 0; i < ranks_.size(); i++) {
        if (!is_aligned(ranks_[i], clocks[i])) {
            return false;
        }
    }
    return true;
}

void CutProtocol::write_targets(const Clocks &clocks)
{
    for (int i = 0; i < rank_count(); i++) {
        std::vector<std::uint64_t> targets;
        bool changed = false;
        for (const ckpt_clock &clock : clocks[i]) {
            targets.push_back(clock.id == 0 ? 0 : target(clock.id));
            changed = changed || clock.target != targets.back();
        }
        if (changed) {
            actions_.push_back(action::SetTargets{i, std::move(targets)});
        }
    }
}

/* Examines all ranks: goes on to STOP, or lets those ranks run that have to. */
void CutProtocol::align(Time now)
{
    bool all_reported =
        std::all_of(ranks_.begin(), ranks_.end(),
                    [](const Rank &rank) { return rank.reported; });
    if (!all_reported) {
        return; /* targets need the clocks of all ranks */
    }

    Clocks clocks = read_clocks();
    raise_targets(clocks);
    if (all_aligned(clocks)) {
        write_targets(clocks);
        if (may_move()) {
            open(now);
        } else {
            stop(now);
        }
        return;
    }
    if (has_moved(clocks)) {
        began_to_be_still(now);
    }
    write_targets(clocks);
    run_those_who_may(clocks, now);
    break_stall(clocks, now);
}

/* Whether the gate at which a rank waits is open for this rank. */
bool CutProtocol::opened(const Rank &rank,
                         const std::vector<ckpt_clock> &clocks) const
{
    return rank.slot < clocks.size() &&
           clocks[rank.slot].entered < target(clocks[rank.slot].id);
}

void CutProtocol::run_those_who_may(const Clocks &clocks, Time now)
{
    /* a rank inside may need the lower halves of others, for example to
     * access their memory */
    bool help = std::any_of(
        ranks_.begin(), ranks_.end(),
        [this](const Rank &rank) { return inside_unclocked(rank); });

    for (int i = 0; i < rank_count(); i++) {
        Rank &rank = ranks_[i];
        bool shut =
            rank.place == CKPT_PLACE_GATE && !opened(rank, clocks[i]);
        if (rank.holds && !shut) {
            rank.place = 0;
            let_continue(rank, now);
            send(i, CKPT_MSG_RUN, false, {.run = {help ? 1u : 0u}});
        }
    }
}

/* Whether a rank or a clock has changed since the last call. */
bool CutProtocol::has_moved(const Clocks &clocks)
{
    std::vector<std::uint64_t> fingerprint;

    for (std::size_t i = 0; i < ranks_.size(); i++) {
        const Rank &rank = ranks_[i];
        fingerprint.push_back(rank.place * 2 + (rank.holds ? 1 : 0));
        for (const ckpt_clock &clock : clocks[i]) {
            fingerprint.push_back(clock.entered);
            fingerprint.push_back(clock.left);
            fingerprint.push_back(clock.settled);
        }
    }
    return std::exchange(fingerprint_, fingerprint) != fingerprint;
}

/*
 * Whether a rank may go on without the help of ranks that are at a gate. A rank inside a collective
 * leaves it without help when every member has entered. A rank with several threads reports that it
 * waits when its threads in MPI do.
 */
bool CutProtocol::can_move(const Rank &rank,
                           const std::vector<ckpt_clock> &clocks,
                           const Fewest &fewest) const
{
    bool inside = false;
    for (const ckpt_clock &clock : clocks) {
        if (clock.id != 0 && clock.entered > clock.left) {
            if (fewest.at(clock.id) >= clock.entered) {
                return true;
            }
            inside = true;
        }
    }
    return !inside && rank.place != CKPT_PLACE_GATE && rank.place != CKPT_PLACE_WAIT &&
           rank.place != CKPT_PLACE_INSIDE;
}

void CutProtocol::began_to_be_still(Time now)
{
    still_since_ = now;
    ask_after_ = options_.patience;
}

/*
 * Asks running ranks where they are. A rank may by now be inside a call without a clock, such as
 * MPI_Comm_create_group, and wait there for a rank at a gate. Most such calls are short, so ranks
 * do not report them without a question. A rank that computes has no news, so it is asked less and
 * less often.
 */
void CutProtocol::ask_where(Time now)
{
    if (now - still_since_ < ask_after_) {
        return;
    }
    ask_after_ += std::min<Duration>(ask_after_, options_.long_patience);
    for (int i = 0; i < rank_count(); i++) {
        const Rank &rank = ranks_[i];
        if (!rank.holds && (rank.place == 0 || rank.place == CKPT_PLACE_FREE)) {
            send(i, CKPT_MSG_WHERE, true);
        }
    }
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
 * A wait for a message that would have ended without help looks the same. The patience makes that
 * rare, and a needless round costs one collective. After the long patience, this also helps a
 * program that relies on collectives not to synchronise.
 *
 * A rank that seems to compute may wait outside MPI, for example for memory that it shares with a
 * rank at a gate. So after the long patience the gates are opened for that as well. This does not
 * harm ranks that do compute.
 */
void CutProtocol::break_stall(const Clocks &clocks, Time now)
{
    const Fewest fewest = fewest_entered(clocks);
    const Duration still = now - still_since_;
    bool may_compute = false, opened = false;

    for (int i = 0; i < rank_count(); i++) {
        may_compute = may_compute || can_move(ranks_[i], clocks[i], fewest);
    }
    if (may_compute) {
        ask_where(now);
    }
    if (still >= (may_compute ? options_.long_patience : options_.patience)) {
        opened = open_gates(clocks, false);
    }
    if (!opened && !may_compute && still >= options_.long_patience) {
        opened = open_gates(clocks, true);
    }
    if (opened) {
        began_to_be_still(now);
        write_targets(clocks);
        run_those_who_may(clocks, now);
    }
}

/* Returns the clocks at whose gates the rank, or one of its threads, waits. */
std::vector<std::uint64_t>
CutProtocol::shut_gates(const Rank &rank,
                        const std::vector<ckpt_clock> &clocks) const
{
    std::vector<std::uint64_t> shut;
    auto add = [&](std::size_t slot) {
        if (slot < clocks.size() && clocks[slot].id != 0) {
            shut.push_back(clocks[slot].id);
        }
    };

    if (rank.place == CKPT_PLACE_GATE && rank.holds) {
        add(rank.slot);
    }
    for (const auto &[slot, entered] : rank.gates) {
        if (slot < clocks.size() && clocks[slot].entered == entered &&
            entered >= target(clocks[slot].id)) {
            add(slot);
        }
    }
    return shut;
}

bool CutProtocol::open_gates(const Clocks &clocks, bool also_lagging)
{
    std::set<std::uint64_t> lagging;
    std::set<std::uint64_t> gated;

    for (std::size_t i = 0; i < ranks_.size(); i++) {
        for (const ckpt_clock &clock : clocks[i]) {
            if (clock.id != 0 && clock.left < target(clock.id)) {
                lagging.insert(clock.id);
            }
        }
        for (std::uint64_t id : shut_gates(ranks_[i], clocks[i])) {
            gated.insert(id);
        }
    }
    bool any = false;
    for (std::uint64_t id : gated) {
        if (also_lagging || lagging.count(id) == 0) {
            targets_[id]++;
            any = true;
        }
    }
    return any;
}

} // namespace ckpt
