/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_rank_proxy.cpp - a rank has died, and a proxy takes its place in a Sync-and-Stop checkpoint:
 * when that succeeds, and when the checkpoint is refused. Also which rank may have a proxy.
 */
#include "protocol/rank_proxy.hpp"
#include "protocol/replayability.hpp"
#include "tests/protocol/cut_machine.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace ckpt
{

using test::Machine;
using test::seconds;

namespace
{

constexpr int dead = 1;

class ProxyMachine : public Machine
{
  protected:
    /* As in an agent, the proxy has its own page. */
    void rank_dies()
    {
        machine.exited(dead, now);
        proxy.emplace(dead, 0x1001u, page_clocks[dead], received_count_of_dead());
        page_clocks[dead] = proxy->clocks();
        machine.hello(dead, {}, now);
    }

    std::vector<std::uint64_t> received_count_of_dead() const
    {
        return {std::begin(received_count[dead]), std::end(received_count[dead])};
    }

    void salvage()
    {
        CutPlan plan;
        plan.replayed = dead;
        plan.agree_within = seconds(10);
        request(true, std::move(plan));
        obey();
    }

    /* The proxy answers its orders. */
    void obey()
    {
        for (bool any = true; any;) {
            std::vector<std::uint64_t> targets;
            for (const ckpt_clock &clock : page_clocks[dead]) {
                targets.push_back(clock.target);
            }
            any = say(proxy->set_targets(targets));
            page_clocks[dead] = with_targets(proxy->clocks(), targets);
            proxy->set_expected(expected[dead]);
            for (int type : take_orders(dead)) {
                any = say(proxy->ordered(static_cast<ckpt_message_type>(type), epoch)) || any;
            }
        }
    }

    void say_refused(int rank, const char *why)
    {
        ckpt_message message{};
        message.type = CKPT_MSG_REFUSED;
        message.as.refused.identity = CKPT_REFUSAL_LIVING_CHILD;
        std::strcpy(message.text, why);
        send(rank, message);
    }

    static std::vector<ckpt_clock> with_targets(std::vector<ckpt_clock> clocks,
                                                const std::vector<std::uint64_t> &targets)
    {
        for (std::size_t i = 0; i < clocks.size(); i++) {
            clocks[i].target = targets[i];
        }
        return clocks;
    }

    bool say(RankProxy::Answer answer)
    {
        if (answer && machine.phase() != Phase::idle) {
            send(dead, *answer);
            return true;
        }
        return false;
    }

    void survivors(void (Machine::*step)(int))
    {
        (this->*step)(0);
        (this->*step)(2);
        obey();
    }

    std::optional<RankProxy> proxy;
};

} // namespace

TEST_F(ProxyMachine, IsSavedWithTheOthers)
{
    rank_dies();
    ASSERT_EQ(machine.obstacle().text(), "");
    salvage();
    survivors(&Machine::report_free);
    ASSERT_EQ(machine.phase(), Phase::stop);
    survivors(&Machine::stopped);
    ASSERT_EQ(machine.phase(), Phase::drain);
    survivors(&Machine::drained);
    survivors(&Machine::ready_shared);
    ASSERT_EQ(machine.phase(), Phase::write);
    ASSERT_FALSE(others.empty());
    EXPECT_EQ(std::get<action::Capture>(others[0]).snapshots[dead], 0x1001u);
    for (int i = 0; i < count; i++) {
        machine.captured(i, now);
    }
    machine.written(now);
    machine.committed(now);
    settle();
    ASSERT_TRUE(finish.has_value());
    EXPECT_TRUE(finish->committed);
    EXPECT_EQ(take_orders(0), (Types{CKPT_MSG_REQUEST, CKPT_MSG_STOP, CKPT_MSG_DRAIN,
                                     CKPT_MSG_SAVE}))
        << "nobody runs on";
}

TEST_F(ProxyMachine, HasNotEnteredACallThatNobodyHasLeft)
{
    page_clocks[dead][0].entered = 6; /* it died in the sixth, where others wait */
    page_clocks[0][0].entered = 6;
    rank_dies();
    EXPECT_EQ(page_clocks[dead][0].entered, 5u);
    salvage();
    report_inside(0, CKPT_INSIDE_CLOCKED | CKPT_INSIDE_REDO);
    report(2);
    obey();
    EXPECT_EQ(machine.phase(), Phase::stop);
    EXPECT_EQ(proxy->clocks()[0].left, 5u);
}

TEST_F(ProxyMachine, HasLeftACallThatAnotherHasLeft)
{
    page_clocks[dead][0].entered = 6;
    page_clocks[0][0] = {world, 6, 6, 0, 6};
    rank_dies();
    salvage();
    survivors(&Machine::report_free);
    ASSERT_EQ(machine.phase(), Phase::align) << "rank 2 has yet to leave it";
    EXPECT_EQ(proxy->clocks()[0].entered, 6u);
    EXPECT_EQ(proxy->clocks()[0].left, 6u);
    EXPECT_EQ(proxy->clocks()[0].settled, 6u);
    page_clocks[2][0] = {world, 6, 6, 6, 6};
    report(2);
    obey();
    EXPECT_EQ(machine.phase(), Phase::stop);
}

TEST_F(ProxyMachine, CannotRunToWhereOthersAre)
{
    page_clocks[0][0] = {world, 6, 6, 0, 6};
    rank_dies();
    salvage();
    survivors(&Machine::report_free);
    expect_given_up(CKPT_REFUSAL_NOT_REPLAYABLE,
                    "rank 1: rank 1 is lost: others are in a collective call that it has not "
                    "entered, or have left it");
}

TEST_F(ProxyMachine, CannotTakeMessages)
{
    sent_count[2][dead] = 8;
    received_count[dead][2] = 7;
    rank_dies();
    salvage();
    survivors(&Machine::report_free);
    survivors(&Machine::stopped);
    expect_given_up(
        CKPT_REFUSAL_NOT_REPLAYABLE,
        "rank 1: rank 1 is lost: rank 2 has sent it 8 messages, its copy has 7");
}

TEST_F(ProxyMachine, DoesNotKeepAStallFromBeingBroken)
{
    rank_dies();
    EXPECT_EQ(proxy->ordered(CKPT_MSG_RUN, epoch)->as.report.place, CKPT_PLACE_WAIT);
    EXPECT_EQ(proxy->ordered(CKPT_MSG_RUN, epoch)->as.report.holds, 0u);
}

TEST_F(ProxyMachine, GivesUpSurvivorsThatDoNotComeInTime)
{
    rank_dies();
    salvage();
    report(0);
    now += seconds(9);
    machine.tick(now);
    settle();
    EXPECT_EQ(machine.phase(), Phase::align);
    now += seconds(1);
    machine.tick(now);
    settle();
    expect_given_up(CKPT_REFUSAL_TIME_LIMIT,
                    "not done after 10 s: 2 of 3 ranks were through with phase align");
    EXPECT_EQ(take_orders(0).back(), CKPT_MSG_RESUME);
}

TEST_F(ProxyMachine, WritesForAsLongAsOtherCheckpoints)
{
    rank_dies();
    salvage();
    survivors(&Machine::report_free);
    survivors(&Machine::stopped);
    survivors(&Machine::drained);
    survivors(&Machine::ready_shared);
    ASSERT_EQ(machine.phase(), Phase::write);
    now += seconds(59);
    machine.tick(now);
    settle();
    EXPECT_EQ(machine.phase(), Phase::write);
}

TEST_F(ProxyMachine, IsOffWhenASurvivorRefusesOrDies)
{
    rank_dies();
    salvage();
    report(0);
    say_refused(2, "it has a child");
    expect_given_up(CKPT_REFUSAL_LIVING_CHILD, "rank 2: it has a child");
    machine.exited(dead, now);
    rank_dies();
    finish.reset();
    salvage();
    machine.exited(0, now);
    settle();
    expect_given_up(CKPT_REFUSAL_RANK_DIED, "rank 0 has died");
}

TEST_F(ProxyMachine, IsOffWhenASurvivorIsConnectedToAnotherProcess)
{
    rank_dies();
    salvage();
    survivors(&Machine::report_free);
    survivors(&Machine::stopped);
    survivors(&Machine::drained);
    ready_with(0, CKPT_READY_LEADS_OUT);
    expect_given_up(CKPT_REFUSAL_NOT_REPLAYABLE,
                    "a rank has a connection of its own to another process, perhaps to rank 1");
}

TEST_F(ProxyMachine, IsNoneInTheMiddleOfACheckpointForWhichRanksRun)
{
    EXPECT_TRUE(machine.proxy_obstacle().empty());
    machine.hello(0, {7, true, false, 0}, now); /* open */
    EXPECT_EQ(machine.proxy_obstacle().name(), "not-replayable");
}

/* ---- Which ranks can be replayed ---------------------------------------------------- */

namespace
{

class Replay : public testing::Test
{
  protected:
    Replay()
    {
        state.ranks.resize(3);
        for (ckpt_independent_rank &rank : state.ranks) {
            rank.interval = 20;
            rank.kept = 4;
            rank.kept_interval = 15;
            rank.uncovered = rank.uncovered_done = rank.kept_uncovered = 9;
        }
    }

    IndependentState state;
};

} // namespace

TEST_F(Replay, FromACopyThatOnlyReplayableCallsHaveFollowed)
{
    EXPECT_EQ(replay_obstacle(state, 1, 4), "");
}

TEST_F(Replay, NotWithoutItsCopy)
{
    EXPECT_EQ(replay_obstacle(state, 1, 0), "rank 1 has no independent checkpoint");
    EXPECT_EQ(replay_obstacle(state, 1, 3),
              "rank 1 was just taking its independent checkpoint 4");
    EXPECT_EQ(replay_obstacle(state, 1, 5),
              "rank 1 was just taking its independent checkpoint 5");
}

TEST_F(Replay, NotWithALogThatIsLost)
{
    state.ranks[1].lost = 1;
    EXPECT_EQ(replay_obstacle(state, 1, 4), "a log lacks what rank 1 would need");
}

TEST_F(Replay, NotIfItHasCommunicatedOtherwise)
{
    state.ranks[1].uncovered = 10;
    EXPECT_EQ(replay_obstacle(state, 1, 4),
              "rank 1 has died in a call that cannot be replayed");
    state.ranks[1].uncovered_done = 10;
    EXPECT_EQ(replay_obstacle(state, 1, 4),
              "rank 1 has communicated since its independent checkpoint in a way that cannot "
              "be replayed");
    EXPECT_NE(own_obstacle(state, 1, 4), "");
}

TEST_F(Replay, NotWhileAnotherCommunicatesOtherwise)
{
    state.ranks[2].uncovered = 10;
    EXPECT_EQ(replay_obstacle(state, 1, 4), "rank 2 is in a call that cannot be replayed");
    EXPECT_EQ(own_obstacle(state, 1, 4), "");
    state.ranks[2].uncovered_done = 10; /* since its own copy, so not needed */
    EXPECT_EQ(replay_obstacle(state, 1, 4), "");
}

TEST_F(Replay, OfNoRankThatThePageDoesNotHave)
{
    EXPECT_EQ(replay_obstacle(state, 3, 4), "the page of independent checkpoints has no rank 3");
    EXPECT_EQ(replay_obstacle(state, -1, 4),
              "the page of independent checkpoints has no rank -1");
    EXPECT_EQ(replay_obstacle({}, 0, 4), "the page of independent checkpoints has no rank 0");
}

} // namespace ckpt
