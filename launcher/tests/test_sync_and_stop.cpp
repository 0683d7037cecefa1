/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_sync_and_stop.cpp - the coordinator's state machine: each path by hand,
 * then random jobs.
 */
#include "config.h"
#include "agent/sync_and_stop.hpp"
#include "tests/simulated_job.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace ckpt
{

namespace
{

using std::chrono::milliseconds;
using std::chrono::seconds;

class Machine : public testing::Test, public RankPages
{
  public:
    static constexpr int count = 3;
    static constexpr std::uint64_t world = 1;

    Machine() : machine(count, *this, options())
    {
        for (auto &page : page_clocks) {
            page = {{world, 5, 5, 0, 5}};
        }
        for (int i = 0; i < count; i++) {
            machine.hello(i);
        }
    }

    static SyncAndStop::Options options()
    {
        SyncAndStop::Options options;
        options.timeout = seconds(60);
        return options;
    }

    std::vector<ckpt_clock> clocks(int rank) const override
    {
        return page_clocks[rank];
    }
    std::uint64_t sent(int from, int to) const override
    {
        return sent_count[from][to];
    }
    std::uint64_t received(int to, int from) const override
    {
        return received_count[to][from];
    }

    /* Does what the actions say to the pages; notes the rest. */
    void settle()
    {
        for (Action &next : machine.take_actions()) {
            if (auto *set = std::get_if<action::SetTargets>(&next)) {
                for (std::size_t i = 0; i < set->targets.size(); i++) {
                    page_clocks[set->rank][i].target = set->targets[i];
                }
            } else if (auto *set = std::get_if<action::SetExpected>(&next)) {
                expected[set->rank] = set->expected;
            } else if (auto *send = std::get_if<action::Send>(&next)) {
                orders[send->rank].push_back(*send);
            } else if (auto *end = std::get_if<action::Finish>(&next)) {
                finish = *end;
            } else {
                others.push_back(next);
            }
        }
    }

    void request(bool kill = false)
    {
        machine.request(++epoch, kill, now);
        settle();
    }

    void send(int rank, ckpt_message &message)
    {
        message.epoch = epoch;
        machine.message(rank, message, now);
        settle();
    }

    void say(int rank, std::uint32_t type, std::uint64_t place = 0,
             bool holds = false, std::uint64_t flags = 0)
    {
        ckpt_message message{};
        message.type = type;
        message.arg[0] = place;
        message.arg[2] = flags;
        message.arg[3] = holds;
        send(rank, message);
    }

    void report(int rank, std::uint64_t place = CKPT_PLACE_FREE)
    {
        bool inside = place == CKPT_PLACE_INSIDE;
        say(rank, CKPT_MSG_REPORT, place, !inside && place != CKPT_PLACE_WAIT);
    }

    void report_gate_of_thread(int rank, std::uint64_t slot,
                               std::uint64_t entered)
    {
        ckpt_message message{};
        message.type = CKPT_MSG_REPORT;
        message.arg[0] = CKPT_PLACE_GATE;
        message.arg[1] = slot;
        message.arg[4] = entered;
        send(rank, message);
    }

    void report_inside(int rank, std::uint64_t flags)
    {
        say(rank, CKPT_MSG_REPORT, CKPT_PLACE_INSIDE, false, flags);
    }

    void stopped(int rank) { say(rank, CKPT_MSG_STOPPED, CKPT_PLACE_FREE, true); }

    void all(void (Machine::*step)(int))
    {
        for (int i = 0; i < count; i++) {
            (this->*step)(i);
        }
    }
    void report_free(int rank) { report(rank); }
    void drained(int rank) { say(rank, CKPT_MSG_DRAINED); }
    void ready(int rank)
    {
        say(rank, CKPT_MSG_READY, 0x1000u + static_cast<unsigned>(rank));
    }

    void ready_with(int rank, std::uint64_t flags)
    {
        ckpt_message message{};
        message.type = CKPT_MSG_READY;
        message.epoch = epoch;
        message.arg[1] = flags;
        machine.message(rank, message, now);
        settle();
    }
    void ready_shared(int rank) { ready_with(rank, CKPT_READY_SHARED); }

    /* Until all ranks are to be captured. */
    void to_write(bool kill = false)
    {
        request(kill);
        all(&Machine::report_free);
        all(&Machine::stopped);
        all(&Machine::drained);
        all(&Machine::ready);
        ASSERT_EQ(machine.phase(), Phase::write);
    }

    /* Types of the orders that a rank was given since the last call. */
    std::vector<int> take_orders(int rank)
    {
        std::vector<int> types;
        for (const action::Send &order : std::exchange(orders[rank], {})) {
            types.push_back(order.type);
        }
        return types;
    }
    using Types = std::vector<int>;
    void forget_orders(int rank) { take_orders(rank); }

    template <typename Kind> bool took()
    {
        bool found = !others.empty() && std::holds_alternative<Kind>(others[0]);
        if (found) {
            others.erase(others.begin());
        }
        return found;
    }

    /* Everyone is told to go on, and why. */
    void expect_given_up(const std::string &reason)
    {
        ASSERT_TRUE(finish.has_value());
        EXPECT_FALSE(finish->committed);
        EXPECT_EQ(finish->reason, reason);
        EXPECT_EQ(machine.phase(), Phase::idle);
    }

    std::vector<ckpt_clock> page_clocks[count];
    std::uint64_t sent_count[count][count] = {};
    std::uint64_t received_count[count][count] = {};
    std::vector<std::uint64_t> expected[count];
    std::vector<action::Send> orders[count];
    std::vector<Action> others;
    std::optional<action::Finish> finish;
    SyncAndStop::Time now{};
    std::uint64_t epoch = 0;
    SyncAndStop machine;
};

constexpr std::uint64_t redo = CKPT_INSIDE_CLOCKED | CKPT_INSIDE_REDO;
constexpr std::uint64_t once = CKPT_INSIDE_CLOCKED;

} // namespace

TEST_F(Machine, TheStraightWay)
{
    sent_count[0][1] = 7;
    sent_count[2][1] = 3;
    request();
    EXPECT_EQ(take_orders(0), Types({CKPT_MSG_REQUEST}));
    all(&Machine::report_free);
    EXPECT_EQ(machine.phase(), Phase::stop);
    ASSERT_EQ(orders[1].size(), 2u);
    EXPECT_TRUE(orders[1][1].signal);
    all(&Machine::stopped);
    EXPECT_EQ(machine.phase(), Phase::drain);
    EXPECT_EQ(expected[1], (std::vector<std::uint64_t>{7, 0, 3}));
    EXPECT_EQ(expected[0], (std::vector<std::uint64_t>{0, 0, 0}));
    all(&Machine::drained);
    EXPECT_EQ(machine.phase(), Phase::save);
    all(&Machine::ready);
    EXPECT_EQ(take_orders(2), Types({CKPT_MSG_REQUEST, CKPT_MSG_STOP,
                                     CKPT_MSG_DRAIN, CKPT_MSG_SAVE}));
    ASSERT_EQ(others.size(), 1u);
    EXPECT_EQ(std::get<action::Capture>(others[0]).snapshots,
              (std::vector<std::uint64_t>{0x1000, 0x1001, 0x1002}));
    EXPECT_TRUE(took<action::Capture>());

    take_orders(0), take_orders(1);
    machine.captured(1, now);
    settle();
    EXPECT_EQ(take_orders(1), Types({CKPT_MSG_RESUME}));
    EXPECT_EQ(take_orders(0), Types()); /* still needed */
    machine.captured(0, now);
    machine.captured(2, now);
    machine.written();
    settle();
    EXPECT_TRUE(took<action::Commit>());
    EXPECT_FALSE(finish);
    machine.committed(now);
    settle();
    EXPECT_TRUE(finish->committed);
    EXPECT_EQ(machine.phase(), Phase::idle);
}

TEST_F(Machine, RanksBehindRunToTheTarget)
{
    page_clocks[2][0] = {world, 3, 3, 0, 3};
    request();
    all(&Machine::report_free);
    EXPECT_EQ(machine.phase(), Phase::align);
    for (int i = 0; i < count; i++) {
        EXPECT_EQ(page_clocks[i][0].target, 5u);
        EXPECT_EQ(take_orders(i), Types({CKPT_MSG_REQUEST, CKPT_MSG_RUN}));
    }
    report(0, CKPT_PLACE_GATE);
    EXPECT_EQ(take_orders(0), Types()); /* the gate stays shut */
    page_clocks[2][0].entered = 4;
    machine.tick(now);
    EXPECT_EQ(machine.phase(), Phase::align);
    page_clocks[2][0] = {world, 5, 5, 5, 5};
    machine.tick(now); /* found without a report */
    EXPECT_EQ(machine.phase(), Phase::stop);
}

TEST_F(Machine, ARankInsideACollectiveNobodyHasLeftIsSavedThere)
{
    page_clocks[1][0].entered = 6;
    request();
    report(0);
    report_inside(1, redo);
    report(2);
    EXPECT_EQ(machine.phase(), Phase::stop);
    stopped(0);
    stopped(2);
    say(1, CKPT_MSG_STOPPED, CKPT_PLACE_INSIDE, false, redo);
    EXPECT_EQ(machine.phase(), Phase::drain);
    drained(0);
    drained(2); /* rank 1 is not asked */
    EXPECT_EQ(machine.phase(), Phase::save);
    EXPECT_EQ(orders[1].back().type, CKPT_MSG_SAVE);
    EXPECT_TRUE(orders[1].back().signal);
    EXPECT_FALSE(orders[0].back().signal);
    all(&Machine::ready);
    EXPECT_EQ(machine.phase(), Phase::write);
}

TEST_F(Machine, ACollectiveThatCannotBeRedoneIsCompleted)
{
    page_clocks[1][0].entered = 6;
    request();
    report(0);
    report_inside(1, once);
    report(2);
    EXPECT_EQ(machine.phase(), Phase::align);
    EXPECT_EQ(page_clocks[0][0].target, 6u);
    EXPECT_EQ(take_orders(0), Types({CKPT_MSG_REQUEST, CKPT_MSG_RUN}));
    EXPECT_EQ(take_orders(1), Types({CKPT_MSG_REQUEST})); /* it does not hold */
}

TEST_F(Machine, AMemberThatLeftTakesTheOthersAlong)
{
    page_clocks[0][0] = {world, 6, 6, 0, 6};
    page_clocks[1][0].entered = 6;
    request();
    report(0);
    report_inside(1, redo);
    report(2);
    EXPECT_EQ(machine.phase(), Phase::align);
    EXPECT_EQ(page_clocks[2][0].target, 6u);
}

TEST_F(Machine, ACallWithoutClockIsWaitedFor)
{
    request();
    report(0);
    report_inside(1, 0);
    report(2);
    EXPECT_EQ(machine.phase(), Phase::align);
    report(1); /* has left it, and holds */
    EXPECT_EQ(machine.phase(), Phase::stop);
}

TEST_F(Machine, NobodyWaitsForTheBeginningOfANonblockingCollective)
{
    page_clocks[1][0] = {world, 8, 8, 0, 5}; /* has begun three */
    page_clocks[2][0] = {world, 7, 7, 0, 6}; /* has completed one for good */
    page_clocks[0][0] = {world, 6, 6, 0, 5};
    request();
    report(0);
    report(1);
    report(2);
    ASSERT_EQ(machine.phase(), Phase::stop);
    page_clocks[1][0].settled = 7; /* meanwhile */
    stopped(0);
    stopped(1);
    stopped(2);
    ASSERT_EQ(machine.phase(), Phase::align);
    EXPECT_EQ(page_clocks[0][0].target, 7u);
    page_clocks[0][0] = {world, 7, 7, 7, 5};
    machine.tick(now);
    ASSERT_EQ(machine.phase(), Phase::stop);
    stopped(0);
    stopped(1);
    stopped(2);
    EXPECT_EQ(machine.phase(), Phase::drain);
}

TEST_F(Machine, WhatIsSeenAfterStopDecides)
{
    page_clocks[1][0].entered = 6;
    request();
    report(0);
    report_inside(1, redo);
    report(2);
    ASSERT_EQ(machine.phase(), Phase::stop);
    stopped(0);
    /* It left before the signal came. */
    page_clocks[1][0].left = page_clocks[1][0].settled = 6;
    stopped(1);
    stopped(2);
    EXPECT_EQ(machine.phase(), Phase::align);
    EXPECT_EQ(page_clocks[0][0].target, 6u);
    for (int i = 0; i < count; i++) {
        EXPECT_EQ(orders[i].back().type, CKPT_MSG_RUN);
    }
}

TEST_F(Machine, WhatAThreadOfARankInsideTellsIsNotAboutTheRank)
{
    request();
    all(&Machine::report_free);
    say(1, CKPT_MSG_STOPPED, CKPT_PLACE_INSIDE);
    report(1, CKPT_PLACE_WAIT);
    stopped(0);
    stopped(2);
    EXPECT_EQ(machine.phase(), Phase::align);
    report(1, CKPT_PLACE_FREE);
    EXPECT_EQ(machine.phase(), Phase::stop);
}

TEST_F(Machine, ARankThatHadToGoOnAfterStoppedIsInside)
{
    request();
    all(&Machine::report_free);
    stopped(1);
    report(1, CKPT_PLACE_INSIDE);
    stopped(0);
    stopped(2);
    EXPECT_EQ(machine.phase(), Phase::align);
}

TEST_F(Machine, AMessageToARankInsideMustBeReceived)
{
    page_clocks[1][0].entered = 6;
    sent_count[0][1] = 2;
    received_count[1][0] = 1;
    request();
    report(0);
    report_inside(1, redo);
    report(2);
    stopped(0);
    say(1, CKPT_MSG_STOPPED, CKPT_PLACE_INSIDE, false, redo);
    stopped(2);
    EXPECT_EQ(machine.phase(), Phase::align);
    EXPECT_EQ(page_clocks[0][0].target, 6u); /* so that it gets out */
    EXPECT_NE(orders[1].back().type, CKPT_MSG_RUN); /* it does not hold */
}

TEST_F(Machine, ARankThatLeavesDuringTheDrainSendsAllBack)
{
    page_clocks[1][0].entered = 6;
    request();
    report(0);
    report_inside(1, redo);
    report(2);
    stopped(0);
    say(1, CKPT_MSG_STOPPED, CKPT_PLACE_INSIDE, false, redo);
    stopped(2);
    ASSERT_EQ(machine.phase(), Phase::drain);
    page_clocks[1][0].left = page_clocks[1][0].settled = 6;
    report(1);
    drained(0);
    EXPECT_EQ(machine.phase(), Phase::drain); /* rank 2 has an order still */
    EXPECT_NE(orders[0].back().type, CKPT_MSG_RUN);
    drained(2);
    EXPECT_EQ(machine.phase(), Phase::align);
    EXPECT_EQ(orders[0].back().type, CKPT_MSG_RUN);
}

TEST_F(Machine, ARankThatLeavesInsteadOfSavingSendsAllBack)
{
    page_clocks[1][0].entered = 6;
    request();
    report(0);
    report_inside(1, redo);
    report(2);
    stopped(0);
    say(1, CKPT_MSG_STOPPED, CKPT_PLACE_INSIDE, false, redo);
    stopped(2);
    drained(0);
    drained(2);
    ready(0);
    page_clocks[1][0].left = page_clocks[1][0].settled = 6;
    report(1);
    EXPECT_EQ(machine.phase(), Phase::save);
    ready(2);
    EXPECT_EQ(machine.phase(), Phase::align);
    ready(1); /* its answer to SAVE, too late: nothing may come of it */
    EXPECT_EQ(machine.phase(), Phase::align);
    EXPECT_TRUE(others.empty());
}

TEST_F(Machine, AStallOpensTheGateThatIsInTheWay)
{
    /* Rank 2 lags in the world; it waits for a message of rank 1, which is at
     * the gate of their own communicator, 9. Rank 0 is at the world's. */
    page_clocks[2] = {{world, 4, 4, 0, 4}, {9, 2, 2, 0, 2}};
    page_clocks[1] = {{world, 5, 5, 0, 5}, {9, 2, 2, 0, 2}};
    request();
    all(&Machine::report_free);
    report(0, CKPT_PLACE_GATE);
    ckpt_message at_gate{};
    at_gate.type = CKPT_MSG_REPORT;
    at_gate.epoch = epoch;
    at_gate.arg[0] = CKPT_PLACE_GATE;
    at_gate.arg[1] = 1;
    at_gate.arg[3] = 1;
    machine.message(1, at_gate, now);
    report(2, CKPT_PLACE_WAIT);
    take_orders(0), take_orders(1);
    now += milliseconds(1);
    machine.tick(now);
    EXPECT_EQ(page_clocks[1][1].target, 2u); /* perhaps it just takes time */
    now += milliseconds(50);
    machine.tick(now);
    settle();
    EXPECT_EQ(page_clocks[1][1].target, 3u);
    EXPECT_EQ(page_clocks[2][1].target, 3u);
    EXPECT_EQ(page_clocks[0][0].target, 5u);
    EXPECT_EQ(take_orders(1), Types({CKPT_MSG_RUN}));
    EXPECT_EQ(take_orders(0), Types());
}

/* A thread of a rank waits at a gate; the rank itself does not hold. */
TEST_F(Machine, GatesOfThreadsAreOpenedInAStall)
{
    for (auto &page : page_clocks) {
        page.push_back({9, 3, 3, 0, 3});
    }
    page_clocks[0][0] = {world, 6, 6, 0, 6}; /* the others have to reach 6 */
    request();
    all(&Machine::report_free);
    for (int i = 0; i < count; i++) {
        EXPECT_EQ(take_orders(i).back(), CKPT_MSG_RUN);
        report_gate_of_thread(i, 1, 3);
        report(i, CKPT_PLACE_WAIT);
    }
    EXPECT_EQ(page_clocks[1][1].target, 3u);
    now += milliseconds(5);
    machine.tick(now);
    now += milliseconds(20);
    machine.tick(now);
    settle();
    EXPECT_EQ(page_clocks[1][1].target, 4u);
    EXPECT_EQ(take_orders(1), Types()); /* it runs anyway */
    EXPECT_EQ(machine.phase(), Phase::align);
}

/* What a thread has told of its gate counts no more when it has passed. */
TEST_F(Machine, AGateThatAThreadHasPassedStaysShut)
{
    for (auto &page : page_clocks) {
        page.push_back({9, 4, 4, 0, 4});
    }
    page_clocks[0][0] = {world, 6, 6, 0, 6};
    request();
    all(&Machine::report_free);
    for (int i = 0; i < count; i++) {
        report_gate_of_thread(i, 1, 3); /* it has come late */
        report(i, CKPT_PLACE_WAIT);
    }
    now += milliseconds(5);
    machine.tick(now);
    now += milliseconds(20);
    machine.tick(now);
    settle();
    EXPECT_EQ(page_clocks[1][1].target, 4u);
}

TEST_F(Machine, ARankThatRunsIsNoStall)
{
    page_clocks[2][0] = {world, 3, 3, 0, 3};
    request();
    all(&Machine::report_free);
    report(0, CKPT_PLACE_GATE);
    report(1, CKPT_PLACE_GATE);
    now += seconds(5); /* rank 2 computes */
    machine.tick(now);
    settle();
    EXPECT_EQ(page_clocks[0][0].target, 5u);
}

TEST_F(Machine, TargetsOfAFreedCommunicatorStand)
{
    page_clocks[0] = {{world, 5, 5, 0, 5}, {9, 3, 3, 0, 3}};
    page_clocks[1] = {{world, 5, 5, 0, 5}, {9, 2, 2, 0, 2}};
    request();
    all(&Machine::report_free);
    page_clocks[0][1].id = 0;
    machine.tick(now);
    settle();
    EXPECT_EQ(machine.phase(), Phase::align);
    EXPECT_EQ(page_clocks[1][1].target, 3u);
}

TEST_F(Machine, ARefusalEndsIt)
{
    request();
    report(0);
    ckpt_message message{};
    message.type = CKPT_MSG_REFUSED;
    message.epoch = epoch;
    std::strcpy(message.text, "a window");
    machine.message(1, message, now);
    settle();
    expect_given_up("rank 1: a window");
    for (int i = 0; i < count; i++) {
        EXPECT_EQ(orders[i].back().type, CKPT_MSG_RESUME);
        EXPECT_EQ(orders[i].back().argument, 1u);
        EXPECT_EQ(orders[i].back().text, "rank 1: a window");
    }
    finish.reset();
    report(2); /* late: dropped */
    to_write(); /* the next one works */
}

TEST_F(Machine, AnswersToAnEarlierCheckpointAreDropped)
{
    request();
    machine.failed("x", now);
    settle();
    request();
    report(0);
    report(1);
    ckpt_message late{};
    late.type = CKPT_MSG_REPORT;
    late.epoch = epoch - 1;
    late.arg[0] = CKPT_PLACE_FREE;
    late.arg[3] = 1;
    machine.message(2, late, now);
    settle();
    EXPECT_EQ(machine.phase(), Phase::align); /* rank 2 has not reported */
    report(2);
    EXPECT_EQ(machine.phase(), Phase::stop);
}

TEST_F(Machine, ADeathInEachPhaseEndsIt)
{
    void (Machine::*const steps[])(int) = {&Machine::report_free,
                                           &Machine::stopped, &Machine::drained,
                                           &Machine::ready};
    for (int phase = 0; phase <= 4; phase++) {
        SCOPED_TRACE(phase);
        finish.reset();
        others.clear();
        request();
        for (int i = 0; i < phase; i++) {
            all(steps[i]);
        }
        take_orders(0), take_orders(2);
        machine.gone(1, now);
        settle();
        EXPECT_EQ(take_orders(0), Types({CKPT_MSG_RESUME}));
        EXPECT_EQ(take_orders(2), Types({CKPT_MSG_RESUME}));
        if (phase == 4) { /* files are being written */
            EXPECT_TRUE(took<action::Capture>());
            EXPECT_TRUE(took<action::Undo>());
            EXPECT_FALSE(finish);
            machine.undone(now);
            settle();
        }
        expect_given_up("rank 1 has died");
        EXPECT_EQ(machine.obstacle(), "rank 1 has died: the job is ending");
        machine.hello(1);
        EXPECT_EQ(machine.obstacle(), "");
    }
}

TEST_F(Machine, ARankThatIsCapturedMayDie)
{
    to_write();
    machine.captured(1, now);
    machine.gone(1, now);
    machine.captured(0, now);
    machine.captured(2, now);
    machine.written();
    machine.committed(now);
    settle();
    EXPECT_TRUE(finish->committed);
}

TEST_F(Machine, RanksThatShareMemoryGoOnTogether)
{
    const bool shares[count] = {true, false, true};

    request();
    all(&Machine::report_free);
    all(&Machine::stopped);
    all(&Machine::drained);
    for (int i = 0; i < count; i++) {
        shares[i] ? ready_shared(i) : ready(i);
    }
    all(&Machine::forget_orders);
    machine.captured(0, now);
    machine.captured(1, now);
    settle();
    EXPECT_EQ(take_orders(0), Types()); /* rank 2 is not yet read */
    EXPECT_EQ(take_orders(1), Types({CKPT_MSG_RESUME}));
    machine.captured(2, now);
    settle();
    EXPECT_EQ(take_orders(0), Types({CKPT_MSG_RESUME}));
    EXPECT_EQ(take_orders(2), Types({CKPT_MSG_RESUME}));
    EXPECT_EQ(take_orders(1), Types());
}

TEST_F(Machine, ConnectionsBetweenRanksAreSavedWhenNobodySends)
{
    const Types again({CKPT_MSG_SAVE});

    request();
    all(&Machine::report_free);
    all(&Machine::stopped);
    all(&Machine::drained);
    for (int round = 0; round < 3; round++) {
        EXPECT_EQ(machine.phase(), Phase::save);
        all(&Machine::forget_orders);
        ready(0);
        ready_with(1, CKPT_READY_LEADS_OUT);
        EXPECT_EQ(take_orders(0), Types()); /* not before all are ready */
        ready(2);
        for (int i = 0; i < count && round < 2; i++) {
            EXPECT_EQ(take_orders(i), again);
        }
    }
    EXPECT_EQ(machine.phase(), Phase::write);
    machine.failed("no space left", now);
    settle();
    for (int i = 0; i < count; i++) {
        EXPECT_EQ(take_orders(i), Types({CKPT_MSG_RESUME}));
    }
}

TEST_F(Machine, AFailureLetsRanksThatShareMemoryGo)
{
    request();
    all(&Machine::report_free);
    all(&Machine::stopped);
    all(&Machine::drained);
    all(&Machine::ready_shared);
    machine.captured(0, now);
    settle();
    all(&Machine::forget_orders);
    machine.failed("no space left", now);
    settle();
    for (int i = 0; i < count; i++) {
        EXPECT_EQ(take_orders(i), Types({CKPT_MSG_RESUME}));
    }
}

TEST_F(Machine, AFailureInTheWriteLetsTheRestGo)
{
    to_write();
    machine.captured(0, now);
    settle();
    take_orders(0), take_orders(1);
    machine.failed("no space left", now);
    settle();
    EXPECT_EQ(take_orders(0), Types()); /* has gone on already */
    EXPECT_EQ(take_orders(1), Types({CKPT_MSG_RESUME}));
    machine.captured(1, now); /* what was under way; dropped */
    machine.written();
    settle();
    EXPECT_FALSE(finish);
    machine.undone(now);
    settle();
    expect_given_up("no space left");
}

TEST_F(Machine, AFailedCommitIsUndone)
{
    to_write();
    for (int i = 0; i < count; i++) {
        machine.captured(i, now);
    }
    machine.written();
    settle();
    EXPECT_EQ(machine.phase(), Phase::commit);
    EXPECT_FALSE(machine.deadline());
    machine.failed("no manifest", now);
    machine.undone(now);
    settle();
    expect_given_up("no manifest");
}

TEST_F(Machine, ATimeoutEndsIt)
{
    request();
    report(0);
    EXPECT_EQ(machine.deadline(), now + seconds(60));
    now += seconds(60);
    machine.tick(now);
    settle();
    expect_given_up("not done after 60 s: 1 of 3 ranks were through with "
                    "phase align");
}

TEST_F(Machine, KillHoldsAllRanksUntilTheCommit)
{
    to_write(true);
    take_orders(0);
    for (int i = 0; i < count; i++) {
        machine.captured(i, now);
    }
    machine.written();
    settle();
    EXPECT_EQ(take_orders(0), Types());
    EXPECT_TRUE(took<action::Capture>());
    EXPECT_TRUE(took<action::Commit>());
    now += seconds(3);
    machine.committed(now);
    settle();
    EXPECT_TRUE(took<action::Kill>());
    EXPECT_TRUE(finish->committed);
    EXPECT_EQ(machine.times().stop, 3);
}

TEST_F(Machine, AKillThatFailsLetsAllRanksGo)
{
    to_write(true);
    machine.captured(0, now);
    machine.failed("x", now);
    settle();
    EXPECT_EQ(take_orders(0).back(), CKPT_MSG_RESUME);
}

TEST_F(Machine, ASecondRequestMayJoinUntilStop)
{
    request();
    EXPECT_TRUE(machine.may_join());
    machine.join(false);
    all(&Machine::report_free);
    EXPECT_FALSE(machine.may_join());
}

TEST_F(Machine, ObstaclesNameTheReason)
{
    EXPECT_EQ(machine.obstacle(), "");
    machine.goodbye(2, now);
    EXPECT_EQ(machine.obstacle(), "rank 2 has already called MPI_Finalize");
    machine.gone(2, now); /* as is right after that */
    EXPECT_EQ(machine.obstacle(), "rank 2 has already called MPI_Finalize");

    SyncAndStop fresh(count, *this, options());
    fresh.hello(1);
    EXPECT_EQ(fresh.obstacle(), "the job is still starting: 1 of 3 ranks have "
                                "called MPI_Init");
}

/*
 * Random programs with messages and overlapping communicators, checkpoints at
 * random moments, some of which fail: every cut that is saved is consistent
 * (see SimulatedJob::check_cut) and every program comes to its end.
 */
TEST(SimulatedJobs, EveryCutIsConsistentAndEveryJobEnds)
{
    constexpr unsigned seeds = 1000;
    int committed = 0, given_up = 0, saved_inside = 0, begun_again = 0;
    int runs = 0;

    for (unsigned seed = 0; seed < seeds; seed++) {
        test::SimulatedJob job(seed);
        ASSERT_EQ(job.run(), "") << "seed " << seed;
        committed += job.committed();
        given_up += job.given_up();
        saved_inside += job.saved_inside();
        begun_again += job.begun_again();
        runs += job.runs_ordered();
    }
    /* The interesting cases did come up. */
    EXPECT_GT(committed, 1000);
    EXPECT_GT(given_up, 500);
    EXPECT_GT(saved_inside, 500);
    EXPECT_GT(begun_again, 500);
    EXPECT_GT(runs, 5000);
}

} // namespace ckpt
