/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * simulation.cpp - whole runs of the model.
 *
 * The random numbers of the schedule are drawn whether or not a process fails,
 * so that both runs of a comparison have the same schedule.
 */
#include "simulation.hpp"

#include "delivery.hpp"
#include "execution.hpp"
#include "recovery.hpp"
#include "retention.hpp"

#include <algorithm>

namespace model
{

namespace
{

bool finished(const System &system)
{
    return std::ranges::all_of(system.processes, [&](const Process &process) {
        return process.position == system.programs[process.rank].size();
    });
}

bool wants_checkpoint(System &system, const Process &process)
{
    const Settings &settings = system.settings;
    bool random = system.schedule.chance(settings.checkpoint_rate);
    bool overflow = settings.log_threshold > 0 &&
                    process.logged_words > settings.log_threshold;

    return (random || overflow) && !process.in_barrier &&
           process.rank != settings.without_checkpoints;
}

void maybe_fail(System &system)
{
    if (!system.schedule.chance(system.settings.crash_rate)) {
        return;
    }
    int failed = system.schedule.below(system.settings.processes);
    double kept = system.schedule.fraction();

    if (system.settings.crashes) {
        fail_and_recover(system, failed, kept);
    }
}

Outcome outcome(System &system)
{
    Outcome outcome{system.live, {}, system.statistics};

    deliver_all(system);
    for (const Process &process : system.processes) {
        outcome.hashes.push_back(process.hash);
        for (const auto &[page, copy] : process.home) {
            if (!system.shared()) {
                outcome.pages[page] = copy.words;
            }
        }
    }
    return outcome;
}

} // namespace

Outcome run(const Settings &settings)
{
    System system(settings);
    int idle = 0;

    for (Process &process : system.processes) {
        save(system, process);
    }
    while (!finished(system)) {
        int rank = system.schedule.below(settings.processes);
        Process &process = system.processes[rank];

        idle = step(system, rank) ? 0 : idle + 1;
        if (idle > 5000) {
            throw Violation("nobody goes on");
        }
        if (system.events.chance(settings.delivery_rate)) {
            deliver_any(system);
        }
        if (wants_checkpoint(system, process)) {
            take_checkpoint(system, process);
        }
        if (system.events.chance(settings.trimming_rate)) {
            trim(system, process);
        }
        maybe_fail(system);
    }
    return outcome(system);
}

Statistics compare_with_failure_free(const Settings &settings)
{
    Settings without = settings;
    without.crashes = false;
    without.mutant = Mutant::none;

    Outcome crashed = run(settings);
    Outcome untouched = run(without);

    if (crashed.pages != untouched.pages ||
        crashed.hashes != untouched.hashes) {
        throw Violation("the result is not that of a run without failures");
    }
    return crashed.statistics;
}

} // namespace model
