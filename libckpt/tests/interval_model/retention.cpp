/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * retention.cpp - checkpoints, and which checkpoints and logs are retained.
 */
#include "retention.hpp"

#include "intervals.hpp"

extern "C" {
#include "interval/checkpoint_window.h"
#include "interval/log_bounds.h"
#include "interval/vector_time.h"
}

#include <algorithm>
#include <utility>

namespace model
{

namespace
{

/* `to` learns from `from` about the newest and oldest checkpoints. */
void tell(System &system, const Process &from, Process &to)
{
    ckpt_peer_knowledge knowledge = to.logs.knowledge.core();
    const Checkpoint &oldest = from.window.front();

    if (ckpt_peer_knowledge_learn(&knowledge, from.rank,
                                  from.window.back().time.data(),
                                  oldest.version[to.rank],
                                  to.interval()) != 0) {
        throw Violation("control data of the future");
    }
    if (!system.settings.each_page) {
        return;
    }
    for (const auto &[page, copy] : from.home) {
        auto has_page = [page = page](const Checkpoint &checkpoint) {
            return checkpoint.pages.contains(page);
        };
        auto first = std::ranges::find_if(from.window, has_page);
        std::uint64_t &bound = to.logs.page_bounds[page];

        bound = std::max(bound, first->pages.at(page).version[to.rank]);
    }
}

/* Theorem 2: whole checkpoints, by the version of all their pages. */
void discard_checkpoints(const System &system, Process &process)
{
    Vector minimum = process.logs.knowledge.minimum();
    auto &window = process.window;
    Vector versions;

    for (const Checkpoint &checkpoint : window) {
        versions.insert(versions.end(), checkpoint.version.begin(),
                        checkpoint.version.end());
    }
    std::size_t start =
        system.is(Mutant::newest_checkpoint_only)
            ? window.size() - 1
            : ckpt_window_start(versions.data(), window.size(), minimum.data(),
                                system.settings.processes);
    window.erase(window.begin(), window.begin() + start);
}

/* Theorem 1: copies of each page; checkpoints without any copy. */
void discard_copies(const System &system, Process &process)
{
    Vector minimum = process.logs.knowledge.minimum();
    auto &window = process.window;

    for (const auto &[page, now] : process.home) {
        Vector versions;
        std::vector<Checkpoint *> holders;

        for (Checkpoint &checkpoint : window) {
            auto copy = checkpoint.pages.find(page);

            if (copy != checkpoint.pages.end()) {
                versions.insert(versions.end(), copy->second.version.begin(),
                                copy->second.version.end());
                holders.push_back(&checkpoint);
            }
        }
        std::size_t start =
            system.is(Mutant::newest_checkpoint_only)
                ? holders.size() - 1
                : ckpt_window_start(versions.data(), holders.size(),
                                    minimum.data(), system.settings.processes);
        for (std::size_t i = 0; i < start; i++) {
            holders[i]->pages.erase(page);
        }
    }
    while (window.size() > 1 && window.front().pages.empty()) {
        window.erase(window.begin());
    }
}

std::map<int, PageCopy> pages_to_save(const System &system,
                                      const Process &process)
{
    if (!system.shared()) {
        return process.home;
    }
    std::map<int, PageCopy> pages;
    for (const auto &[page, unused] : process.home) {
        pages[page] = system.released[page];
        if (system.is(Mutant::live_segment_checkpointed)) {
            pages[page].words = system.live[page];
        }
    }
    return pages;
}

std::uint64_t log_size(const Process &process)
{
    std::uint64_t words = 0;

    for (const auto &diffs : process.logs.diffs) {
        for (const Diff &diff : diffs) {
            words += diff.words.size();
        }
    }
    return words;
}

void count_checkpoint(Statistics &statistics, const Process &process)
{
    statistics.checkpoints++;
    statistics.longest_window = std::max<std::uint64_t>(
        statistics.longest_window, process.window.size());
    statistics.largest_log =
        std::max(statistics.largest_log, log_size(process));
}

} // namespace

void save(System &system, Process &process)
{
    Vector version(system.settings.processes);
    std::map<int, PageCopy> pages = pages_to_save(system, process);

    for (const auto &[page, copy] : pages) {
        ckpt_vector_merge(version.data(), copy.version.data(), version.size());
    }
    process.window.push_back({process.time, process.position, process.hash,
                              std::move(pages), std::move(version),
                              process.needed, process.logs});
    process.logged_words = 0;
    if (system.settings.each_page) {
        discard_copies(system, process);
    } else {
        discard_checkpoints(system, process);
    }
    tell(system, process, process);
    trim(system, process);
    process.window.back().logs = process.logs; // without the trimmed part
    count_checkpoint(system.statistics, process);
}

void take_checkpoint(System &system, Process &process)
{
    end_interval(system, process);
    save(system, process);
}

namespace
{

/* `interval` for a mutant that keeps one entry too few. */
std::uint64_t mutated(const System &system, Mutant mutant,
                      std::uint64_t interval)
{
    return system.is(mutant) && interval > 0 ? interval - 1 : interval;
}

/* A time with component `rank` changed for such a mutant. */
Vector mutated(const System &system, Mutant mutant, Vector time, int rank)
{
    time[rank] = mutated(system, mutant, time[rank]);
    return time;
}

void trim_diffs(System &system, Process &process)
{
    ckpt_peer_knowledge knowledge = process.logs.knowledge.core();

    for (int page = 0; page < system.settings.pages; page++) {
        std::uint64_t bound = system.settings.each_page
                                  ? process.logs.page_bounds[page]
                                  : knowledge.bounds[system.home(page)];

        std::erase_if(process.logs.diffs[page], [&](const Diff &diff) {
            bool keep = ckpt_log_keeps_diff(
                mutated(system, Mutant::diff_bound_plus_one, diff.interval()),
                bound);

            system.statistics.discarded += keep ? 0 : diff.words.size();
            return !keep;
        });
    }
}

void trim_determinants(const System &system, Process &process)
{
    ckpt_peer_knowledge knowledge = process.logs.knowledge.core();

    for (int peer = 0; peer < system.settings.processes; peer++) {
        std::erase_if(process.granted[peer], [&](const Determinant &grant) {
            Vector time = mutated(system, Mutant::grant_bound_plus_one,
                                  grant.time, peer);
            return !ckpt_log_keeps_grant(&knowledge, peer, time.data());
        });
        std::erase_if(process.acquired[peer], [&](const Determinant &acquire) {
            Vector time = mutated(system, Mutant::acquire_bound_plus_one,
                                  acquire.time, process.rank);
            return !ckpt_log_keeps_acquire(&knowledge, time.data());
        });
    }
    std::erase_if(process.barriers, [&](const Determinant &barrier) {
        Vector time = barrier.time;

        for (int peer = 0; peer < system.settings.processes; peer++) {
            time = mutated(system, Mutant::barrier_bound_plus_one, time, peer);
        }
        return !ckpt_log_keeps_barrier(&knowledge, time.data());
    });
}

} // namespace

void trim(System &system, Process &process)
{
    ckpt_peer_knowledge knowledge = process.logs.knowledge.core();
    std::uint64_t first = ckpt_log_first_notice(&knowledge);

    std::erase_if(process.logs.notices, [&](const auto &notice) {
        return mutated(system, Mutant::notice_bound_plus_one, notice.first) <
               first;
    });
    trim_diffs(system, process);
    trim_determinants(system, process);
}

void may_tell(System &system, int from, int to)
{
    if (from != to && system.events.chance(system.settings.control_rate)) {
        tell(system, system.processes[from], system.processes[to]);
    }
}

} // namespace model
