/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cut_table.cpp - the list of the protocols, and the names of phases and events.
 */
#include "protocol/cut/cut_table.hpp"

#include "common/invariant.hpp"

namespace ckpt
{

const char *phase_name(Phase phase)
{
    static constexpr std::array<const char *, phase_count> names = {
        "running", "align", "stop", "drain", "save", "open",
        "cut", "log", "log", "write", "commit", "undo"};
    static_assert(names.back() != nullptr); /* each phase has a name */
    return names[static_cast<std::size_t>(phase)];
}

const char *event_name(Event event)
{
    static constexpr std::array<const char *, event_count> names = {
        "request", "hello", "finalized", "exited", "agent_lost", "report", "stopped",
        "drained", "ready", "complete", "logged", "refused", "opened", "sweep_failed",
        "captured", "written", "committed", "failed", "undone", "tick"};
    static_assert(names.back() != nullptr); /* each event has a name */
    return names[static_cast<std::size_t>(event)];
}

std::span<const CutDescription *const> cut_descriptions()
{
    static constexpr std::array<const CutDescription *, 4> all = {
        &sync_and_stop, &chandy_lamport, &network_sweep, &cut_completion};
    return all;
}

const CutDescription &description_of(Protocol protocol)
{
    const CutDescription &found = *cut_descriptions()[static_cast<std::size_t>(protocol)];

    CKPT_INVARIANT(found.protocol == protocol && found.is_checkpoint); /* in the enum's order */
    return found;
}

} // namespace ckpt
