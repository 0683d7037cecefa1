/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_lost_agent.cpp - a Chandy-Lamport or network-sweeping checkpoint that loses an agent, and
 * which cuts of ranks are known.
 */
#include "tests/protocol/nonblocking_machine.hpp"

namespace ckpt::test
{

class LostAgent : public NonblockingCut
{
  public:
    /* The new agent knows its rank from the rank's HELLO. */
    void back(int rank, RankCut cut)
    {
        machine.hello(rank, cut, now);
        settle();
    }
    void all_away()
    {
        for (int i = 0; i < count; i++) {
            machine.agent_lost(i, now);
        }
        settle();
    }
    RankCut open_rank() const { return {epoch, true, false}; }
    RankCut in_doubt() const { return {epoch - 1, false, true}; }

    void complete_all(int rank)
    {
        ckpt_message message = make_message(CKPT_MSG_COMPLETE, epoch);
        message.as.complete = {CKPT_CUT_MARKERS, 0, 1};
        send(rank, message);
    }
};

TEST_F(LostAgent, RanksThatWereNotCutWaitForItsReturn)
{
    to_cut(Protocol::chandy_lamport);
    cut_and_captured(0, 1);
    answer_cut(1, 1);
    forget_all();
    machine.agent_lost(2, now);
    settle();
    EXPECT_EQ(take_orders(0), Types{}); /* it runs */
    EXPECT_EQ(ordered(1, CKPT_MSG_RESUME).end.outcome, CKPT_LEFT_OPEN);
    machine.undone(now);
    settle();
    expect_given_up(CKPT_REFUSAL_AGENT_LOST, "the agent of rank 2 was lost");
}

TEST_F(LostAgent, TheCutGoesOnToItsEndWhenAllAreHere)
{
    to_cut(Protocol::chandy_lamport);
    cut_and_captured(0, 1);
    machine.agent_lost(2, now);
    machine.undone(now);
    settle();
    forget_all();
    sent_count[0][2] = 5;
    back(2, in_doubt());
    ASSERT_EQ(machine.phase(), Phase::cut);
    EXPECT_TRUE(machine.is_settling());
    EXPECT_EQ(take_orders(0), Types{});
    EXPECT_EQ(take_orders(1), Types{CKPT_MSG_CUT});
    EXPECT_EQ(take_orders(2), Types{CKPT_MSG_CUT});
    refuse(1, "no log");
    answer_cut(2, 1);
    ASSERT_EQ(machine.phase(), Phase::log);
    EXPECT_EQ(expected[2], (std::vector<std::uint64_t>{5, 0, 0}));
    EXPECT_EQ(ordered(CKPT_MSG_COUNTS), count);
    for (int i = 0; i < count; i++) {
        EXPECT_EQ(ordered(CKPT_MSG_CLOSE), 0);
        complete_all(i);
    }
    for (int i = 0; i < count; i++) {
        EXPECT_EQ(ordered(i, CKPT_MSG_CLOSE).end.outcome, given_up);
        logged(i, 0, 0);
    }
    EXPECT_EQ(machine.phase(), Phase::idle);
    EXPECT_TRUE(took<action::Settled>());
    EXPECT_EQ(machine.obstacle().text(), "");
}

TEST_F(LostAgent, WhoeverHasClosedNeedsNothing)
{
    all_away();
    epoch = 7;
    back(0, open_rank());
    back(1, {epoch, false, false});
    EXPECT_EQ(machine.phase(), Phase::idle);
    back(2, open_rank());
    ASSERT_EQ(machine.phase(), Phase::log);
    EXPECT_EQ(machine.epoch(), 7u);
    EXPECT_EQ(ordered(CKPT_MSG_CUT), 0);
    complete_all(0);
    complete_all(2);
    logged(0, 0, 0);
    logged(2, 0, 0);
    EXPECT_EQ(machine.phase(), Phase::idle);
}

TEST_F(LostAgent, IfNobodyWasCutAllGoOn)
{
    all_away();
    epoch = 1;
    back(0, in_doubt());
    back(1, in_doubt());
    EXPECT_EQ(ordered(CKPT_MSG_RESUME), 0);
    back(2, {});
    EXPECT_EQ(ordered(CKPT_MSG_RESUME), count);
    EXPECT_EQ(machine.phase(), Phase::idle);
}

TEST_F(LostAgent, ItMayBeLostAgain)
{
    all_away();
    epoch = 7;
    back(0, open_rank());
    back(1, in_doubt());
    back(2, in_doubt());
    ASSERT_EQ(machine.phase(), Phase::cut);
    refuse(1, "no log");
    machine.agent_lost(2, now);
    settle();
    EXPECT_EQ(machine.phase(), Phase::idle);
    forget_all();
    back(2, in_doubt());
    ASSERT_EQ(machine.phase(), Phase::cut);
    EXPECT_EQ(take_orders(1), Types{}); /* already cut */
    EXPECT_EQ(take_orders(2), Types{CKPT_MSG_CUT});
}

TEST_F(LostAgent, AnAnswerToCutThatComesAfterTheLossCounts)
{
    to_cut(Protocol::chandy_lamport);
    machine.agent_lost(2, now);
    settle();
    answer_cut(0, 1); /* CUT has come before RESUME (CKPT_LEFT_OPEN) */
    machine.undone(now);
    settle();
    forget_all();
    back(2, in_doubt());
    EXPECT_EQ(machine.phase(), Phase::cut);
    EXPECT_EQ(ordered(CKPT_MSG_RESUME), 0);
    EXPECT_EQ(take_orders(0), Types{});
    EXPECT_EQ(take_orders(1), Types{CKPT_MSG_CUT}); /* it has not answered */
    EXPECT_EQ(take_orders(2), Types{CKPT_MSG_CUT});
}

TEST_F(LostAgent, ACutThatNobodyHasAnsweredIsFinished)
{
    to_cut(Protocol::chandy_lamport);
    machine.agent_lost(2, now);
    machine.undone(now);
    settle();
    forget_all();
    back(2, in_doubt());
    EXPECT_EQ(machine.phase(), Phase::cut);
    EXPECT_EQ(ordered(CKPT_MSG_CUT), count);
    answer_cut(0, 1); /* to the first order */
    refuse(0, "the rank has been cut before");
    EXPECT_EQ(machine.phase(), Phase::cut);
    refuse(1, "no log");
    refuse(2, "no log");
    EXPECT_EQ(machine.phase(), Phase::log);
}

TEST_F(LostAgent, AnotherCoordinatorFinishesWhatWasAsked)
{
    all_away();
    epoch = 7;
    back(0, {6, false, true, 7});
    back(1, in_doubt());
    back(2, in_doubt());
    EXPECT_EQ(machine.phase(), Phase::cut);
    EXPECT_EQ(machine.epoch(), 7u);
    EXPECT_EQ(ordered(CKPT_MSG_CUT), count);
}

TEST_F(LostAgent, ALogThatWasClosedAfterTheLossCounts)
{
    for (bool late : {false, true}) {
        forget_all();
        to_cut(Protocol::chandy_lamport);
        for (int i = 0; i < count; i++) {
            cut_and_captured(i, 0);
        }
        ASSERT_EQ(ordered(CKPT_MSG_CLOSE), count);
        machine.agent_lost(2, now);
        settle();
        if (!late) {
            logged(0, 0, 0);
        }
        machine.undone(now);
        settle();
        back(2, open_rank());
        if (late) {
            logged(0, 0, 0);
        }
        complete_all(1);
        complete_all(2);
        logged(1, 0, 0);
        logged(2, 0, 0);
        EXPECT_EQ(machine.phase(), Phase::idle) << late;
    }
}

TEST_F(LostAgent, LogsThatAreAllClosedMeanwhileAreTheEnd)
{
    to_cut(Protocol::chandy_lamport);
    for (int i = 0; i < count; i++) {
        cut_and_captured(i, 0);
    }
    machine.agent_lost(2, now);
    machine.undone(now);
    settle();
    back(2, {epoch, false, false});
    EXPECT_EQ(machine.phase(), Phase::log);
    logged(0, 0, 0);
    refuse(1, "no space for the log");
    EXPECT_EQ(machine.phase(), Phase::idle);
    EXPECT_EQ(machine.obstacle().text(), "");
}

TEST(RankCutWatch, FollowsACheckpoint)
{
    RankCutWatch watch;
    ckpt_message ready{};
    ckpt_message over{};

    ready.type = CKPT_MSG_READY;
    over.type = CKPT_MSG_LOGGED;
    ready.epoch = over.epoch = 3;
    watch.ordered(CKPT_MSG_REQUEST, 3, {.request = {1, 0}});
    EXPECT_TRUE(watch.cut().in_doubt);
    watch.ordered(CKPT_MSG_CUT, 3, {.cut = {CKPT_CUT_MARKERS, 0}});
    EXPECT_TRUE(watch.cut().in_doubt);
    EXPECT_EQ(watch.cut().asked, 3u);
    /* The messages have crossed. */
    watch.ordered(CKPT_MSG_RESUME, 3, {.end = {CKPT_LEFT_OPEN}});
    EXPECT_TRUE(watch.cut().in_doubt);
    watch.answered(ready);
    EXPECT_EQ(watch.cut().epoch, 3u);
    EXPECT_TRUE(watch.cut().open);
    EXPECT_EQ(watch.cut().asked, 0u);
    EXPECT_FALSE(watch.cut().in_doubt);
    watch.ordered(CKPT_MSG_CLOSE, 3, {.end = {CKPT_CAPTURED}});
    watch.answered(over);
    EXPECT_FALSE(watch.cut().open);
}

TEST(RankCutWatch, SyncAndStopLeavesNoDoubt)
{
    RankCutWatch watch;
    ckpt_message ready{};

    ready.type = CKPT_MSG_READY;
    watch.ordered(CKPT_MSG_REQUEST, 3, {.request = {1, 0}});
    watch.ordered(CKPT_MSG_STOP, 3, {});
    EXPECT_FALSE(watch.cut().in_doubt);
    watch.answered(ready);
    EXPECT_FALSE(watch.cut().open);
}

} // namespace ckpt::test
