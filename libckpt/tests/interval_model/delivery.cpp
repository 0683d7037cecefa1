/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * delivery.cpp - diffs in flight to homes, and page requests.
 */
#include "delivery.hpp"

#include "intervals.hpp"

extern "C" {
#include "interval/replay_bounds.h"
#include "interval/vector_time.h"
}

#include <algorithm>

namespace model
{

bool deliver(System &system, int writer, int home)
{
    auto channel = system.in_flight.find({writer, home});
    Process &process = system.processes[home];

    if (channel == system.in_flight.end() || channel->second.empty()) {
        return false;
    }
    Batch batch = channel->second.front();
    channel->second.pop_front();
    for (const PageDiff &diff : batch.diffs) {
        PageCopy &copy = process.home.at(diff.page);
        std::uint64_t &version = copy.version[writer];

        if (ckpt_batch_is_new(batch.interval, version) ||
            system.is(Mutant::duplicates_applied)) {
            store_words(process, diff.page, copy.words, diff.words);
            version = std::max(version, batch.interval);
        }
    }
    return true;
}

void deliver_any(System &system)
{
    std::vector<std::pair<int, int>> busy;

    for (const auto &[channel, batches] : system.in_flight) {
        if (!batches.empty()) {
            busy.push_back(channel);
        }
    }
    if (!busy.empty()) {
        auto [writer, home] = system.events.among(busy);
        deliver(system, writer, home);
    }
}

void deliver_all(System &system)
{
    for (const auto &[channel, batches] : system.in_flight) {
        while (deliver(system, channel.first, channel.second)) {
        }
    }
}

void deliver_until(System &system, int page, const Vector &needed)
{
    int home = system.home(page);
    int count = system.settings.processes;
    const Vector &version = system.processes[home].home.at(page).version;

    while (!ckpt_vector_within(needed.data(), version.data(), count)) {
        bool delivered = false;

        for (int writer = 0; writer < count && !delivered; writer++) {
            delivered = needed[writer] > version[writer] &&
                        deliver(system, writer, home);
        }
        if (!delivered) {
            throw Violation("a needed version of a page never comes");
        }
    }
}

} // namespace model
