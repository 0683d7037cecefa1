/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_supervision.cpp - what `ckpt run` makes of ranks and nodes that are lost: when it ends
 * a launch, and whether and when there is another one.
 */
#include "cli/node_plan.hpp"
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
    watch_.rank_status(1, SIGSEGV);
    EXPECT_EQ("rank 1 on n2 was killed by signal 11 (Segmentation fault)",
              watch_.failure()->text());
    EXPECT_FALSE(watch_.failure()->is_from_outside());
    EXPECT_EQ(Step::none, watch_.step(after(milliseconds(4999))));
    EXPECT_EQ(after(seconds(5)), watch_.next_step());
    EXPECT_EQ(Step::end, watch_.step(after(seconds(5))));
    EXPECT_EQ(Step::none, watch_.step(after(milliseconds(7999))));
    EXPECT_EQ(Step::kill, watch_.step(after(seconds(8))));
    EXPECT_EQ(Step::kill, watch_.step(after(seconds(11))));
}

/* The others are killed by the launcher. */
TEST_F(Watch, TellsOfTheFirstRankThatEnds)
{
    watch_.rank_ended(1, begin_);
    watch_.rank_ended(0, begin_);
    watch_.rank_status(0, SIGTERM);
    watch_.rank_status(1, 3 << 8);
    EXPECT_EQ("rank 1 on n2 has ended with code 3 before MPI_Finalize",
              watch_.failure()->text());
}

TEST_F(Watch, ARankMayEndWellWithoutFinalize)
{
    watch_.rank_ended(1, begin_);
    watch_.rank_status(1, 0);
    EXPECT_FALSE(watch_.failure().has_value());
    EXPECT_EQ(Step::none, watch_.step(after(seconds(60))));
}

TEST_F(Watch, ToleratesWhatTheUserDealsWith)
{
    watch_.tolerate_ended_ranks();
    watch_.rank_ended(1, begin_);
    watch_.rank_status(1, SIGKILL);
    EXPECT_FALSE(watch_.failure().has_value());
}

TEST_F(Watch, EndsAJobThatHasLostANodeAtOnce)
{
    watch_.node_lost("n2", begin_);
    EXPECT_EQ(Step::end, watch_.step(begin_));
    EXPECT_TRUE(watch_.failure()->is_from_outside());
    EXPECT_EQ(1u, watch_.lost_nodes().count("n2"));
    watch_.rank_ended(0, begin_); /* which follows from it */
    EXPECT_EQ("node n2 was lost", watch_.failure()->text());
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
    watch_.rank_continued(1);
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

TEST(Restarts, AProgramThatCrashesTwiceInOnePlace)
{
    RestartPolicy policy({});
    EXPECT_TRUE(policy.after(crash(1), 1).restart);
    EXPECT_TRUE(policy.after(crash(1), 1).restart);
    const auto third = policy.after(crash(1), 1);
    EXPECT_FALSE(third.restart);
    EXPECT_NE(std::string::npos, third.why_not.find("again and again"));
}

TEST(Restarts, ANewCheckpointIsANewBeginning)
{
    RestartPolicy policy({});
    for (std::uint64_t checkpoint = 1; checkpoint <= 10; checkpoint++) {
        EXPECT_TRUE(policy.after(crash(1), checkpoint).restart);
    }
    EXPECT_EQ("no restart is left", policy.after(crash(1), 11).why_not);
}

TEST(Restarts, NodesThatAreLostAreNotTheProgramsFault)
{
    RestartPolicy policy({});
    for (int node = 0; node < 10; node++) {
        EXPECT_TRUE(policy.after(lost("n" + std::to_string(node)), 1).restart);
    }
    EXPECT_FALSE(policy.after(lost("n11"), 1).restart);
}

TEST(Restarts, WaitLongerEachTime)
{
    RestartPolicy::Limits limits;
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
    plan.move("b", "d"); /* one that the command does not name */
    EXPECT_EQ("c:2 d:2 ", text(plan.now(4)));
    plan.move("d", "a");
    EXPECT_EQ("c:2 a:2 ", text(plan.now(4)));
    EXPECT_THROW(plan.move("x", "b"), Error);
    EXPECT_THROW(plan.move("a", "c"), Error);
}

TEST(Nodes, WithoutASpareNothingMoves)
{
    NodePlan plan({{"a", 1}, {"b", 1}}, 0);
    EXPECT_THROW(plan.move("a", ""), Error);
    EXPECT_FALSE(plan.differs());
}

} // namespace

} // namespace ckpt::cli
