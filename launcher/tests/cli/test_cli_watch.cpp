/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_cli_watch.cpp - the output and the end of `ckpt status --watch`.
 */
#include "config.h"

#include "cli/jobs/status_view.hpp"
#include "tests/cli/cli_fixture.hpp"
#include "tests/agent/fake_agent.hpp"

#include "ckpt/wire.h"

#include <fmt/ranges.h>

#include <future>

using namespace ckpt;
using namespace ckpt::cli;
using namespace ckpt::test;

namespace
{

constexpr double began = 1764000000; /* 2025-11-24T16:00:00Z */

/* Eight ranks on two nodes, in the middle of a checkpoint. */
control::Status busy_job()
{
    control::Status status;
    status.job = "melt";
    status.phase = "write";
    status.host = "n1";
    status.application = "./lmp";
    status.directory = "/fast";
    status.launcher_pid = 4711;
    status.rank_count = 8;
    status.started = began;
    status.protocol = "sns";
    status.snapshot = "cll";
    status.codec = "zstd";
    status.nodes = {{"n1", {{0, 2}, {7, 7}}, true}, {"n2", {{3, 6}}, true}};
    status.committed = 2;
    status.last.number = 2;
    status.last.name = "melt/2";
    status.last.protocol = "sns";
    status.last.snapshot = "cll";
    status.last.bytes = 100'000'000;
    status.last.memory_bytes = 400'000'000;
    status.last.timings.total = 0.5;
    status.last.timings.stop = 0.031;
    status.last_at = began + 3600;
    status.interval = 300;
    status.progress.phase = "write";
    status.progress.ranks_done = 2;
    status.progress.rank_count = 8;
    status.progress.bytes_done = 104'857'600;
    status.progress.seconds = 0.25;
    return status;
}

std::string view(const control::Status &status, double now)
{
    return fmt::format("{}\n", fmt::join(status_view(status, now), "\n"));
}

TEST(StatusView, ShowsThatAJobIsSwappedOut)
{
    control::Status status = busy_job();
    status.phase = control::swapped_out;
    status.nodes.clear();
    EXPECT_EQ(view(status, began + 7200),
              "job         melt: swapped out, since 2025-11-24T16:00:00Z (2 h 0 min)\n"
              "program     8 ranks of ./lmp, ckpt run 4711 on n1\n"
              "settings    protocol sns, snapshot cll, codec zstd\n"
              "directory   /fast\n"
              "last        melt/2 (95.4 MiB), 1 h 0 min ago\n"
              "next        ckpt resume melt brings it back\n");
}

TEST(StatusView, ShowsACheckpointUnderWay)
{
    EXPECT_EQ(
        view(busy_job(), began + 3900),
        "job         melt: write, since 2025-11-24T16:00:00Z (1 h 5 min)\n"
        "program     8 ranks of ./lmp, mpirun 4711 on n1\n"
        "nodes       n1: ranks 0-2,7\n"
        "            n2: ranks 3-6\n"
        "settings    protocol sns, snapshot cll, codec zstd\n"
        "directory   /fast\n"
        "checkpoints 2 taken, 0 failed; 0 earlier launches have failed\n"
        "last        melt/2, 5 min 0 s ago, by sns with cll\n"
        "            95.4 MiB of 381.5 MiB memory (25 %) in 500 ms, 200 MB/s; ranks stood "
        "still for 31.0 ms\n"
        "now         write [######..................] 2 of 8 ranks, 100.0 MiB written, "
        "250 ms (the last one took 500 ms)\n"
        "next        every 5 min 0 s\n");
}

TEST(StatusView, ShowsWhatIsKnownOfAJobInTrouble)
{
    control::Status status = busy_job();
    status.phase = "running";
    status.progress = {};
    status.nodes[1] = {"n2", {{3, 3}}, false};
    status.increments = 16;
    status.last.standing = 1;
    status.automatic = true;
    status.next_in = 12;
    status.cost = 0.2;
    status.mtbf = 7200;
    status.failures = 2;
    status.failed = 1;
    status.slow_directory = "/slow";
    status.flushed = 1;
    status.flushing = 2;
    status.flush_error = "no space left";
    status.last_error = "rank 3: has a socket";
    status.last_refusal = "outside-connection";
    EXPECT_EQ(
        view(status, began + 3600.5),
        "job         melt: running, since 2025-11-24T16:00:00Z (1 h 0 min)\n"
        "program     8 ranks of ./lmp, mpirun 4711 on n1\n"
        "nodes       n1: ranks 0-2,7\n"
        "            n2: rank 3; its agent is lost\n"
        "settings    protocol sns, snapshot cll, codec zstd, incremental 16\n"
        "directory   /fast\n"
        "checkpoints 2 taken, 1 failed; 2 earlier launches have failed\n"
        "last        melt/2, just now, by sns with cll, 1 ranks with stop\n"
        "            95.4 MiB of 381.5 MiB memory (25 %) in 500 ms, 200 MB/s; ranks stood "
        "still for 31.0 ms\n"
        "next        in 12.0 s, every 5 min 0 s\n"
        "            one costs 200 ms; a failure every 2 h 0 min\n"
        "copied to   /slow: melt/1, melt/2 is on its way\n"
        "            not copied: no space left\n"
        "last error  rank 3: has a socket [outside-connection]\n");
}

TEST(StatusView, ShowsIndependentCheckpoints)
{
    control::Status status = busy_job();
    status.independent = {{0, 3, 40, 38, 1024, 9216, 8192}, {1, 4, 41, 39, 0, 0, 0}};
    status.capped = {3, 1, began + 3300, {0, 2}};
    status.salvaged = {2, 1, began + 3600, "rank 1 has no independent checkpoint"};
    const std::string text = view(status, began + 3900);
    EXPECT_NE(text.find("independent rank 0: 3 kept, interval 40 (newest: 38), log 1.0 KiB "
                        "(9.0 KiB logged, 8.0 KiB trimmed)\n"
                        "            rank 1: 4 kept, interval 41 (newest: 39), log "),
              text.npos)
        << text;
    EXPECT_NE(text.find("log cap     melt/1, 10 min 0 s ago: 3 taken, as ranks 0, 2 did not "
                        "take the requested independent checkpoint\n"),
              text.npos)
        << text;
    EXPECT_NE(text.find("salvaged    melt/2, 5 min 0 s ago: rank 1 was replayed\n"
                        "no replay   rank 1 has no independent checkpoint\n"),
              text.npos)
        << text;
}

TEST(StatusView, ShowsAJobOfWhichLittleIsKnown)
{
    control::Status status;
    status.job = "prog";
    status.phase = "held";
    status.waits_for = "rank 0: in the middle of a file";
    status.launch_namespace = CKPT_LAUNCH_ALONE "1";
    EXPECT_EQ(view(status, 0),
              "job         prog: held, since 1970-01-01T00:00:00Z (0.00 us)\n"
              "program     one process of , process 0 on \n"
              "settings    protocol , snapshot , codec \n"
              "directory   \n"
              "checkpoints 0 taken, 0 failed; 0 earlier launches have failed\n"
              "now         a checkpoint waits: rank 0: in the middle of a file\n"
              "next        when it is asked for\n");
}

/* An agent in the run directory, which signals after a number of requests. */
class Watch : public CliTest
{
  protected:
    static constexpr int enough = 3;

    Watch()
    {
        status_.job = "melt";
        status_.phase = "running";
        status_.directory = store_.directory();
        status_.launch_namespace = "melt-launch";
        agent_ = std::make_unique<FakeAgent>(
            scratch_ / "run/melt.ctl", [this](const control::Request &) {
                if (++asked_ == enough) {
                    asked_enough_.set_value();
                }
                return FakeAgent::status_line(status_);
            });
    }

    /* Runs the watch; the job's agent goes away and leaves the job in this state. */
    Outcome watch_until(const std::string &state)
    {
        auto outcome =
            std::async(std::launch::async, [] { return ckpt_says({"status", "--watch=20ms"}); });
        asked_enough_.get_future().wait();
        store_.write_job_state({"melt", state, "", 1, 1, "", 0});
        agent_.reset();
        return outcome.get();
    }

    control::Status status_;
    int asked_ = 0;
    std::promise<void> asked_enough_;
    std::unique_ptr<FakeAgent> agent_;
};

TEST_F(Watch, EndsWithTheJob)
{
    Outcome outcome = watch_until("ended");
    EXPECT_EQ(outcome.exit_code, exit_done) << outcome.err;
    EXPECT_NE(outcome.out.find("\n\njob         melt: running, "), std::string::npos)
        << outcome.out;
    EXPECT_NE(outcome.out.find("\n\njob         melt: ended, "), std::string::npos)
        << outcome.out;
    EXPECT_EQ(outcome.out.find('\033'), std::string::npos) << "this is no terminal";
}

TEST_F(Watch, EndsWhenNobodyWillRestartTheJob)
{
    Outcome outcome = watch_until("failed");
    EXPECT_EQ(outcome.exit_code, exit_done) << outcome.err;
    EXPECT_NE(outcome.out.find("\n\njob         melt: failed, "), std::string::npos)
        << outcome.out;
}

TEST_F(Watch, WantsAJobAndATime)
{
    EXPECT_EQ(ckpt_says({"status", "--watch=soon"}).exit_code, exit_usage);
    EXPECT_EQ(ckpt_says({"status", "--watch=0"}).exit_code, exit_usage);
    EXPECT_EQ(ckpt_says({"status", "--watch", "--json"}).exit_code, exit_usage);
    EXPECT_EQ(ckpt_says({"status", "--watch", "nobody"}).exit_code, exit_not_found);
}

} // namespace
