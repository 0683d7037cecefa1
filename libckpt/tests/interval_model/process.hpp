/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * process.hpp - the state of a process: its own, its logs and its checkpoints.
 */
#pragma once

#include "knowledge.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace model
{

using Word = std::uint64_t;
using Page = std::vector<Word>;
using Words = std::vector<std::pair<int, Word>>; // some words of a page

struct PageCopy {
    Page words;
    Vector version;

    bool operator==(const PageCopy &) const = default;
};

/* A writer's log entry for a page at the end of an interval. */
struct Diff {
    Vector time; // the writer's
    int writer;
    std::uint64_t sequence; // of the release, if memory is shared
    Words words;

    std::uint64_t interval() const
    {
        return time[writer];
    }
};

/* The time that an acquire or barrier gave to its participants. */
struct Determinant {
    int number; // of the lock or barrier
    Vector time;

    bool operator==(const Determinant &) const = default;
};

/* Logs that re-execution recreates, and that checkpoints save. */
struct SavedLogs {
    std::map<std::uint64_t, std::vector<int>> notices; // pages by interval
    std::vector<std::vector<Diff>> diffs;              // own, by page
    Knowledge knowledge;
    Vector page_bounds; // the bound of diffs of each page (Theorem 1)
};

struct Checkpoint {
    Vector time;
    std::size_t position;
    Word hash;
    std::map<int, PageCopy> pages; // pages at home here
    Vector version;                // of all these pages
    std::vector<Vector> needed;
    SavedLogs logs;
};

struct Process {
    int rank;
    std::size_t position = 0; // in its program
    Word hash;                // of all values read: the private state
    Vector time;
    std::map<int, PageCopy> home;  // pages at home here
    std::map<int, Page> copies;    // valid copies of other pages
    std::vector<Vector> needed;    // required version of each page
    std::map<int, Page> twins;     // pages before stores of this interval
    SavedLogs logs;
    std::vector<std::vector<Determinant>> granted;  // by acquirer
    std::vector<std::vector<Determinant>> acquired; // by granter
    std::vector<Determinant> barriers;
    std::vector<Checkpoint> window; // retained checkpoints, oldest first
    bool in_barrier = false;
    std::uint64_t logged_words = 0; // since the newest checkpoint

    // In a replay: the old memory, and the last writer of each word.
    bool replaying = false;
    std::map<int, PageCopy> shadows;
    std::map<int, Vector> word_sequences;

    Process(int rank, int processes, int pages)
        : rank(rank), hash(static_cast<Word>(rank)), time(processes),
          needed(pages, Vector(processes)),
          logs{{},
               std::vector<std::vector<Diff>>(pages),
               Knowledge(processes, rank),
               Vector(pages)},
          granted(processes), acquired(processes)
    {
    }

    std::uint64_t interval() const
    {
        return time[rank];
    }
};

} // namespace model
