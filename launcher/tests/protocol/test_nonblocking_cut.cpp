/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_nonblocking_cut.cpp - the coordinator in Chandy-Lamport and network sweeping: a test for
 * each path.
 */
#include "common/invariant.hpp"
#include "tests/protocol/nonblocking_machine.hpp"

namespace ckpt::test
{

TEST_F(NonblockingCut, ChandyLamportTheStraightWay)
{
    to_cut(Protocol::chandy_lamport);
    for (int i = 0; i < count; i++) {
        EXPECT_EQ(ordered(i, CKPT_MSG_CUT).cut.kind, CKPT_CUT_MARKERS);
    }
    forget_all();
    cut_and_captured(0, 2);
    EXPECT_EQ(take_orders(0), Types{CKPT_MSG_RESUME}); /* for no other rank */
    cut_and_captured(1, 1);
    complete(0, 1); /* before the last one was cut */
    cut_and_captured(2, 0);
    ASSERT_EQ(machine.phase(), Phase::log);
    EXPECT_EQ(ordered(CKPT_MSG_COUNTS), count);
    complete(1, 1);
    EXPECT_EQ(ordered(CKPT_MSG_CLOSE), 0);
    complete(2, 1);
    EXPECT_EQ(ordered(CKPT_MSG_CLOSE), count);
    to_commit();
    ASSERT_TRUE(finish && finish->committed);
    EXPECT_EQ(machine.protocol(), Protocol::chandy_lamport);
    EXPECT_EQ(machine.logged().messages, 6u);
    EXPECT_EQ(machine.logged().bytes, 300u);
}

TEST_F(NonblockingCut, InASweepTheAgentsTellTheCounts)
{
    to_cut(Protocol::network_sweep);
    for (int i = 0; i < count; i++) {
        EXPECT_EQ(ordered(i, CKPT_MSG_CUT).cut.kind, CKPT_CUT_SWEEP);
        cut_and_captured(i, 1);
    }
    ASSERT_EQ(machine.phase(), Phase::log);
    EXPECT_EQ(ordered(CKPT_MSG_COUNTS), 0);
    for (int i = 0; i < count; i++) {
        EXPECT_EQ(ordered(CKPT_MSG_CLOSE), 0);
        complete(i, 1);
    }
    to_commit();
    ASSERT_TRUE(finish && finish->committed);
    EXPECT_EQ(machine.protocol(), Protocol::network_sweep);
}

TEST_F(NonblockingCut, ASweepThatFailsIsReplaced)
{
    sent_count[1][0] = 7;
    to_cut(Protocol::network_sweep);
    cut_and_captured(0, 1);
    machine.sweep_failed();
    settle();
    EXPECT_EQ(ordered(CKPT_MSG_COUNTS), 0); /* they are not known yet */
    cut_and_captured(1, 1);
    cut_and_captured(2, 1);
    EXPECT_EQ(ordered(CKPT_MSG_COUNTS), count);
    EXPECT_EQ(expected[0], (std::vector<std::uint64_t>{0, 7, 0}));
}

TEST_F(NonblockingCut, ASweepThatFailsLateIsReplacedToo)
{
    to_cut(Protocol::network_sweep);
    for (int i = 0; i < count; i++) {
        cut_and_captured(i, 1);
    }
    machine.sweep_failed();
    settle();
    EXPECT_EQ(ordered(CKPT_MSG_COUNTS), count);
}

TEST_F(NonblockingCut, WithoutMessagesNobodyIsToldCounts)
{
    to_cut(Protocol::network_sweep, {}, true);
    EXPECT_FALSE(machine.is_sweeping());
    for (int i = 0; i < count; i++) {
        EXPECT_EQ(ordered(i, CKPT_MSG_CUT).cut.kind, CKPT_CUT_QUIET);
        cut_and_captured(i, 0);
    }
    EXPECT_EQ(ordered(CKPT_MSG_COUNTS), 0);
    EXPECT_EQ(ordered(CKPT_MSG_CLOSE), count);
    to_commit();
    ASSERT_TRUE(finish && finish->committed);
    EXPECT_EQ(machine.protocol(), Protocol::network_sweep);
}

TEST_F(NonblockingCut, AMessageBeforeTheCutBreaksTheQuiet)
{
    sent_count[2][1] = 4;
    to_cut(Protocol::chandy_lamport, {}, true);
    cut_and_captured(0, 0);
    cut_and_captured(1, 0);
    cut_and_captured(2, 1);
    EXPECT_EQ(ordered(CKPT_MSG_COUNTS), count);
    EXPECT_EQ(expected[1], (std::vector<std::uint64_t>{0, 0, 4}));
    for (int i = 0; i < count; i++) {
        EXPECT_EQ(ordered(CKPT_MSG_CLOSE), 0);
        complete(i, 1);
    }
    EXPECT_EQ(ordered(CKPT_MSG_CLOSE), count);
}

TEST_F(NonblockingCut, StaggeredOneAfterTheOther)
{
    to_cut(Protocol::chandy_lamport, {{0, 1, 2}});
    EXPECT_EQ(ordered(CKPT_MSG_CUT), 1);
    EXPECT_EQ(take_orders(0), Types{CKPT_MSG_CUT});
    answer_cut(0, 0);
    EXPECT_EQ(ordered(CKPT_MSG_CUT), 0); /* it is being read */
    report_waiting(2);                   /* so it comes before rank 1 */
    captured(0);
    EXPECT_EQ(take_orders(2), Types{CKPT_MSG_CUT});
    EXPECT_EQ(ordered(CKPT_MSG_CUT), 0);
    cut_and_captured(2, 0);
    EXPECT_EQ(take_orders(1), Types{CKPT_MSG_CUT});
    cut_and_captured(1, 0);
    EXPECT_EQ(machine.phase(), Phase::close);
}

TEST_F(NonblockingCut, StaggeredInTheOrderOfTheLane)
{
    to_cut(Protocol::network_sweep, {{2, 0, 1}});
    EXPECT_EQ(take_orders(2), Types{CKPT_MSG_CUT});
    EXPECT_EQ(ordered(CKPT_MSG_CUT), 0);
    cut_and_captured(2, 1);
    EXPECT_EQ(take_orders(0), Types{CKPT_MSG_CUT});
    EXPECT_EQ(ordered(CKPT_MSG_CUT), 0);
    cut_and_captured(0, 1);
    EXPECT_EQ(take_orders(1), Types{CKPT_MSG_CUT});
}

TEST_F(NonblockingCut, LanesAreStaggeredApart)
{
    to_cut(Protocol::network_sweep, {{0, 2}, {1}});
    EXPECT_EQ(take_orders(0), Types{CKPT_MSG_CUT});
    EXPECT_EQ(take_orders(1), Types{CKPT_MSG_CUT});
    EXPECT_EQ(take_orders(2), Types{});
    cut_and_captured(1, 1);
    EXPECT_EQ(take_orders(2), Types{});
    cut_and_captured(0, 1);
    EXPECT_EQ(take_orders(2), Types{CKPT_MSG_CUT});
}

TEST_F(NonblockingCut, ARankThatDoesNotAnswerLosesItsTurn)
{
    to_cut(Protocol::chandy_lamport, {{0, 1, 2}});
    forget_all();
    now += milliseconds(99);
    machine.tick(now);
    settle();
    EXPECT_EQ(ordered(CKPT_MSG_CUT), 0);
    now += milliseconds(1);
    machine.tick(now);
    settle();
    EXPECT_EQ(ordered(1, CKPT_MSG_CUT).cut.kind, CKPT_CUT_MARKERS);
    EXPECT_EQ(ordered(CKPT_MSG_CUT), 1);
}

TEST_F(NonblockingCut, ARefusalGoesOnToTheEndAndIsTriedOtherwise)
{
    to_cut(Protocol::chandy_lamport, {{0, 1, 2}});
    forget_all();
    refuse(0, "the lower half is busy", 1, CKPT_REFUSAL_LIBRARY_BUSY);
    EXPECT_EQ(ordered(1, CKPT_MSG_CUT).cut.kind, CKPT_CUT_MARKERS); /* all at once now */
    EXPECT_EQ(ordered(2, CKPT_MSG_CUT).cut.kind, CKPT_CUT_MARKERS);
    answer_cut(1, 0);
    EXPECT_EQ(ordered(1, CKPT_MSG_RESUME).end.outcome, given_up); /* and is not read */
    EXPECT_TRUE(others.empty());
    answer_cut(2, 0);
    ASSERT_EQ(machine.phase(), Phase::log);
    EXPECT_FALSE(finish.has_value());
    complete(1, 1);
    for (int i = 0; i < count; i++) {
        EXPECT_EQ(ordered(i, CKPT_MSG_CLOSE).end.outcome, given_up);
        logged(i, 0, 0);
    }
    ASSERT_TRUE(took<action::Undo>());
    machine.undone(now);
    settle();
    expect_given_up(CKPT_REFUSAL_LIBRARY_BUSY, "rank 0: the lower half is busy");
    EXPECT_TRUE(finish->retry);
}

TEST_F(NonblockingCut, AFailureInTheCutIsNotTriedOtherwise)
{
    to_cut(Protocol::chandy_lamport);
    cut_and_captured(0, 0);
    machine.failed({CKPT_REFUSAL_NO_SPACE, "no space"}, now);
    settle();
    answer_cut(1, 0);
    answer_cut(2, 0);
    for (int i = 0; i < count; i++) {
        logged(i, 0, 0);
    }
    machine.undone(now);
    settle();
    expect_given_up(CKPT_REFUSAL_NO_SPACE, "no space");
    EXPECT_FALSE(finish->retry);
}

TEST_F(NonblockingCut, AFailureInOpenEndsItAtOnce)
{
    request(false, {Protocol::network_sweep, {}});
    for (int i = 0; i < count; i++) {
        report_running(i);
    }
    ASSERT_EQ(machine.phase(), Phase::open);
    others.clear();
    machine.failed({CKPT_REFUSAL_UNUSABLE_DIRECTORY, "no directory"}, now);
    settle();
    EXPECT_EQ(ordered(CKPT_MSG_RESUME), count);
    ASSERT_TRUE(took<action::Undo>());
    machine.undone(now);
    settle();
    expect_given_up(CKPT_REFUSAL_UNUSABLE_DIRECTORY, "no directory");
}

TEST_F(NonblockingCut, ALogThatCannotBeWrittenEndsIt)
{
    to_cut(Protocol::chandy_lamport);
    for (int i = 0; i < count; i++) {
        cut_and_captured(i, 0);
    }
    logged(0, 0, 0);
    refuse(1, "no space for the log");
    logged(2, 0, 0);
    ASSERT_EQ(machine.phase(), Phase::undo);
    machine.undone(now);
    settle();
    expect_given_up(CKPT_REFUSAL_NO_SPACE, "rank 1: no space for the log");
}

TEST_F(NonblockingCut, ARankThatSharesMemoryIsNotSavedAlone)
{
    to_cut(Protocol::chandy_lamport);
    ready_shared(0);
    EXPECT_EQ(ordered(0, CKPT_MSG_RESUME).end.outcome, given_up);
    EXPECT_EQ(machine.phase(), Phase::cut);
}

TEST_F(NonblockingCut, ARankThatNeedsOthersToStandStillMakesAllStandStill)
{
    request(false, {Protocol::chandy_lamport, {}});
    report_running(0);
    report_running(1);
    report_running(2, 0, CKPT_NEEDS_WINDOWS);
    EXPECT_EQ(machine.phase(), Phase::stop);
    EXPECT_EQ(machine.protocol(), Protocol::sync_and_stop);
}

TEST_F(NonblockingCut, AllHearThatSomeRankUsesSynchronousSends)
{
    request(false, {Protocol::chandy_lamport, {}});
    report_running(0);
    report_running(1);
    report_running(2, CKPT_REPORT_SYNCHRONOUS);
    machine.opened(now);
    settle();
    for (int i = 0; i < count; i++) {
        EXPECT_EQ(ordered(i, CKPT_MSG_CUT).cut.kind, CKPT_CUT_MARKERS);
        EXPECT_EQ(ordered(i, CKPT_MSG_CUT).cut.synchronous, 1u);
    }
}

TEST_F(NonblockingCut, AKillIsSyncAndStop)
{
    request(true, {Protocol::network_sweep, {}});
    for (int i = 0; i < count; i++) {
        EXPECT_EQ(ordered(i, CKPT_MSG_REQUEST).request.runs_on, 0u);
    }
    all(&Machine::report_free);
    EXPECT_EQ(machine.phase(), Phase::stop);
}

TEST_F(NonblockingCut, RanksAreRemindedWhereverTheyRun)
{
    to_cut(Protocol::chandy_lamport, {{0, 1, 2}});
    cut_and_captured(0, 0);
    forget_all();
    now += milliseconds(50);
    machine.tick(now);
    settle();
    EXPECT_EQ(take_orders(0), Types{CKPT_MSG_PROGRESS});
    EXPECT_EQ(take_orders(1), Types{}); /* it has been asked */
    EXPECT_EQ(take_orders(2), Types{CKPT_MSG_PROGRESS});
}

TEST_F(NonblockingCut, ADeathInEachPhaseEndsIt)
{
    for (int step = 0; step < 3; step++) {
        for (int i = 0; i < count; i++) {
            machine.hello(i);
        }
        finish.reset();
        others.clear();
        to_cut(Protocol::chandy_lamport);
        if (step > 0) {
            cut_and_captured(0, 0); /* it still has messages to log */
        }
        if (step > 1) {
            cut_and_captured(1, 0);
            answer_cut(2, 1);
            captured(2);
            ASSERT_EQ(machine.phase(), Phase::log);
        }
        machine.exited(0, now);
        settle();
        ASSERT_EQ(machine.phase(), Phase::undo) << step;
        machine.undone(now);
        settle();
        expect_given_up(CKPT_REFUSAL_RANK_DIED, "rank 0 has died");
    }
}

TEST_F(NonblockingCut, ARankThatIsReadBeforeItsCutMakesItFail)
{
    to_cut(Protocol::network_sweep);
    captured(0);
    EXPECT_EQ(machine.reason().name(), ckpt_refusal_name(CKPT_REFUSAL_INTERNAL_ERROR));
    EXPECT_EQ(machine.reason().detail(),
              "unexpected event 'captured' of rank 0 in phase CUT: the rank has not been cut yet, "
              "so its memory cannot be copied");
    for (int i = 0; i < count; i++) { /* nothing of it is kept, but the cut goes on to its end */
        answer_cut(i, 0);
    }
    EXPECT_EQ(machine.phase(), Phase::close);
}

/* A violated precondition of this process ends the call, and the ranks can still be let go. */
class CutPreconditions : public NonblockingCut
{
  public:
    ~CutPreconditions() override { forget_violations(); }
};

TEST_F(CutPreconditions, EachRankIsInALane)
{
    EXPECT_THROW(request(false, {Protocol::network_sweep, {{0}, {2}}}), InvariantViolated);
    EXPECT_EQ(machine.phase(), Phase::idle);
    request(false, {Protocol::network_sweep, {{0, 1}, {2}}});
    EXPECT_EQ(machine.phase(), Phase::align);
}

TEST_F(CutPreconditions, EventsAreOfRanksOfTheJob)
{
    request();
    EXPECT_THROW(machine.exited(count, now), InvariantViolated);
    EXPECT_THROW(machine.captured(-1, now), InvariantViolated);
    machine.failed(refusal_of_violation(), now);
    settle();
    ASSERT_TRUE(finish.has_value());
    EXPECT_EQ(finish->reason.name(), ckpt_refusal_name(CKPT_REFUSAL_INTERNAL_ERROR));
    for (int i = 0; i < count; i++) {
        EXPECT_EQ(take_orders(i).back(), CKPT_MSG_RESUME);
    }
}

TEST_F(CutPreconditions, OnlyARequestInAlignCanBeJoined)
{
    to_cut(Protocol::network_sweep);
    ASSERT_FALSE(machine.may_join());
    EXPECT_THROW(machine.join(true), InvariantViolated);
    EXPECT_FALSE(machine.will_kill());
}

} // namespace ckpt::test
