/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * system.hpp - the whole state of a run: processes, and messages between them.
 */
#pragma once

#include "process.hpp"
#include "program.hpp"
#include "random_numbers.hpp"
#include "settings.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <stdexcept>
#include <utility>
#include <vector>

namespace model
{

/* The protocol has broken a promise. */
struct Violation : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct PageDiff {
    int page;
    Words words;
};

/* The diffs of one interval for one home: a message. */
struct Batch {
    std::uint64_t interval;
    std::vector<PageDiff> diffs;
};

struct Lock {
    int holder = -1;
    int last = -1; // its last owner
};

struct Statistics {
    std::uint64_t recoveries = 0;
    std::uint64_t replayed = 0; // operations
    std::uint64_t checkpoints = 0;
    std::uint64_t longest_window = 0;
    std::uint64_t largest_log = 0; // words of diffs of a process, when saved
    std::uint64_t logged = 0;      // words of diffs
    std::uint64_t discarded = 0;
};

struct System {
    Settings settings;
    std::vector<Program> programs;
    std::vector<Process> processes;
    std::vector<Lock> locks;
    std::map<int, Vector> at_barrier; // times of the waiting processes
    std::map<std::pair<int, int>, std::deque<Batch>> in_flight; // writer, home
    // All write notices: in a run without failures they travel with the grants
    // of locks and barriers, whatever the logs contain.
    std::vector<std::map<std::uint64_t, std::vector<int>>> notices;

    // In the mode with shared memory.
    std::vector<Page> live;
    std::vector<PageCopy> released; // the released image
    std::uint64_t sequence = 0;
    std::map<std::pair<int, std::uint64_t>, std::uint64_t> sequences;

    RandomNumbers schedule; // the same with and without crashes
    RandomNumbers events;
    Statistics statistics;

    explicit System(const Settings &settings)
        : settings(settings), programs(random_programs(settings)),
          locks(settings.locks), notices(settings.processes),
          live(settings.pages, Page(settings.words)),
          released(settings.pages,
                   {Page(settings.words), Vector(settings.processes)}),
          schedule(settings.seed), events(settings.seed + 99991)
    {
        for (int rank = 0; rank < settings.processes; rank++) {
            processes.emplace_back(rank, settings.processes, settings.pages);
        }
        for (int page = 0; page < settings.pages; page++) {
            processes[home(page)].home[page] = released[page];
        }
    }

    int home(int page) const
    {
        return page % settings.processes;
    }

    bool shared() const
    {
        return settings.mode == Mode::shared;
    }

    bool is(Mutant mutant) const
    {
        return settings.mutant == mutant;
    }
};

} // namespace model
