/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cut_table.cpp - the list of the protocols, and the names of phases and events.
 */
#include "protocol/cut/cut_table.hpp"

namespace ckpt
{

const char *phase_name(Phase phase)
{
    static constexpr std::array<const char *, phase_count> names = {
        "running", "align", "stop", "drain", "save", "open",
        "cut", "log", "log", "write", "commit", "undo"};
    return names[static_cast<std::size_t>(phase)];
}

const char *event_name(Event event)
{
    static constexpr std::array<const char *, event_count> names = {
        "request", "hello", "finalized", "exited", "agent_lost", "report", "stopped",
        "drained", "ready", "complete", "logged", "refused", "opened", "sweep_failed",
        "captured", "written", "committed", "failed", "undone", "tick"};
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
    return *cut_descriptions()[static_cast<std::size_t>(protocol)];
}

} // namespace ckpt
