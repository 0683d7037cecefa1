/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_nonblocking_cut.cpp - the coordinator in Chandy-Lamport and network sweeping:
 * each path by hand.
 */
#include "tests/cut_machine.hpp"

#include <cstring>

namespace ckpt::test
{

namespace
{

constexpr std::uint64_t given_up = CKPT_GIVEN_UP; /* in RESUME and CLOSE */

class NonblockingCut : public Machine
{
  public:
    /* Until the ranks have been told CUT. quiet: none has sent any message. */
    void to_cut(Protocol protocol, Lanes lanes = {}, bool quiet = false)
    {
        request(false, {protocol, std::move(lanes)});
        for (int i = 0; i < count; i++) {
            report_running(i, !quiet && i == 1);
        }
        ASSERT_EQ(machine.phase(), Phase::open);
        ASSERT_TRUE(took<action::OpenPieces>());
        forget_all();
        machine.opened(now);
        settle();
        ASSERT_EQ(machine.phase(), Phase::cut);
    }

    void report_running(int rank, bool has_sent = true)
    {
        ckpt_message message{};
        message.type = CKPT_MSG_REPORT;
        message.arg[0] = CKPT_PLACE_FREE;
        message.arg[6] = has_sent;
        send(rank, message);
    }
    void report_waiting(int rank)
    {
        say(rank, CKPT_MSG_REPORT, CKPT_PLACE_WAIT, false);
    }

    /* Answers CUT; `used` channels. */
    void answer_cut(int rank, std::uint64_t used)
    {
        ckpt_message message{};
        message.type = CKPT_MSG_READY;
        message.arg[0] = 0x1000;
        message.arg[2] = used;
        send(rank, message);
    }
    void refuse(int rank, const char *why, std::uint64_t used = 0)
    {
        ckpt_message message{};
        message.type = CKPT_MSG_REFUSED;
        message.arg[2] = used;
        std::strcpy(message.text, why);
        send(rank, message);
    }
    void captured(int rank)
    {
        machine.captured(rank, now);
        settle();
    }
    void cut_and_captured(int rank, std::uint64_t used)
    {
        answer_cut(rank, used);
        captured(rank);
    }
    void complete(int rank, std::uint64_t channels)
    {
        ckpt_message message{};
        message.type = CKPT_MSG_COMPLETE;
        message.arg[0] = channels;
        send(rank, message);
    }
    void logged(int rank, std::uint64_t messages, std::uint64_t bytes)
    {
        ckpt_message message{};
        message.type = CKPT_MSG_LOGGED;
        message.arg[0] = messages;
        message.arg[1] = bytes;
        send(rank, message);
    }

    /* Up to the commit, from LOG. */
    void to_commit()
    {
        for (int i = 0; i < count; i++) {
            EXPECT_EQ(take_orders(i).back(), CKPT_MSG_CLOSE);
            logged(i, 2, 100);
        }
        ASSERT_EQ(machine.phase(), Phase::write);
        machine.written();
        settle();
        ASSERT_EQ(machine.phase(), Phase::commit);
        machine.committed(now);
        settle();
    }

    void forget_all()
    {
        for (int i = 0; i < count; i++) {
            forget_orders(i);
        }
        others.clear();
    }
    int ordered(ckpt_message_type type)
    {
        int ranks = 0;
        for (const auto &list : orders) {
            ranks += std::any_of(list.begin(), list.end(), [&](auto &order) {
                return order.type == type;
            });
        }
        return ranks;
    }
    std::uint64_t argument(int rank, ckpt_message_type type)
    {
        for (const action::Send &order : orders[rank]) {
            if (order.type == type) {
                return order.argument;
            }
        }
        return ~0ull;
    }
};

TEST_F(NonblockingCut, ChandyLamportTheStraightWay)
{
    to_cut(Protocol::chandy_lamport);
    for (int i = 0; i < count; i++) {
        EXPECT_EQ(argument(i, CKPT_MSG_CUT), CKPT_CUT_MARKERS);
    }
    forget_all();
    cut_and_captured(0, 2);
    EXPECT_EQ(take_orders(0), Types{CKPT_MSG_RESUME}); /* for nobody else */
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
        EXPECT_EQ(argument(i, CKPT_MSG_CUT), CKPT_CUT_SWEEP);
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
        EXPECT_EQ(argument(i, CKPT_MSG_CUT), CKPT_CUT_QUIET);
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
    report_waiting(2); /* so it comes before rank 1 */
    captured(0);
    EXPECT_EQ(take_orders(2), Types{CKPT_MSG_CUT});
    EXPECT_EQ(ordered(CKPT_MSG_CUT), 0);
    cut_and_captured(2, 0);
    EXPECT_EQ(take_orders(1), Types{CKPT_MSG_CUT});
    cut_and_captured(1, 0);
    EXPECT_EQ(machine.phase(), Phase::log);
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
    EXPECT_EQ(argument(1, CKPT_MSG_CUT), CKPT_CUT_MARKERS);
    EXPECT_EQ(ordered(CKPT_MSG_CUT), 1);
}

TEST_F(NonblockingCut, ARefusalGoesOnToTheEndAndIsTriedOtherwise)
{
    to_cut(Protocol::chandy_lamport, {{0, 1, 2}});
    forget_all();
    refuse(0, "the lower half is busy", 1);
    EXPECT_EQ(argument(1, CKPT_MSG_CUT), CKPT_CUT_MARKERS); /* all at once now */
    EXPECT_EQ(argument(2, CKPT_MSG_CUT), CKPT_CUT_MARKERS);
    answer_cut(1, 0);
    EXPECT_EQ(argument(1, CKPT_MSG_RESUME), given_up); /* and is not read */
    EXPECT_TRUE(others.empty());
    answer_cut(2, 0);
    ASSERT_EQ(machine.phase(), Phase::log);
    EXPECT_FALSE(finish.has_value());
    complete(1, 1);
    for (int i = 0; i < count; i++) {
        EXPECT_EQ(argument(i, CKPT_MSG_CLOSE), given_up);
        logged(i, 0, 0);
    }
    ASSERT_TRUE(took<action::Undo>());
    machine.undone(now);
    settle();
    expect_given_up("rank 0: the lower half is busy");
    EXPECT_TRUE(finish->retry);
}

TEST_F(NonblockingCut, AFailureInTheCutIsNotTriedOtherwise)
{
    to_cut(Protocol::chandy_lamport);
    cut_and_captured(0, 0);
    machine.failed("no space", now);
    settle();
    answer_cut(1, 0);
    answer_cut(2, 0);
    for (int i = 0; i < count; i++) {
        logged(i, 0, 0);
    }
    machine.undone(now);
    settle();
    expect_given_up("no space");
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
    machine.failed("no directory", now);
    settle();
    EXPECT_EQ(ordered(CKPT_MSG_RESUME), count);
    ASSERT_TRUE(took<action::Undo>());
    machine.undone(now);
    settle();
    expect_given_up("no directory");
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
    expect_given_up("rank 1: no space for the log");
}

TEST_F(NonblockingCut, ARankThatSharesMemoryIsNotSavedAlone)
{
    to_cut(Protocol::chandy_lamport);
    ready_shared(0);
    EXPECT_EQ(argument(0, CKPT_MSG_RESUME), given_up);
    EXPECT_EQ(machine.phase(), Phase::cut);
}

TEST_F(NonblockingCut, ARankThatNeedsOthersToStandStillMakesAllStandStill)
{
    ckpt_message message{};

    request(false, {Protocol::chandy_lamport, {}});
    report_running(0);
    report_running(1);
    message.type = CKPT_MSG_REPORT;
    message.arg[0] = CKPT_PLACE_FREE;
    message.arg[5] = CKPT_NEEDS_WINDOWS;
    send(2, message);
    EXPECT_EQ(machine.phase(), Phase::stop);
    EXPECT_EQ(machine.protocol(), Protocol::sync_and_stop);
}

TEST_F(NonblockingCut, AKillIsSyncAndStop)
{
    request(true, {Protocol::network_sweep, {}});
    for (int i = 0; i < count; i++) {
        EXPECT_EQ(argument(i, CKPT_MSG_REQUEST), 0u);
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
    EXPECT_EQ(take_orders(0), Types{CKPT_MSG_KICK});
    EXPECT_EQ(take_orders(1), Types{}); /* it has been asked */
    EXPECT_EQ(take_orders(2), Types{CKPT_MSG_KICK});
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
            cut_and_captured(0, 0); /* it has still messages to log */
        }
        if (step > 1) {
            cut_and_captured(1, 0);
            answer_cut(2, 1);
            captured(2);
            ASSERT_EQ(machine.phase(), Phase::log);
        }
        machine.gone(0, now);
        settle();
        ASSERT_EQ(machine.phase(), Phase::undo) << step;
        machine.undone(now);
        settle();
        expect_given_up("rank 0 has died");
    }
}

/* ---- An agent is lost --------------------------------------------------------- */

class LostAgent : public NonblockingCut
{
  public:
    /* Its rank is known to the new agent as it has introduced itself. */
    void back(int rank, RankCut cut)
    {
        machine.hello(rank, cut, now);
        settle();
    }
    void all_away()
    {
        for (int i = 0; i < count; i++) {
            machine.lost(i, now);
        }
        settle();
    }
    RankCut open_rank() const { return {epoch, true, false}; }
    RankCut in_doubt() const { return {epoch - 1, false, true}; }

    void complete_all(int rank)
    {
        ckpt_message message{};
        message.type = CKPT_MSG_COMPLETE;
        message.arg[1] = 1;
        send(rank, message);
    }
};

TEST_F(LostAgent, RanksThatWereNotCutWaitForItsReturn)
{
    to_cut(Protocol::chandy_lamport);
    cut_and_captured(0, 1);
    answer_cut(1, 1);
    forget_all();
    machine.lost(2, now);
    settle();
    EXPECT_EQ(take_orders(0), Types{}); /* it runs */
    EXPECT_EQ(argument(1, CKPT_MSG_RESUME), CKPT_LEFT_OPEN);
    machine.undone(now);
    settle();
    expect_given_up("the agent of rank 2 was lost");
}

TEST_F(LostAgent, TheCutGoesOnToItsEndWhenAllAreHere)
{
    to_cut(Protocol::chandy_lamport);
    cut_and_captured(0, 1);
    machine.lost(2, now);
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
        EXPECT_EQ(argument(i, CKPT_MSG_CLOSE), given_up);
        logged(i, 0, 0);
    }
    EXPECT_EQ(machine.phase(), Phase::idle);
    EXPECT_TRUE(took<action::Settled>());
    EXPECT_EQ(machine.obstacle(), "");
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
    machine.lost(2, now);
    settle();
    EXPECT_EQ(machine.phase(), Phase::idle);
    forget_all();
    back(2, in_doubt());
    ASSERT_EQ(machine.phase(), Phase::cut);
    EXPECT_EQ(take_orders(1), Types{}); /* it has been cut */
    EXPECT_EQ(take_orders(2), Types{CKPT_MSG_CUT});
}

TEST(RankCutWatch, FollowsACheckpoint)
{
    RankCutWatch watch;
    ckpt_message ready{};
    ckpt_message over{};

    ready.type = CKPT_MSG_READY;
    over.type = CKPT_MSG_LOGGED;
    ready.epoch = over.epoch = 3;
    watch.ordered(CKPT_MSG_REQUEST, 1);
    EXPECT_TRUE(watch.cut().in_doubt);
    watch.ordered(CKPT_MSG_CUT, 0);
    EXPECT_TRUE(watch.cut().in_doubt);
    watch.ordered(CKPT_MSG_RESUME, CKPT_LEFT_OPEN); /* they have crossed */
    EXPECT_TRUE(watch.cut().in_doubt);
    watch.answered(ready);
    EXPECT_EQ(watch.cut().epoch, 3u);
    EXPECT_TRUE(watch.cut().open);
    EXPECT_FALSE(watch.cut().in_doubt);
    watch.ordered(CKPT_MSG_CLOSE, 0);
    watch.answered(over);
    EXPECT_FALSE(watch.cut().open);
}

TEST(RankCutWatch, SyncAndStopLeavesNoDoubt)
{
    RankCutWatch watch;
    ckpt_message ready{};

    ready.type = CKPT_MSG_READY;
    watch.ordered(CKPT_MSG_REQUEST, 1);
    watch.ordered(CKPT_MSG_STOP, 0);
    EXPECT_FALSE(watch.cut().in_doubt);
    watch.answered(ready);
    EXPECT_FALSE(watch.cut().open);
}

} // namespace

} // namespace ckpt::test
