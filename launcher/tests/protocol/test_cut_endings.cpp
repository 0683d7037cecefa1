/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_cut_endings.cpp - the ends of a checkpoint other than its commit, and when each rank goes
 * on.
 */
#include "tests/protocol/cut_machine.hpp"

#include <cstring>

namespace ckpt::test
{

TEST_F(Machine, ARefusalEndsIt)
{
    request();
    report(0);
    ckpt_message message{};
    message.type = CKPT_MSG_REFUSED;
    message.epoch = epoch;
    message.as.refused.identity = CKPT_REFUSAL_UNSAVABLE_OBJECT;
    std::strcpy(message.text, "a window");
    machine.message(1, message, now);
    settle();
    expect_given_up(CKPT_REFUSAL_UNSAVABLE_OBJECT, "rank 1: a window");
    for (int i = 0; i < count; i++) {
        EXPECT_EQ(orders[i].back().type, CKPT_MSG_RESUME);
        EXPECT_EQ(orders[i].back().body.end.outcome, 1u);
        EXPECT_EQ(orders[i].back().text, "rank 1: a window [unsavable-object]");
    }
    finish.reset();
    report(2);  /* late: dropped */
    to_write(); /* the next one works */
}

/* The clocks are those of the rank's page, which is in the memory of another process. */
TEST_F(Machine, ARankInsideACommunicatorThatItDoesNotHaveIsRefused)
{
    page_clocks[1].push_back({});
    sent_count[0][1] = 1; /* so the rank has to leave its collective */
    for (const std::uint64_t slot : {1u, 2u, 999u}) {
        SCOPED_TRACE(slot);
        finish.reset();
        request();
        all(&Machine::report_free);
        stopped(0);
        stopped(2);
        ckpt_message message = make_message(CKPT_MSG_STOPPED, epoch);
        message.as.report.place = CKPT_PLACE_INSIDE;
        message.as.report.slot = slot;
        message.as.report.inside = redo;
        send(1, message);
        expect_given_up(CKPT_REFUSAL_INTERNAL_ERROR,
                        "rank 1 is inside a collective of a communicator that it does not have");
    }
}

TEST_F(Machine, AnswersToAnEarlierCheckpointAreDropped)
{
    request();
    machine.failed({CKPT_REFUSAL_SYSTEM_ERROR, "x"}, now);
    settle();
    request();
    report(0);
    report(1);
    ckpt_message late = make_message(CKPT_MSG_REPORT, epoch - 1);
    late.as.report.place = CKPT_PLACE_FREE;
    late.as.report.holds = 1;
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
        machine.exited(1, now);
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
        expect_given_up(CKPT_REFUSAL_RANK_DIED, "rank 1 has died");
        EXPECT_EQ(machine.obstacle().text(), "rank 1 has died: the job is ending [rank-died]");
        machine.hello(1);
        EXPECT_EQ(machine.obstacle().text(), "");
    }
}

TEST_F(Machine, ARankThatIsCapturedMayDie)
{
    to_write();
    machine.captured(1, now);
    machine.exited(1, now);
    machine.captured(0, now);
    machine.captured(2, now);
    machine.written(now);
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
    machine.failed({CKPT_REFUSAL_NO_SPACE, "no space left"}, now);
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
    machine.failed({CKPT_REFUSAL_NO_SPACE, "no space left"}, now);
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
    machine.failed({CKPT_REFUSAL_NO_SPACE, "no space left"}, now);
    settle();
    EXPECT_EQ(take_orders(0), Types()); /* has gone on already */
    EXPECT_EQ(take_orders(1), Types({CKPT_MSG_RESUME}));
    machine.captured(1, now); /* it was under way; dropped */
    machine.written(now);
    settle();
    EXPECT_FALSE(finish);
    machine.undone(now);
    settle();
    expect_given_up(CKPT_REFUSAL_NO_SPACE, "no space left");
}

TEST_F(Machine, AFailedCommitIsUndone)
{
    to_write();
    for (int i = 0; i < count; i++) {
        machine.captured(i, now);
    }
    machine.written(now);
    settle();
    EXPECT_EQ(machine.phase(), Phase::commit);
    EXPECT_FALSE(machine.deadline());
    machine.failed({CKPT_REFUSAL_WRITE_FAILED, "no manifest"}, now);
    machine.undone(now);
    settle();
    expect_given_up(CKPT_REFUSAL_WRITE_FAILED, "no manifest");
}

TEST_F(Machine, ATimeoutEndsIt)
{
    request();
    report(0);
    EXPECT_EQ(machine.deadline(), now + seconds(60));
    now += seconds(60);
    machine.tick(now);
    settle();
    expect_given_up(CKPT_REFUSAL_TIME_LIMIT,
                    "not done after 60 s: 1 of 3 ranks were through with phase align");
}

TEST_F(Machine, KillHoldsAllRanksUntilTheCommit)
{
    to_write(true);
    take_orders(0);
    for (int i = 0; i < count; i++) {
        machine.captured(i, now);
    }
    machine.written(now);
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
    machine.failed({CKPT_REFUSAL_SYSTEM_ERROR, "x"}, now);
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
    EXPECT_EQ(machine.obstacle().text(), "");
    machine.finalized(2, now);
    EXPECT_EQ(machine.obstacle().text(), "rank 2 has already called MPI_Finalize [job-ending]");
    machine.exited(2, now); /* happens right afterwards */
    EXPECT_EQ(machine.obstacle().text(), "rank 2 has already called MPI_Finalize [job-ending]");

    CutProtocol fresh(count, *this, options());
    fresh.hello(1);
    EXPECT_EQ(fresh.obstacle().text(),
              "the job is still starting: 1 of 3 ranks have called MPI_Init [job-starting]");
}

TEST_F(Machine, ARankOfAnOlderReleaseHasNoIdentity)
{
    request();
    ckpt_message message{};
    message.type = CKPT_MSG_REFUSED;
    message.epoch = epoch;
    std::strcpy(message.text, "a window");
    machine.message(1, message, now);
    settle();
    expect_given_up(CKPT_REFUSAL_UNNAMED, "rank 1: a window");
}

} // namespace ckpt::test
