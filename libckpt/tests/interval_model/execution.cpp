/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * execution.cpp - processes execute their programs, while none fails.
 */
#include "execution.hpp"

#include "delivery.hpp"
#include "intervals.hpp"
#include "retention.hpp"

extern "C" {
#include "interval/vector_time.h"
}

#include <initializer_list>

namespace model
{

namespace
{

Word hash_of(std::initializer_list<Word> values)
{
    std::uint64_t state = 0;

    for (Word value : values) {
        state ^= value;
        state = mixed(state);
    }
    return state;
}

/* The page as a process accesses it outside of a replay. */
Page &page_of(System &system, Process &process, int page)
{
    int home = system.home(page);

    if (system.shared()) {
        return system.live[page];
    }
    if (home == process.rank) {
        deliver_until(system, page, process.needed[page]);
        return process.home.at(page).words;
    }
    if (!process.copies.contains(page)) {
        deliver_until(system, page, process.needed[page]);
        process.copies[page] = system.processes[home].home.at(page).words;
    }
    return process.copies[page];
}

bool acquire(System &system, Process &process, int number)
{
    Lock &lock = system.locks[number];

    if (lock.holder >= 0) {
        return false;
    }
    end_interval(system, process);
    lock.holder = process.rank;
    if (lock.last >= 0 && lock.last != process.rank) {
        Process &granter = system.processes[lock.last];
        Determinant grant{number, process.time};

        ckpt_vector_merge(grant.time.data(), granter.time.data(),
                          system.settings.processes);
        granter.granted[process.rank].push_back(grant);
        process.acquired[granter.rank].push_back(grant);
        advance(system, process, grant.time);
        may_tell(system, granter.rank, process.rank);
        may_tell(system, process.rank, granter.rank);
    }
    process.position++;
    return true;
}

void release(System &system, Process &process, int number)
{
    end_interval(system, process);
    system.locks[number] = {-1, process.rank};
    process.position++;
}

void tell_at_barrier(System &system)
{
    int count = system.settings.processes;

    for (int from = 0; from < count; from++) {
        if (system.settings.barrier_control == BarrierControl::everybody) {
            for (int to = 0; to < count; to++) {
                may_tell(system, from, to);
            }
        } else {
            may_tell(system, from, system.events.below(count));
        }
    }
}

bool barrier(System &system, Process &process, int number)
{
    if (process.in_barrier) {
        return false;
    }
    end_interval(system, process);
    process.in_barrier = true;
    system.at_barrier[process.rank] = process.time;
    if (system.at_barrier.size() < system.processes.size()) {
        return true;
    }
    Determinant merged{number, process.time};
    for (const auto &[rank, time] : system.at_barrier) {
        ckpt_vector_merge(merged.time.data(), time.data(),
                          system.settings.processes);
    }
    for (Process &each : system.processes) {
        advance(system, each, merged.time);
        each.barriers.push_back(merged);
        each.in_barrier = false;
        each.position++;
    }
    system.at_barrier.clear();
    tell_at_barrier(system);
    return true;
}

} // namespace

void access(Process &process, const Operation &operation,
            const std::function<Page &(int page)> &find)
{
    Page &page = find(operation.object);
    Word number = operation.object;
    Word word = operation.word;

    if (operation.kind != Kind::write) {
        process.hash = hash_of({process.hash, number, word, page[word]});
    }
    if (operation.kind != Kind::read) {
        process.twins.try_emplace(operation.object, page);
        page[word] = hash_of({process.hash, process.position, number, word});
    }
}

bool step(System &system, int rank)
{
    Process &process = system.processes[rank];
    const Program &program = system.programs[rank];

    if (process.position == program.size()) {
        return false;
    }
    const Operation &operation = program[process.position];
    switch (operation.kind) {
    case Kind::acquire:
        return acquire(system, process, operation.object);
    case Kind::release:
        release(system, process, operation.object);
        return true;
    case Kind::barrier:
        return barrier(system, process, operation.object);
    default:
        access(process, operation, [&](int page) -> Page & {
            return page_of(system, process, page);
        });
        process.position++;
        return true;
    }
}

} // namespace model
