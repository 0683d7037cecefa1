/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_supervision.cpp - reactions of `ckpt run` to lost ranks and nodes: when it ends a launch,
 * and whether and when it starts another one.
 */
#include "cli/launchers/node_plan.hpp"
#include "supervise/launch_watch.hpp"
#include "supervise/restart_policy.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <fstream>

namespace ckpt
{

namespace
{

using std::chrono::milliseconds;
using std::chrono::seconds;
using Step = LaunchWatch::Step;

class Watch : public testing::Test
{
  protected:
    Watch()
    {
        watch_.rank_here(0, "n1");
        watch_.rank_here(1, "n2");
    }

    LaunchWatch::Time after(milliseconds time) const { return begin_ + time; }

    const LaunchWatch::Time begin_ = std::chrono::steady_clock::now();
    LaunchWatch watch_;
};

TEST_F(Watch, LeavesAJobAlone)
{
    watch_.rank_finished(0);
    watch_.rank_finished(1);
    watch_.rank_ended(0, begin_);
    watch_.rank_ended(1, begin_);
    EXPECT_FALSE(watch_.failure().has_value());
    EXPECT_EQ(Step::none, watch_.step(after(seconds(3600))));
    EXPECT_EQ(LaunchWatch::Time::max(), watch_.next_step());
}

TEST_F(Watch, GivesTheLauncherTimeToEndByItself)
{
    watch_.rank_ended(1, begin_);
    watch_.rank_status(1, SIGSEGV, begin_);
    EXPECT_EQ("rank 1 on n2 was killed by signal 11 (Segmentation fault)",
              watch_.failure()->text());
    EXPECT_FALSE(watch_.failure()->is_from_outside());
    EXPECT_EQ(Step::none, watch_.step(after(milliseconds(4999))));
    EXPECT_EQ(after(seconds(5)), watch_.next_step());
    EXPECT_EQ(Step::end, watch_.step(after(seconds(5))));
    EXPECT_EQ(after(seconds(5)), watch_.next_step());
    EXPECT_EQ(Step::terminate, watch_.step(after(seconds(5))));
    EXPECT_EQ(Step::none, watch_.step(after(milliseconds(7999))));
    EXPECT_EQ(Step::kill, watch_.step(after(seconds(8))));
    EXPECT_EQ(Step::kill, watch_.step(after(seconds(11))));
}

/* The launcher kills the other ranks. */
TEST_F(Watch, TellsOfTheFirstRankThatEnds)
{
    watch_.rank_ended(1, begin_);
    watch_.rank_ended(0, begin_);
    watch_.rank_status(0, SIGTERM, begin_);
    watch_.rank_status(1, 3 << 8, begin_);
    EXPECT_EQ("rank 1 on n2 has ended with code 3 before MPI_Finalize",
              watch_.failure()->text());
}

TEST_F(Watch, ARankMayEndWellWithoutFinalize)
{
    watch_.rank_ended(1, begin_);
    watch_.rank_status(1, 0, begin_);
    EXPECT_FALSE(watch_.failure().has_value());
    EXPECT_EQ(Step::none, watch_.step(after(seconds(60))));
}

TEST_F(Watch, ToleratesWhatTheUserDealsWith)
{
    watch_.tolerate_ended_ranks();
    watch_.rank_ended(1, begin_);
    watch_.rank_status(1, SIGKILL, begin_);
    EXPECT_FALSE(watch_.failure().has_value());
}

TEST_F(Watch, EndsAJobThatHasLostANodeAtOnce)
{
    watch_.node_lost("n2", begin_);
    EXPECT_EQ(Step::end, watch_.step(begin_));
    EXPECT_TRUE(watch_.failure()->is_from_outside());
    EXPECT_EQ(1u, watch_.lost_nodes().count("n2"));
    EXPECT_EQ(begin_, watch_.silent_since());
    watch_.node_lost("n2", after(seconds(1)));
    EXPECT_EQ(begin_, watch_.silent_since());
    watch_.node_lost("n1", after(seconds(2)));
    EXPECT_EQ(after(seconds(2)), watch_.silent_since());
    watch_.rank_ended(0, begin_); /* a consequence of the first end */
    EXPECT_EQ("node n2 was lost", watch_.failure()->text());
    EXPECT_EQ(Step::terminate, watch_.step(begin_));
    EXPECT_EQ(Step::kill, watch_.step(after(seconds(3))));
}

TEST_F(Watch, ARankThatIsStoppedAlone)
{
    watch_.rank_stopped(1, begin_);
    EXPECT_EQ(after(seconds(10)), watch_.next_step());
    EXPECT_EQ(Step::none, watch_.step(after(milliseconds(9999))));
    EXPECT_EQ(Step::end, watch_.step(after(seconds(10))));
    EXPECT_EQ(Failure::Kind::rank_stopped, watch_.failure()->kind);
}

TEST_F(Watch, ARankThatGoesOn)
{
    watch_.rank_stopped(1, begin_);
    watch_.rank_continued(1, begin_);
    EXPECT_EQ(Step::none, watch_.step(after(seconds(60))));
}

TEST_F(Watch, ARankThatIsStoppedWhenAllOthersHaveEnded)
{
    watch_.rank_finished(0);
    watch_.rank_finished(1);
    watch_.rank_ended(0, begin_);
    watch_.rank_stopped(1, begin_);
    EXPECT_EQ(after(seconds(10)), watch_.next_step());
    EXPECT_EQ(Step::end, watch_.step(after(seconds(10))));
    EXPECT_EQ(Failure::Kind::rank_stopped, watch_.failure()->kind);
}

TEST_F(Watch, AJobThatIsSuspended)
{
    watch_.rank_stopped(0, begin_);
    watch_.rank_stopped(1, begin_);
    EXPECT_EQ(LaunchWatch::Time::max(), watch_.next_step());
    EXPECT_EQ(Step::none, watch_.step(after(seconds(60))));
}

/* Agents of two nodes report that up to a second apart. */
TEST_F(Watch, AJobThatIsSuspendedForLongAndGoesOn)
{
    watch_.rank_stopped(0, begin_);
    watch_.rank_stopped(1, begin_);
    watch_.rank_continued(0, after(seconds(60)));
    EXPECT_EQ(Step::none, watch_.step(after(seconds(60))));
    watch_.rank_continued(1, after(seconds(61)));
    EXPECT_EQ(Step::none, watch_.step(after(seconds(120))));
}

TEST_F(Watch, ARankThatStaysStoppedWhenAJobGoesOn)
{
    watch_.rank_stopped(0, begin_);
    watch_.rank_stopped(1, begin_);
    watch_.rank_continued(0, after(seconds(60)));
    EXPECT_EQ(Step::none, watch_.step(after(milliseconds(69999))));
    EXPECT_EQ(Step::end, watch_.step(after(seconds(70))));
    EXPECT_EQ(1, watch_.failure()->rank);
}

/* ---- Ranks that are replayed ----------------------------------------------------- */

TEST_F(Watch, ActsForALauncherThatGoesOn)
{
    watch_.act_for_launcher();
    watch_.rank_ended(1, begin_);
    EXPECT_EQ(after(milliseconds(500)), watch_.next_step());
    /* No launcher takes this for success. */
    watch_.rank_status(1, 0, begin_);
    EXPECT_EQ(Step::end, watch_.step(after(milliseconds(500))));
    EXPECT_EQ("rank 1 on n2 has ended with code 0 before MPI_Finalize",
              watch_.failure()->text());
}

TEST_F(Watch, LetsTheLauncherSeeAllRanksEnd)
{
    watch_.act_for_launcher();
    watch_.rank_ended(1, begin_);
    EXPECT_EQ(Step::end, watch_.step(after(milliseconds(500))));
    watch_.rank_ended(0, after(milliseconds(530)));
    EXPECT_EQ(Step::none, watch_.step(after(milliseconds(1499))));
    EXPECT_EQ(Step::terminate, watch_.step(after(milliseconds(1500))));
    EXPECT_EQ(after(milliseconds(4500)), watch_.next_step());
}

TEST_F(Watch, ActsOnACodeAfterFinalize)
{
    watch_.act_for_launcher();
    watch_.rank_finished(1);
    watch_.rank_ended(1, begin_);
    EXPECT_FALSE(watch_.failure().has_value());
    watch_.rank_status(1, 4 << 8, begin_);
    EXPECT_EQ("rank 1 on n2 has ended with code 4", watch_.failure()->text());
    EXPECT_EQ(Step::end, watch_.step(begin_));
}

TEST_F(Watch, WaitsForASalvage)
{
    watch_.act_for_launcher();
    watch_.rank_salvaging(1);
    watch_.rank_ended(1, begin_);
    watch_.rank_status(1, SIGKILL, begin_);
    EXPECT_TRUE(watch_.awaits_salvage());
    EXPECT_EQ(Step::none, watch_.step(after(seconds(3600))));
    watch_.rank_salvaged(1, 7, 20, after(seconds(3600)));
    EXPECT_FALSE(watch_.awaits_salvage());
    EXPECT_EQ(Step::end, watch_.step(after(seconds(3600))));
    EXPECT_EQ(7u, watch_.failure()->salvaged);
    EXPECT_EQ(20u, watch_.failure()->interval);
    EXPECT_EQ("; it is replayed, the others are saved as number 7",
              watch_.failure()->salvage_text());
}

TEST_F(Watch, SaysWhyARankIsNotReplayed)
{
    watch_.act_for_launcher();
    /* The process's end is seen before the agent's report. */
    watch_.rank_ended(1, begin_);
    watch_.rank_salvaging(1);
    EXPECT_EQ(LaunchWatch::Time::max(), watch_.next_step());
    watch_.rank_not_salvaged(1, "it has no copy", after(seconds(2)));
    EXPECT_EQ("; it is not replayed: it has no copy", watch_.failure()->salvage_text());
    EXPECT_EQ(Step::none, watch_.step(after(seconds(2))));
    EXPECT_EQ(Step::end, watch_.step(after(milliseconds(2500))));
}

TEST_F(Watch, WaitsNoLongerForAnAgentThatHasDied)
{
    watch_.act_for_launcher();
    watch_.rank_salvaging(1);
    watch_.agent_lost("n1", begin_);
    EXPECT_TRUE(watch_.awaits_salvage());
    watch_.agent_lost("n2", begin_);
    EXPECT_FALSE(watch_.awaits_salvage());
    EXPECT_EQ("; it is not replayed: the agent has died", watch_.failure()->salvage_text());
    EXPECT_EQ(Step::end, watch_.step(after(milliseconds(500))));
}

TEST_F(Watch, ARecoveryInPlaceIsNoFailure)
{
    watch_.act_for_launcher();
    for (int rank : {0, 1}) {
        watch_.rank_here(rank, "n1");
    }
    watch_.rank_ended(1, begin_); /* seen before the agent's report */
    watch_.rank_recovering(1, "n1");
    watch_.rank_status(1, SIGKILL, begin_);
    watch_.rank_ended(0, begin_);
    watch_.rank_status(0, SIGKILL, begin_);
    EXPECT_TRUE(watch_.awaits_salvage());
    EXPECT_EQ(Step::none, watch_.step(after(seconds(3600))));
    for (int rank : {0, 1}) {
        watch_.rank_here(rank, "n1");
    }
    watch_.rank_recovered(1);
    EXPECT_FALSE(watch_.awaits_salvage());
    EXPECT_FALSE(watch_.failure());
    EXPECT_EQ(LaunchWatch::Time::max(), watch_.next_step());
}

/* What `ckpt run` asks if it has no launcher whose end tells of that of the ranks. */
TEST_F(Watch, KnowsWhenAllRanksHaveEnded)
{
    watch_.act_for_launcher();
    EXPECT_TRUE(watch_.has_unfinished());
    watch_.rank_finished(0);
    EXPECT_TRUE(watch_.has_unfinished());
    watch_.rank_finished(1);
    EXPECT_FALSE(watch_.has_unfinished());
    watch_.rank_ended(0, begin_);
    EXPECT_FALSE(watch_.all_have_ended());
    watch_.rank_ended(1, begin_);
    EXPECT_TRUE(watch_.all_have_ended());
    EXPECT_FALSE(watch_.all_have_status());
    watch_.rank_status(0, 0, begin_);
    watch_.rank_status(1, 0, begin_);
    EXPECT_TRUE(watch_.all_have_status());
    watch_.rank_here(1, "n1"); /* it has come back */
    EXPECT_FALSE(watch_.all_have_ended());
}

/* The other rank is here all the time. */
TEST_F(Watch, ARankThatIsReplayedInPlaceIsNoFailure)
{
    watch_.act_for_launcher();
    watch_.rank_here(0, "n1");
    watch_.rank_here(1, "n1");
    watch_.rank_salvaging(1);
    watch_.rank_ended(1, begin_);
    watch_.rank_status(1, SIGKILL, begin_);
    watch_.rank_recovering(1, "n1");
    EXPECT_EQ(Step::none, watch_.step(after(seconds(3600))));
    watch_.rank_recovered(1, true); /* before it is here, if agents are fast */
    EXPECT_FALSE(watch_.awaits_salvage());
    watch_.rank_here(1, "n1");
    EXPECT_FALSE(watch_.failure());
    EXPECT_EQ(LaunchWatch::Time::max(), watch_.next_step());
}

TEST_F(Watch, ARankThatIsNotReplayedInPlaceIsSalvaged)
{
    watch_.act_for_launcher();
    watch_.rank_here(1, "n1");
    watch_.rank_salvaging(1);
    watch_.rank_ended(1, begin_);
    watch_.rank_recovering(1, "n1");
    watch_.rank_not_recovered(1, "its copy refuses", after(seconds(1)));
    watch_.rank_salvaging(1);
    EXPECT_TRUE(watch_.awaits_salvage());
    EXPECT_EQ(Step::none, watch_.step(after(seconds(3600))));
    watch_.rank_salvaged(1, 7, 3, after(seconds(2)));
    ASSERT_TRUE(watch_.failure());
    EXPECT_EQ(7u, watch_.failure()->salvaged);
}

TEST_F(Watch, ARecoveryThatFailsIsTheFailureOfTheRank)
{
    watch_.act_for_launcher();
    watch_.rank_here(1, "n1");
    watch_.rank_recovering(1, "n1");
    watch_.rank_ended(1, begin_);
    EXPECT_FALSE(watch_.failure());
    watch_.rank_not_recovered(1, "its copy has ended", after(seconds(2)));
    EXPECT_FALSE(watch_.awaits_salvage());
    ASSERT_TRUE(watch_.failure());
    EXPECT_EQ(1, watch_.failure()->rank);
    EXPECT_EQ("; the job does not recover in place: its copy has ended",
              watch_.failure()->salvage_text());
    EXPECT_EQ(Step::end, watch_.step(after(seconds(3))));
}

TEST_F(Watch, ARecoveryEndsWithItsAgent)
{
    watch_.act_for_launcher();
    watch_.rank_here(1, "n1");
    watch_.rank_recovering(1, "n1");
    watch_.agent_lost("n1", begin_);
    EXPECT_FALSE(watch_.awaits_salvage());
    ASSERT_TRUE(watch_.failure());
    EXPECT_EQ(1, watch_.failure()->rank);
}

TEST_F(Watch, ARankThatHasExecutedAnotherProgramNeedsNoRecovery)
{
    watch_.act_for_launcher();
    watch_.rank_here(1, "n1");
    watch_.rank_recovering(1, "n1");
    watch_.rank_here(1, "n1");
    watch_.rank_recovered(1, true);
    EXPECT_FALSE(watch_.awaits_salvage());
    watch_.rank_ended(1, begin_);
    EXPECT_TRUE(watch_.failure());
}

TEST_F(Watch, ARecoveryOnSeveralNodes)
{
    watch_.act_for_launcher();
    watch_.rank_here(0, "n1");
    watch_.rank_here(1, "n2");
    watch_.rank_ended(1, begin_); /* the agent of n2 says so before that of n1 leads */
    watch_.rank_recovering(1, "n1");
    watch_.rank_ended(0, begin_);
    watch_.rank_here(0, "n1");
    watch_.rank_recovered(1);
    watch_.rank_ended(1, begin_); /* late news from n2 */
    EXPECT_EQ(Step::none, watch_.step(after(seconds(3600))));
    watch_.rank_here(1, "n2");
    EXPECT_FALSE(watch_.failure());
    watch_.rank_ended(1, begin_); /* this is another end */
    EXPECT_TRUE(watch_.failure());
}

TEST_F(Watch, ALauncherThatWaitsForARankThatHasDiedIsEnded)
{
    watch_.act_for_launcher();
    for (int rank : {0, 1}) {
        watch_.rank_here(rank, "n1");
    }
    watch_.rank_recovering(1, "n1");
    for (int rank : {0, 1}) {
        watch_.rank_here(rank, "n1");
    }
    watch_.rank_recovered(1);
    for (int rank : {0, 1}) {
        watch_.rank_finished(rank);
    }
    watch_.rank_ended(0, begin_);
    EXPECT_EQ(Step::none, watch_.step(after(seconds(5))));
    watch_.rank_ended(1, after(seconds(2)));
    watch_.rank_status(0, 0, after(seconds(2)));
    EXPECT_EQ(Step::none, watch_.step(after(seconds(5))));
    watch_.rank_status(1, 0, after(seconds(5)));
    EXPECT_EQ(Step::none, watch_.step(after(seconds(5))));
    EXPECT_EQ(after(seconds(6)), watch_.next_step());
    EXPECT_EQ(Step::none, watch_.step(after(milliseconds(5999))));
    EXPECT_EQ(Step::terminate, watch_.step(after(seconds(6))));
    EXPECT_EQ(Step::none, watch_.step(after(seconds(8))));
    EXPECT_EQ(Step::kill, watch_.step(after(seconds(9))));
    EXPECT_FALSE(watch_.failure());
}

TEST_F(Watch, ARecoveryEndsWithTheAgentThatLeads)
{
    watch_.act_for_launcher();
    watch_.rank_here(0, "n1");
    watch_.rank_here(1, "n2");
    watch_.rank_recovering(1, "n1");
    watch_.agent_lost("n2", begin_); /* n1 says what follows */
    EXPECT_TRUE(watch_.awaits_salvage());
    watch_.agent_lost("n1", begin_);
    EXPECT_FALSE(watch_.awaits_salvage());
    EXPECT_TRUE(watch_.failure());
}

TEST_F(Watch, AnotherRankThatDiesMeanwhile)
{
    watch_.act_for_launcher();
    watch_.rank_salvaging(1);
    watch_.rank_ended(1, begin_);
    watch_.rank_ended(0, begin_);
    EXPECT_EQ(1, watch_.failure()->rank);
    EXPECT_EQ(Step::end, watch_.step(after(milliseconds(500))));
}

TEST_F(Watch, AProcessThatFailsBeforeItIsARank)
{
    watch_.act_for_launcher();
    watch_.process_failed(-1, 3 << 8, begin_);
    EXPECT_EQ("a process that was not yet a rank has ended with code 3",
              watch_.failure()->text());
    EXPECT_EQ("", watch_.failure()->place());
    EXPECT_EQ(Step::end, watch_.step(after(milliseconds(500))));
}

TEST_F(Watch, AProcessThatNoAgentTellsOf)
{
    watch_.act_for_launcher();
    watch_.process_failed(1, SIGKILL, begin_);
    EXPECT_EQ("rank 1 on n2 was killed by signal 9 (Killed)", watch_.failure()->text());
    EXPECT_EQ(Step::end, watch_.step(after(milliseconds(500))));
}

TEST_F(Watch, ANodeWithoutAnAgent)
{
    watch_.node_unserved("n2", begin_);
    EXPECT_EQ(after(seconds(10)), watch_.next_step());
    EXPECT_EQ(Step::none, watch_.step(after(milliseconds(9999))));
    EXPECT_EQ(Step::end, watch_.step(after(seconds(10))));
    EXPECT_EQ("node n2 was lost", watch_.failure()->text());
    EXPECT_EQ(1u, watch_.lost_nodes().count("n2"));
}

TEST_F(Watch, ANodeThatHasAnotherAgent)
{
    watch_.node_unserved("n2", begin_);
    watch_.node_served("n2");
    EXPECT_EQ(LaunchWatch::Time::max(), watch_.next_step());
    EXPECT_EQ(Step::none, watch_.step(after(seconds(60))));
}

TEST_F(Watch, ANodeThatNeedsNoAgentAnyMore)
{
    watch_.node_unserved("n2", begin_);
    watch_.rank_finished(1);
    EXPECT_EQ(LaunchWatch::Time::max(), watch_.next_step());
    EXPECT_EQ(Step::none, watch_.step(after(seconds(60))));
}

/* A report by the rank's previous agent may be obsolete. */
TEST_F(Watch, ARankThatComesToAnotherAgentRuns)
{
    watch_.rank_stopped(1, begin_);
    watch_.rank_here(1, "n2");
    EXPECT_EQ(Step::none, watch_.step(after(seconds(60))));
}

/* ---- Restarts ----------------------------------------------------------------- */

Failure crash(int rank)
{
    Failure failure;
    failure.kind = Failure::Kind::rank_ended;
    failure.rank = rank;
    failure.status = SIGSEGV;
    return failure;
}

Failure lost(const std::string &host)
{
    Failure failure;
    failure.kind = Failure::Kind::node_lost;
    failure.host = host;
    return failure;
}

RestartPolicy::Limits usual_limits()
{
    RestartPolicy::Limits limits;
    limits.restarts = 10;
    limits.back_off = seconds(1);
    return limits;
}

TEST(Restarts, AProgramThatCrashesTwiceInOnePlace)
{
    RestartPolicy policy(usual_limits());
    EXPECT_TRUE(policy.after(crash(1), 1).restart);
    EXPECT_TRUE(policy.after(crash(1), 1).restart);
    const auto third = policy.after(crash(1), 1);
    EXPECT_FALSE(third.restart);
    EXPECT_NE(std::string::npos, third.why_not.find("again and again"));
}

TEST(Restarts, ANewCheckpointIsANewBeginning)
{
    RestartPolicy policy(usual_limits());
    for (std::uint64_t checkpoint = 1; checkpoint <= 10; checkpoint++) {
        EXPECT_TRUE(policy.after(crash(1), checkpoint).restart);
    }
    EXPECT_EQ("no restart is left", policy.after(crash(1), 11).why_not);
}

TEST(Restarts, NodesThatAreLostAreNotTheProgramsFault)
{
    RestartPolicy policy(usual_limits());
    for (int node = 0; node < 10; node++) {
        EXPECT_TRUE(policy.after(lost("n" + std::to_string(node)), 1).restart);
    }
    EXPECT_FALSE(policy.after(lost("n11"), 1).restart);
}

Failure salvaged(std::uint64_t number, std::uint64_t interval)
{
    Failure failure = crash(1);
    failure.salvaged = number;
    failure.interval = interval;
    return failure;
}

TEST(Restarts, ASalvageIsProgressIfTheRankGetsFurther)
{
    RestartPolicy policy(usual_limits());
    for (std::uint64_t number = 1; number <= 5; number++) {
        const auto decision = policy.after(salvaged(number, 10 * number), number);
        EXPECT_TRUE(decision.restart);
        EXPECT_EQ(0, decision.delay.count());
    }
    EXPECT_TRUE(policy.after(salvaged(6, 50), 6).restart);
    EXPECT_FALSE(policy.after(salvaged(7, 50), 7).restart) << "it fails where it did before";
}

TEST(Restarts, ASalvageThatCannotBeUsedIsNone)
{
    RestartPolicy policy(usual_limits());
    EXPECT_TRUE(policy.after(salvaged(5, 10), 3).restart);
    EXPECT_TRUE(policy.after(salvaged(6, 20), 3).restart);
    EXPECT_FALSE(policy.after(salvaged(7, 30), 3).restart);
}

Failure ended_by(int signal)
{
    Failure failure = crash(1);
    failure.status = signal;
    return failure;
}

Failure launcher_ended(int code)
{
    Failure failure;
    failure.exit_code = code;
    return failure;
}

TEST(Restarts, WithoutACheckpointOnlyAfterFailuresFromOutside)
{
    std::vector<Failure> own = {launcher_ended(1), launcher_ended(128 + SIGSEGV),
                                launcher_ended(SIGKILL), crash(1)};
    for (int signal : {SIGSEGV, SIGABRT, SIGFPE, SIGILL, SIGPIPE}) {
        own.push_back(ended_by(signal));
    }
    own.push_back(ended_by(0));
    own.back().status = (128 + SIGKILL) << 8; /* a code that the program chose */
    for (const Failure &failure : own) {
        RestartPolicy policy(usual_limits());
        const auto decision = policy.after(failure, 0);
        EXPECT_FALSE(decision.restart) << failure.text();
        EXPECT_EQ("there is no checkpoint to restart from", decision.why_not);
        EXPECT_TRUE(policy.after(failure, 1).restart) << failure.text();
    }
    std::vector<Failure> outside = {lost("n1"), launcher_ended(128 + SIGKILL)};
    for (int signal : {SIGKILL, SIGTERM, SIGBUS}) {
        outside.push_back(ended_by(signal));
    }
    for (const Failure &failure : outside) {
        EXPECT_TRUE(RestartPolicy(usual_limits()).after(failure, 0).restart) << failure.text();
    }
}

TEST(Restarts, FromTheBeginningHaveTheSameLimits)
{
    RestartPolicy policy(usual_limits());
    EXPECT_EQ(0, policy.after(ended_by(SIGKILL), 0).delay.count());
    EXPECT_EQ(seconds(1), policy.after(ended_by(SIGKILL), 0).delay);
    EXPECT_NE(std::string::npos,
              policy.after(ended_by(SIGKILL), 0).why_not.find("again and again"));
    RestartPolicy launcher(usual_limits());
    EXPECT_TRUE(launcher.after(launcher_ended(137), 0).restart);
    EXPECT_TRUE(launcher.after(launcher_ended(137), 0).restart);
    EXPECT_FALSE(launcher.after(launcher_ended(137), 0).restart);
}

TEST(Restarts, FromTheBeginningCanBeForbidden)
{
    RestartPolicy::Limits limits = usual_limits();
    limits.fresh_start = false;
    RestartPolicy policy(limits);
    EXPECT_EQ("there is no checkpoint to restart from, and the job must not start over",
              policy.after(lost("n1"), 0).why_not);
    EXPECT_TRUE(policy.after(lost("n1"), 1).restart);
}

TEST(Restarts, WaitLongerEachTime)
{
    RestartPolicy::Limits limits = usual_limits();
    limits.restarts = 100;
    RestartPolicy policy(limits);
    std::vector<int> delays;
    for (int node = 0; node < 9; node++) {
        const auto decision = policy.after(lost("n" + std::to_string(node)), 1);
        delays.push_back(static_cast<int>(decision.delay / seconds(1)));
    }
    EXPECT_EQ((std::vector<int>{0, 1, 2, 4, 8, 16, 32, 60, 60}), delays);
    EXPECT_EQ(0, policy.after(lost("m"), 2).delay.count());
}

} // namespace

} // namespace ckpt

/* ---- Nodes ---------------------------------------------------------------------- */

namespace ckpt::cli
{

namespace
{

LaunchLine line(const Words &words)
{
    return parse_launch_line(words);
}

std::string text(const NodeList &nodes)
{
    std::string text;
    for (const NodeSlots &node : nodes) {
        text += node.host + ":" + std::to_string(node.slots) + " ";
    }
    return text;
}

TEST(Nodes, OfTheLaunchers)
{
    EXPECT_EQ("a:2 b:0 ",
              text(nodes_of(line({"mpirun.openmpi", "--host", "a:2,b", "./app"}))));
    EXPECT_EQ("a:2 b:0 ",
              text(nodes_of(line({"mpirun.openmpi", "-H", "a,b", "-H", "a", "./app"}))));
    EXPECT_EQ("a:2 b:3 ",
              text(nodes_of(line({"mpiexec.hydra", "-hosts", "a:2,b:3", "./app"}))));
    EXPECT_EQ("a:0 b:0 ", text(nodes_of(line({"srun", "--nodelist=a,b", "./app"}))));
    EXPECT_EQ("", text(nodes_of(line({"srun", "-w", "n[1-3]", "./app"}))));
    EXPECT_EQ("", text(nodes_of(line({"mpirun.openmpi", "-np", "2", "./app"}))));
}

TEST(Nodes, OfAHostFile)
{
    const std::string path = testing::TempDir() + "ckpt-hosts";
    std::ofstream(path) << "# nodes\na slots=2 max_slots=4\n\nb # one\nc:3\n";
    EXPECT_EQ("a:2 b:0 c:3 ",
              text(nodes_of(line({"mpirun.openmpi", "--hostfile", path, "./app"}))));
    std::remove(path.c_str());
    EXPECT_THROW(nodes_of(line({"mpirun.openmpi", "--hostfile", path, "./app"})), Error);
}

TEST(Nodes, NamesWithAndWithoutDomain)
{
    EXPECT_TRUE(is_same_host("n1", "n1"));
    EXPECT_TRUE(is_same_host("n1", "n1.example.org"));
    EXPECT_FALSE(is_same_host("n1", "n10.example.org"));
    EXPECT_FALSE(is_same_host("n1.example.org", "n1.example.com"));
}

TEST(Nodes, AreReplacedInTheCommand)
{
    auto command = line({"mpirun.openmpi", "--hostfile", "/none", "-np", "2", "./app"});
    set_nodes(command, {{"b", 2}, {"c", 0}});
    EXPECT_EQ((Words{"mpirun.openmpi", "-np", "2", "--host", "b:2,c", "./app"}),
              join_launch_line(command));
    command = line({"srun", "-n", "2", "-N", "3", "./app"});
    set_nodes(command, {{"b", 2}, {"c", 0}});
    EXPECT_EQ((Words{"srun", "-n", "2", "--nodelist=b,c", "--nodes=2", "./app"}),
              join_launch_line(command));
}

TEST(Nodes, SparesTakeThePlaceOfThoseThatAreLost)
{
    NodePlan plan({{"a", 1}, {"b", 1}, {"c", 1}}, 1);
    EXPECT_TRUE(plan.differs());
    EXPECT_EQ("a:1 b:1 ", text(plan.now(2)));
    plan.lose("a.example.org");
    EXPECT_EQ("b:1 c:1 ", text(plan.now(2)));
    plan.lose("c");
    EXPECT_EQ("b:2 ", text(plan.now(2)));
    EXPECT_EQ(1u, plan.left());
    EXPECT_THROW(NodePlan({{"a", 1}}, 1), Error);
}

TEST(Nodes, MoveAndBack)
{
    NodePlan plan({{"a", 2}, {"b", 2}, {"c", 0}}, 1);
    plan.move("a", "");
    EXPECT_EQ("c:2 b:2 ", text(plan.now(4)));
    /* The command does not name this one. */
    plan.move("b", "d");
    EXPECT_EQ("c:2 d:2 ", text(plan.now(4)));
    plan.move("d", "a");
    EXPECT_EQ("c:2 a:2 ", text(plan.now(4)));
    EXPECT_THROW(plan.move("x", "b"), Error);
    EXPECT_THROW(plan.move("a", "c"), Error);
}

TEST(Nodes, OnlyThoseThatAreListed)
{
    NodePlan plan({{"a", 2}, {"b", 1}, {"c", 0}, {"d", 0}, {"e", 0}}, 3);
    EXPECT_EQ(1u, plan.use_only({"d", "b.example.org", "c", "d"}));
    EXPECT_EQ("d:2 b:1 ", text(plan.now(3)));
    plan.lose("b");
    EXPECT_EQ("d:2 c:0 ", text(plan.now(3))) << "c has become a spare";
    EXPECT_EQ(0u, plan.use_only({"d", "c"}));
    EXPECT_EQ("d:2 c:0 ", text(plan.now(3)));
    plan.lose("c");
    EXPECT_EQ("d:3 ", text(plan.now(3))) << "a and e may not be used any more";
}

TEST(Nodes, MayAllBeOthers)
{
    NodePlan plan({{"a", 2}, {"b", 1}, {"c", 0}, {"d", 0}}, 2);
    EXPECT_EQ(2u, plan.use_only({"c", "d"}));
    EXPECT_EQ("c:2 d:1 ", text(plan.now(3)));
}

TEST(Nodes, WithNoPlaceToGoToNothingChanges)
{
    NodePlan plan({{"a", 1}, {"b", 1}, {"c", 1}}, 1);
    const auto reason = [&](const std::vector<std::string> &hosts) -> std::string {
        try {
            plan.use_only(hosts);
        } catch (const Error &error) {
            return error.what();
        }
        return "";
    };
    EXPECT_EQ("no free node is listed for the ranks on b", reason({"a"}));
    EXPECT_EQ("node x is unknown: the command does not name it", reason({"a", "x"}));
    plan.lose("c");
    EXPECT_EQ("no free node is listed for the ranks on b", reason({"a", "c"})) << "it was lost";
    EXPECT_EQ("a:1 b:1 ", text(plan.now(2)));
}

TEST(Nodes, NamesInAFile)
{
    const std::string path = testing::TempDir() + "ckpt-nodes";
    const auto read = [&](const std::string &content) {
        std::ofstream(path) << content;
        return read_node_names(path);
    };
    EXPECT_EQ((std::vector<std::string>{"n1", "n2.example.org"}),
              read("# mine\n n1\n\nn2.example.org # and this\n"));
    for (const char *wrong : {"", "# n1\n", "n1 n2\n", "n1\nn2:2\n", "n[1-2]\n", "n1,n2\n"}) {
        EXPECT_THROW(read(wrong), Error) << wrong;
    }
    std::remove(path.c_str());
    EXPECT_THROW(read_node_names(path), Error);
}

TEST(Nodes, WithoutASpareNothingMoves)
{
    NodePlan plan({{"a", 1}, {"b", 1}}, 0);
    EXPECT_THROW(plan.move("a", ""), Error);
    EXPECT_FALSE(plan.differs());
}

} // namespace

} // namespace ckpt::cli
