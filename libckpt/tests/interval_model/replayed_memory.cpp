/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * replayed_memory.cpp - memory as a process saw it before its failure.
 */
#include "replayed_memory.hpp"

#include "intervals.hpp"

extern "C" {
#include "interval/checkpoint_window.h"
#include "interval/diff_order.h"
#include "interval/replay_bounds.h"
#include "interval/vector_time.h"
}

#include <algorithm>
#include <utility>

namespace model
{

namespace
{

/* p_0 of Lemma 1, from the window of the page's home. */
const PageCopy &starting_copy(const System &system, const Process &process,
                              const Vector &restart, int page)
{
    const Process &home = system.processes[system.home(page)];
    std::vector<const PageCopy *> copies;
    Vector versions;

    for (const Checkpoint &checkpoint : home.window) {
        auto copy = checkpoint.pages.find(page);

        if (copy != checkpoint.pages.end()) {
            const Vector &version = system.settings.each_page
                                        ? copy->second.version
                                        : checkpoint.version;

            versions.insert(versions.end(), version.begin(), version.end());
            copies.push_back(&copy->second);
        }
    }
    bool at_home = system.is(Mutant::newest_starting_copy) ||
                   (home.rank == process.rank &&
                    !system.is(Mutant::own_copy_not_exempt));
    std::size_t choice =
        ckpt_starting_copy(versions.data(), copies.size(), restart.data(),
                           system.settings.processes, at_home);

    if (choice == copies.size()) {
        throw Violation("no safe starting copy");
    }
    return *copies[choice];
}

ckpt_diff_stamp stamp(const Diff &diff)
{
    return {ckpt_vector_sum(diff.time.data(), diff.time.size()),
            static_cast<std::uint32_t>(diff.writer)};
}

void sort_diffs(const System &system, std::vector<const Diff *> &diffs)
{
    bool by_sequence =
        system.shared() && !system.is(Mutant::sums_for_sequences);

    std::ranges::sort(diffs, [&](const Diff *a, const Diff *b) {
        if (system.is(Mutant::against_happened_before)) {
            std::swap(a, b);
        }
        ckpt_diff_stamp first = stamp(*a), second = stamp(*b);

        return by_sequence ? a->sequence < b->sequence
                           : ckpt_diff_compare(&first, &second) < 0;
    });
}

/* The words of `diff` that no later release has stored to. */
Words winning_words(const System &system, Process &process, int page,
                    const Diff &diff)
{
    if (!system.shared() || system.is(Mutant::lower_sequence_overwrites) ||
        system.is(Mutant::sums_for_sequences)) {
        return diff.words;
    }
    Vector &last = process.word_sequences[page];
    Words words;

    last.resize(system.settings.words);
    for (auto [word, value] : diff.words) {
        if (ckpt_diff_overwrites(diff.sequence, last[word])) {
            last[word] = diff.sequence;
            words.emplace_back(word, value);
        }
    }
    return words;
}

/* Applies the logged diffs of `page` for which `applies` is true. */
template <class Applies>
void apply_diffs(System &system, Process &process, int page, PageCopy &copy,
                 const Applies &applies)
{
    std::vector<const Diff *> diffs;

    for (const Process &writer : system.processes) {
        for (const Diff &diff : writer.logs.diffs[page]) {
            if (applies(diff)) {
                diffs.push_back(&diff);
            }
        }
    }
    sort_diffs(system, diffs);
    for (const Diff *diff : diffs) {
        std::uint64_t &version = copy.version[diff->writer];

        store_words(process, page, copy.words,
                    winning_words(system, process, page, *diff));
        version = std::max(version, diff->interval());
    }
}

} // namespace

Page &replayed_page(System &system, Process &process, const Vector &restart,
                    int page)
{
    bool at_home = !system.shared() && system.home(page) == process.rank;

    if (!at_home && !process.shadows.contains(page)) {
        process.shadows[page] = starting_copy(system, process, restart, page);
    }
    PageCopy &copy =
        at_home ? process.home.at(page) : process.shadows.at(page);
    apply_diffs(system, process, page, copy, [&](const Diff &diff) {
        std::uint64_t seen = system.is(Mutant::replay_everything)
                                 ? UINT64_MAX
                                 : process.time[diff.writer];

        return ckpt_replay_applies(diff.interval(), copy.version[diff.writer],
                                   seen);
    });
    return copy.words;
}

void apply_remaining_diffs(System &system, Process &process, int page)
{
    PageCopy &copy = process.home.at(page);

    apply_diffs(system, process, page, copy, [&](const Diff &diff) {
        return diff.writer != process.rank &&
               ckpt_batch_is_new(diff.interval(), copy.version[diff.writer]);
    });
}

void note_own_interval(System &system, Process &process,
                       const std::vector<int> &pages)
{
    for (int page : pages) {
        auto shadow = process.shadows.find(page);

        if (shadow == process.shadows.end()) {
            continue; // the page's home is here
        }
        shadow->second.version[process.rank] = process.interval();
        if (system.shared() && !process.logs.diffs[page].empty()) {
            const Diff &diff = process.logs.diffs[page].back();
            Vector &last = process.word_sequences[page];

            last.resize(system.settings.words);
            for (auto [word, value] : diff.words) {
                last[word] = diff.sequence;
            }
        }
    }
}

} // namespace model
