/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * intervals.cpp - the end of an interval, and the notices to other processes.
 */
#include "intervals.hpp"

extern "C" {
#include "interval/replay_bounds.h"
#include "interval/vector_time.h"
}

#include <algorithm>

namespace model
{

namespace
{

/* Whether a diff of this mode or mutant also holds unchanged words. */
bool takes_whole_page(const System &system, const Process &process)
{
    return process.replaying ? system.is(Mutant::whole_pages_regenerated)
                             : system.settings.whole_pages;
}

Words changed_words(System &system, Process &process, int page,
                    const Page &twin)
{
    const Page &now = current_page(system, process, page);
    bool whole = takes_whole_page(system, process);
    bool image = system.is(Mutant::image_as_twin) && !process.replaying;
    const Page &before = image ? system.released[page].words : twin;
    Words words;

    for (int word = 0; word < system.settings.words; word++) {
        if (whole || now[word] != before[word]) {
            words.emplace_back(word, now[word]);
        }
    }
    return words;
}

/* The number of a release, which a replay uses again (S4). */
std::uint64_t release_sequence(System &system, const Process &process)
{
    std::uint64_t &sequence =
        system.sequences[{process.rank, process.interval()}];

    if (sequence == 0 ||
        (process.replaying && system.is(Mutant::sequence_not_kept))) {
        sequence = ++system.sequence;
    }
    return sequence;
}

/* Stores a diff to the released image, unless the image already has it. */
void release(System &system, const Diff &diff, int page)
{
    PageCopy &image = system.released[page];

    if (ckpt_batch_is_new(diff.interval(), image.version[diff.writer])) {
        for (auto [word, value] : diff.words) {
            image.words[word] = value;
        }
        image.version[diff.writer] = diff.interval();
    }
}

/* Sends the diffs of an interval. */
void send(System &system, const Process &process,
          const std::map<int, std::vector<PageDiff>> &by_home)
{
    for (const auto &[home, diffs] : by_home) {
        auto &channel = system.in_flight[{process.rank, home}];

        if (system.is(Mutant::batches_split)) {
            for (const PageDiff &diff : diffs) {
                channel.push_back({process.interval(), {diff}});
            }
        } else {
            channel.push_back({process.interval(), diffs});
        }
    }
}

void log_diff(System &system, Process &process, int page, const Diff &diff)
{
    system.statistics.logged += diff.words.size();
    process.logged_words += diff.words.size();
    if (!system.is(Mutant::own_diffs_unlogged) ||
        system.home(page) != process.rank) {
        process.logs.diffs[page].push_back(diff);
    }
}

} // namespace

Page &current_page(System &system, Process &process, int page)
{
    if (!system.shared() && system.home(page) == process.rank) {
        return process.home.at(page).words;
    }
    if (process.replaying) {
        return process.shadows.at(page).words;
    }
    return system.shared() ? system.live[page] : process.copies.at(page);
}

void end_interval(System &system, Process &process)
{
    if (system.is(Mutant::counter_only_if_dirty) && process.twins.empty()) {
        return;
    }
    std::uint64_t interval =
        ckpt_vector_end_interval(process.time.data(), process.rank);
    std::uint64_t sequence = system.shared() && !process.twins.empty()
                                 ? release_sequence(system, process)
                                 : 0;
    std::vector<int> pages;
    std::map<int, std::vector<PageDiff>> by_home;

    for (const auto &[page, twin] : process.twins) {
        Diff diff{process.time, process.rank, sequence,
                  changed_words(system, process, page, twin)};

        pages.push_back(page);
        process.needed[page][process.rank] = interval;
        log_diff(system, process, page, diff);
        if (system.shared()) {
            release(system, diff, page);
        } else if (system.home(page) == process.rank) {
            process.home.at(page).version[process.rank] = interval;
        } else if (!process.replaying) {
            by_home[system.home(page)].push_back({page, diff.words});
        }
    }
    process.twins.clear();
    process.logs.notices[interval] = pages;
    system.notices[process.rank][interval] = pages;
    send(system, process, by_home);
}

void advance(System &system, Process &process, const Vector &time)
{
    for (int writer = 0; writer < system.settings.processes; writer++) {
        const auto &notices = process.replaying
                                  ? system.processes[writer].logs.notices
                                  : system.notices[writer];

        if (writer == process.rank) {
            continue;
        }
        for (std::uint64_t interval = process.time[writer] + 1;
             ckpt_replay_has_notice(interval, process.time[writer],
                                    time[writer]);
             interval++) {
            auto notice = notices.find(interval);

            if (notice == notices.end()) {
                throw Violation("a write notice is missing");
            }
            for (int page : notice->second) {
                std::uint64_t &needed = process.needed[page][writer];

                needed = std::max(needed, interval);
                process.copies.erase(page);
            }
        }
    }
    process.time = time;
}

void store_words(Process &process, int page, Page &to, const Words &words)
{
    auto twin = process.twins.find(page);

    for (auto [word, value] : words) {
        to[word] = value;
        if (twin != process.twins.end()) {
            twin->second[word] = value;
        }
    }
}

} // namespace model
