/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * recovery.cpp - a process fails, and is restored to its state.
 */
#include "recovery.hpp"

#include "delivery.hpp"
#include "execution.hpp"
#include "intervals.hpp"
#include "replayed_memory.hpp"

extern "C" {
#include "interval/log_bounds.h"
#include "interval/replay_bounds.h"
#include "interval/vector_time.h"
}

#include <algorithm>
#include <map>
#include <utility>

namespace model
{

namespace
{

class Recovery
{
  public:
    Recovery(System &system, int failed)
        : system(system), settings(system.settings), failed(failed),
          process(system.processes[failed]), before(process)
    {
    }

    void lose_messages(double kept);
    void load_checkpoint();
    void collect_determinants();
    void replay();
    void send_again();
    void take_up_homes();
    void take_up_shared_memory();
    void check() const;

  private:
    void replay_operation(const Operation &operation);
    void replay_acquire(int lock);
    void replay_barrier(int number);
    void end_replayed_interval();
    void keep_valid_copies();
    void check_logs() const;

    const Checkpoint &restart() const
    {
        return process.window.back();
    }

    System &system;
    const Settings &settings;
    int failed;
    Process &process;
    Process before; // the state to restore
    std::map<std::uint64_t, Determinant> acquires; // by own interval
    std::map<int, Determinant> barriers;           // by number
};

/* Messages in flight to the failed process belong to the restored state. */
void Recovery::lose_messages(double kept)
{
    for (int peer = 0; peer < settings.processes; peer++) {
        while (deliver(system, peer, failed)) {
        }
        auto &channel = system.in_flight[{failed, peer}];
        auto left = static_cast<std::size_t>(
            kept * static_cast<double>(channel.size() + 1));

        channel.resize(std::min(left, channel.size()));
    }
    before = process;
}

void Recovery::load_checkpoint()
{
    process = Process(failed, settings.processes, settings.pages);
    process.window = before.window;
    process.time = restart().time;
    process.position = restart().position;
    process.hash = restart().hash;
    process.home = restart().pages;
    process.needed = restart().needed;
    process.logs = restart().logs;
    process.replaying = true;
}

/* R2: from the memory of the other processes. */
void Recovery::collect_determinants()
{
    for (const Process &peer : system.processes) {
        if (peer.rank == failed) {
            continue;
        }
        for (const Determinant &grant : peer.granted[failed]) {
            std::uint64_t after = grant.time[failed];

            if (ckpt_replay_has_event(after, restart().time[failed])) {
                acquires[after] = grant;
                process.acquired[peer.rank].push_back(grant);
            }
        }
        if (!system.is(Mutant::no_mirror)) {
            process.granted[peer.rank] = peer.acquired[failed];
        }
        for (const Determinant &barrier : peer.barriers) {
            barriers[barrier.number] = barrier;
        }
    }
    for (const auto &[number, barrier] : barriers) {
        process.barriers.push_back(barrier);
    }
}

/* R3: up to the time of the failure. */
void Recovery::replay()
{
    const Program &program = system.programs[failed];

    while (process.position < before.position ||
           process.in_barrier != before.in_barrier) {
        replay_operation(program.at(process.position));
        system.statistics.replayed++;
    }
}

void Recovery::replay_operation(const Operation &operation)
{
    switch (operation.kind) {
    case Kind::acquire:
        replay_acquire(operation.object);
        break;
    case Kind::release:
        end_replayed_interval();
        break;
    case Kind::barrier:
        replay_barrier(operation.object);
        break;
    default:
        access(process, operation, [&](int page) -> Page & {
            return replayed_page(system, process, restart().time, page);
        });
    }
    if (!process.in_barrier) {
        process.position++;
    }
}

/* Without a determinant, the process itself held the lock last. */
void Recovery::replay_acquire(int lock)
{
    end_replayed_interval();
    auto grant = acquires.find(process.interval());
    if (grant == acquires.end()) {
        return;
    }
    if (grant->second.number != lock) {
        throw Violation("an acquire is replayed as that of another lock");
    }
    advance(system, process, grant->second.time);
}

void Recovery::replay_barrier(int number)
{
    end_replayed_interval();
    if (process.position == before.position) {
        process.in_barrier = true;
        return;
    }
    auto merged = barriers.find(number);
    if (merged == barriers.end()) {
        throw Violation("a barrier is in no log");
    }
    advance(system, process, merged->second.time);
}

void Recovery::end_replayed_interval()
{
    std::vector<int> pages;

    for (const auto &[page, twin] : process.twins) {
        pages.push_back(page);
    }
    end_interval(system, process);
    note_own_interval(system, process, pages);
}

/* R7: homes drop duplicates. */
void Recovery::send_again()
{
    if (system.is(Mutant::no_resend)) {
        return;
    }
    for (const Process &home : system.processes) {
        std::map<std::uint64_t, std::vector<PageDiff>> lacking;

        if (home.rank == failed) {
            continue;
        }
        for (const auto &[page, copy] : home.home) {
            for (const Diff &diff : process.logs.diffs[page]) {
                if (ckpt_batch_is_new(diff.interval(), copy.version[failed])) {
                    lacking[diff.interval()].push_back({page, diff.words});
                }
            }
        }
        for (auto &[interval, diffs] : lacking) {
            system.in_flight[{failed, home.rank}].push_back(
                {interval, std::move(diffs)});
        }
    }
}

/* R6, R8. */
void Recovery::take_up_homes()
{
    if (!system.is(Mutant::home_not_caught_up)) {
        for (const auto &[page, copy] : before.home) {
            apply_remaining_diffs(system, process, page);
        }
    }
    keep_valid_copies();
    for (const auto &[page, twin] : process.twins) {
        if (system.home(page) != failed && !process.copies.contains(page)) {
            throw Violation("a page in use is not valid");
        }
    }
}

void Recovery::keep_valid_copies()
{
    for (const auto &[page, shadow] : process.shadows) {
        if (ckpt_vector_within(process.needed[page].data(),
                               shadow.version.data(), settings.processes)) {
            process.copies[page] = shadow.words;
        }
    }
}

/* S6: only stores that were never released go into the live memory. */
void Recovery::take_up_shared_memory()
{
    for (auto &[page, twin] : process.twins) {
        const Page &shadow = process.shadows.at(page).words;
        Page &live = system.live[page];

        for (int word = 0; word < settings.words; word++) {
            if (shadow[word] != twin[word]) {
                live[word] = shadow[word];
            } else {
                twin[word] = live[word];
            }
        }
    }
    process.home = before.home; // not used in this mode
}

/* The entries of a log that rank `peer` may have to replay. */
std::vector<Determinant> replayable(const std::vector<Determinant> &log,
                                    int peer, const Vector &checkpoint)
{
    std::vector<Determinant> needed;

    for (const Determinant &entry : log) {
        if (ckpt_replay_has_event(entry.time[peer], checkpoint[peer])) {
            needed.push_back(entry);
        }
    }
    return needed;
}

void Recovery::check() const
{
    if (process.time != before.time || process.hash != before.hash ||
        process.position != before.position) {
        throw Violation("the process is not what it was");
    }
    for (const auto &[page, copy] : before.home) {
        const PageCopy &now = process.home.at(page);

        if (now.words != copy.words) {
            throw Violation("a page at home is not what it was");
        }
        if (!ckpt_vector_within(copy.version.data(), now.version.data(),
                                settings.processes)) {
            throw Violation("a page at home has lost its version");
        }
    }
    check_logs();
}

/* The logs kept for other processes are as complete as before. */
void Recovery::check_logs() const
{
    for (const Process &peer : system.processes) {
        const Vector &theirs = peer.window.back().time;

        if (replayable(process.granted[peer.rank], peer.rank, theirs) !=
            replayable(before.granted[peer.rank], peer.rank, theirs)) {
            throw Violation("acquires that were granted are not known again");
        }
        if (replayable(process.acquired[peer.rank], failed, restart().time) !=
            replayable(before.acquired[peer.rank], failed, restart().time)) {
            throw Violation("acquires of its own are not known again");
        }
        if (replayable(process.barriers, peer.rank, theirs) !=
            replayable(before.barriers, peer.rank, theirs)) {
            throw Violation("barriers are not known again");
        }
    }
}

} // namespace

void fail_and_recover(System &system, int failed, double kept)
{
    Recovery recovery(system, failed);
    std::vector<Page> live = system.live;

    system.statistics.recoveries++;
    recovery.lose_messages(kept);
    recovery.load_checkpoint();
    recovery.collect_determinants();
    recovery.replay();
    if (system.shared()) {
        recovery.take_up_shared_memory();
    } else {
        recovery.send_again();
        recovery.take_up_homes();
    }
    recovery.check();
    if (system.live != live) {
        throw Violation("the live memory is not what it was");
    }
    Process &process = system.processes[failed];
    process.replaying = false;
    process.shadows.clear();
    process.word_sequences.clear();
}

} // namespace model
