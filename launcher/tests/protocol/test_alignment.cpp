/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_alignment.cpp - the coordinator brings ranks to a cut of their collectives, and through
 * Sync-and-Stop: a test for each path.
 */
#include "tests/protocol/cut_machine.hpp"

namespace ckpt::test
{

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
    machine.written(now);
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
    machine.tick(now); /* noticed without a report */
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

TEST_F(Machine, ACollectiveThatAllHaveEnteredIsLeftBeforeACutInMotion)
{
    for (auto &clocks : page_clocks) {
        clocks[0].entered = 6;
    }
    request(false, {Protocol::chandy_lamport, {}});
    for (int i = 0; i < count; i++) {
        report_inside(i, redo);
    }
    EXPECT_EQ(machine.phase(), Phase::align);
    EXPECT_EQ(page_clocks[0][0].target, 6u);
    for (auto &clocks : page_clocks) {
        clocks[0].left = clocks[0].settled = 6;
    }
    all(&Machine::report_free);
    EXPECT_EQ(machine.phase(), Phase::open);
}

TEST_F(Machine, ACollectiveThatOneHasNotEnteredIsCutInTwoInMotion)
{
    page_clocks[0][0].entered = page_clocks[1][0].entered = 6;
    request(false, {Protocol::chandy_lamport, {}});
    report_inside(0, redo);
    report_inside(1, redo);
    report(2);
    EXPECT_EQ(machine.phase(), Phase::open);
    EXPECT_EQ(page_clocks[0][0].target, 5u);
}

/* Rank 1 may get a question about a synchronous send before its sender enters. */
TEST_F(Machine, WithSynchronousSendsNobodyIsCutInsideInMotion)
{
    page_clocks[0][0].entered = page_clocks[1][0].entered = 6;
    request(false, {Protocol::chandy_lamport, {}});
    report_inside(0, redo);
    report_inside(1, redo);
    report_running(2, CKPT_REPORT_SYNCHRONOUS);
    EXPECT_EQ(machine.phase(), Phase::align);
    EXPECT_EQ(page_clocks[2][0].target, 6u);
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
    page_clocks[1][0] = {world, 8, 8, 0, 5}; /* three are begun */
    page_clocks[2][0] = {world, 7, 7, 0, 6}; /* has completed one finally */
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
    /* The rank left before the signal came. */
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
    EXPECT_EQ(page_clocks[0][0].target, 6u);        /* so that it gets out */
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
    /* Its answer to SAVE comes too late and must have no effect. */
    ready(1);
    EXPECT_EQ(machine.phase(), Phase::align);
    EXPECT_TRUE(others.empty());
}

TEST_F(Machine, AStallOpensTheGateThatIsInTheWay)
{
    /* Rank 2 lags in the world; it waits for a message from rank 1, which is at the gate of another
     * communicator, 9. Rank 0 is at the world's gate. */
    page_clocks[2] = {{world, 4, 4, 0, 4}, {9, 2, 2, 0, 2}};
    page_clocks[1] = {{world, 5, 5, 0, 5}, {9, 2, 2, 0, 2}};
    request();
    all(&Machine::report_free);
    report(0, CKPT_PLACE_GATE);
    report_gate(1, 1);
    report(2, CKPT_PLACE_WAIT);
    take_orders(0), take_orders(1);
    now += milliseconds(1);
    machine.tick(now);
    EXPECT_EQ(page_clocks[1][1].target, 2u); /* perhaps it is just slow */
    now += milliseconds(50);
    machine.tick(now);
    settle();
    EXPECT_EQ(page_clocks[1][1].target, 3u);
    EXPECT_EQ(page_clocks[2][1].target, 3u);
    EXPECT_EQ(page_clocks[0][0].target, 5u);
    EXPECT_EQ(take_orders(1), Types({CKPT_MSG_RUN}));
    EXPECT_EQ(take_orders(0), Types());
}

/* Rank 2 lags in the world. It was told to run, and makes a communicator with rank 0, which is at
 * the gate of another communicator, 9. */
class AskedWhere : public Machine
{
  public:
    AskedWhere()
    {
        page_clocks[0] = page_clocks[1] = {{world, 5, 5, 0, 5}, {9, 2, 2, 0, 2}};
        page_clocks[2] = {{world, 4, 4, 0, 4}};
        request();
        all(&Machine::report_free);
        for (int i = 0; i < count; i++) {
            take_orders(i);
        }
        report_gate(0, 1);
        report_gate(1, 1);
    }

    void pass(milliseconds time)
    {
        now += time;
        machine.tick(now);
        settle();
    }
};

TEST_F(AskedWhere, ACallWithoutAClockThatWaitsForAGateIsAStall)
{
    pass(milliseconds(1));
    EXPECT_EQ(take_orders(2), Types()); /* perhaps it is just slow */
    pass(milliseconds(20));
    ASSERT_EQ(orders[2].size(), 1u);
    EXPECT_TRUE(orders[2][0].signal);
    EXPECT_EQ(take_orders(2), Types({CKPT_MSG_WHERE}));
    EXPECT_EQ(take_orders(0), Types()); /* it holds */
    report_inside(2, 0);
    pass(milliseconds(1));
    EXPECT_EQ(page_clocks[0][1].target, 2u);
    pass(milliseconds(20));
    EXPECT_EQ(page_clocks[0][1].target, 3u);
    EXPECT_EQ(take_orders(0), Types({CKPT_MSG_RUN}));
    EXPECT_EQ(take_orders(1), Types({CKPT_MSG_RUN}));
    EXPECT_EQ(take_orders(2), Types());
}

TEST_F(AskedWhere, OneThatComputesIsAskedLessAndLessOften)
{
    for (int i = 0; i < 5000; i++) {
        pass(milliseconds(2));
    }
    const std::size_t asked = take_orders(2).size();
    EXPECT_GE(asked, 10u);
    EXPECT_LE(asked, 40u);
}

/* The rank may wait for memory that rank 0 writes after the gate. */
TEST_F(AskedWhere, OneThatSeemsToComputeForLongMayWaitOutsideOfMpi)
{
    for (int i = 0; i < 200; i++) {
        pass(milliseconds(2));
    }
    EXPECT_EQ(page_clocks[0][1].target, 2u); /* it may really compute */
    for (int i = 0; i < 100; i++) {
        pass(milliseconds(2));
    }
    EXPECT_EQ(page_clocks[0][1].target, 3u);
    /* The world's gate stays shut; rank 0 is below its target. */
    EXPECT_EQ(page_clocks[0][0].target, 5u);
    ASSERT_FALSE(orders[0].empty());
    EXPECT_EQ(orders[0].front().type, CKPT_MSG_RUN);
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
    EXPECT_EQ(take_orders(1), Types()); /* it runs without an order */
    EXPECT_EQ(machine.phase(), Phase::align);
}

/* A thread's report about its gate no longer counts after the thread has passed the gate. */
TEST_F(Machine, AGateThatAThreadHasPassedStaysShut)
{
    for (auto &page : page_clocks) {
        page.push_back({9, 4, 4, 0, 4});
    }
    page_clocks[0][0] = {world, 6, 6, 0, 6};
    request();
    all(&Machine::report_free);
    for (int i = 0; i < count; i++) {
        report_gate_of_thread(i, 1, 3); /* the report comes late */
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

} // namespace ckpt::test
