/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_cli_trace.cpp - `ckpt trace` on checkpoints with traces of each
 * protocol.
 */
#include "config.h"

#include "common/files/files.hpp"
#include "image/store/checkpoint_trace.hpp"
#include "tests/cli/cli_fixture.hpp"

#include <nlohmann/json.hpp>

using namespace ckpt;
using namespace ckpt::cli;
using namespace ckpt::test;
namespace fs = std::filesystem;

namespace
{

class Trace : public CliTest
{
  protected:
    /* A checkpoint with one of the traces of tests/traces. */
    Checkpoint commit_with(const std::string &trace, std::uint64_t number)
    {
        Checkpoint checkpoint = commit("a", number);
        fs::copy_file(std::string(CKPT_TRACE_DIRECTORY) + "/" + trace + ".json",
                      checkpoint.directory / trace_name);
        return checkpoint;
    }
};

void expect_lines(const Outcome &outcome, const Words &lines)
{
    EXPECT_EQ(outcome.exit_code, exit_done) << outcome.err;
    for (const std::string &line : lines) {
        EXPECT_NE(outcome.out.find(line + "\n"), std::string::npos)
            << "'" << line << "' is not in\n"
            << outcome.out;
    }
}

TEST_F(Trace, OfSyncAndStopIsComparedWith4n)
{
    commit_with("sync-and-stop", 1);
    expect_lines(
        ckpt_says({"trace"}),
        {"checkpoint   ring/2", "protocol     Sync-and-Stop, 4 ranks, 1 node",
         "cut          4.28 ms to 10.8 ms after the request",
         "stood still  73.3 ms at most", "end          81.4 ms",
         "1     a     88.8 us  56.6 us         4.28 ms  33.1 ms   32.8 ms",
         "stop and save  16     4 n = 16  4 STOP, 4 DRAINED, 4 SAVE, 4 READY",
         "alignment      11     2 n = 8   4 REQUEST, 7 REPORT"});
}

TEST_F(Trace, OfChandyLamportHasMarkersAndTheLog)
{
    commit_with("chandy-lamport", 1);
    expect_lines(
        ckpt_says({"trace", "a/1"}),
        {"cut            8      2 n = 8                 4 CUT, 4 READY",
         "markers        12     n (n - 1) = 12 at most  on channels used "
         "before the cut",
         "first use      0      n (n - 1) = 12 at most  markers before a "
         "first message",
         "logged: 4 messages that crossed the cut, 78.1 KiB"});
}

TEST_F(Trace, OfSweepingIsComparedWithTheMesh)
{
    commit_with("network-sweeping", 1);
    Outcome outcome = ckpt_says({"trace"});
    EXPECT_NE(outcome.out.find("sweep          8      8 for 4 nodes in a "),
              std::string::npos)
        << outcome.out;
    expect_lines(outcome, {"protocol     Network sweeping, 8 ranks, 4 nodes"});
}

TEST_F(Trace, SaysWhatIsLeftOut)
{
    Checkpoint checkpoint = commit("a", 1);
    CheckpointTrace trace;
    trace.protocol = "sns";
    trace.rank_count = 1000;
    trace.every = 8;
    trace.left_out = 7;
    trace.write(checkpoint.directory);
    expect_lines(ckpt_says({"trace"}),
                 {"cut          - to - after the request",
                  "left out     7 events; every 8th rank has its own"});
}

TEST_F(Trace, IsPrintedAsItWasRecorded)
{
    Checkpoint checkpoint = commit_with("network-sweeping", 1);
    Outcome outcome = ckpt_says({"trace", "--json"});
    EXPECT_EQ(outcome.exit_code, exit_done);
    auto stored = nlohmann::json::parse(
        read_text_file(checkpoint.directory / trace_name, "trace"));
    EXPECT_EQ(nlohmann::json::parse(outcome.out), stored);
}

TEST_F(Trace, IsDrawn)
{
    commit_with("chandy-lamport", 1);
    std::string path = scratch_ / "cut.svg";
    write_text_file(path, std::string(100'000, 'x'), "old picture");
    Outcome outcome = ckpt_says({"trace", "--svg", path});
    EXPECT_EQ(outcome.exit_code, exit_done) << outcome.err;
    EXPECT_EQ(outcome.out, "a/1: drawn in " + path + "\n");
    std::string svg = read_text_file(path, "picture");
    EXPECT_TRUE(svg.starts_with("<?xml"));
    EXPECT_TRUE(svg.ends_with("</svg>\n"));

    outcome = ckpt_says({"trace", "--json", "--svg", path});
    EXPECT_EQ(nlohmann::json::parse(outcome.out)["protocol"], "cl");

    outcome = ckpt_says({"trace", "--svg", scratch_ / "no/such/cut.svg"});
    EXPECT_EQ(outcome.exit_code, exit_failed);
    EXPECT_NE(outcome.err.find("cannot write"), std::string::npos);
    EXPECT_NE(outcome.err.find("No such file"), std::string::npos);
}

TEST_F(Trace, ThatIsMissingOrDamagedIsTold)
{
    Checkpoint checkpoint = commit("a", 1);
    Outcome outcome = ckpt_says({"trace"});
    EXPECT_EQ(outcome.exit_code, exit_not_found);
    EXPECT_EQ(outcome.err, "ckpt: checkpoint a/1 has no trace\n");

    write_text_file(checkpoint.directory / trace_name, "{\"format\":1", "trace");
    outcome = ckpt_says({"trace"});
    EXPECT_EQ(outcome.exit_code, exit_failed);
    EXPECT_NE(outcome.err.find("trace.json is not JSON"), std::string::npos)
        << outcome.err;
    EXPECT_EQ(ckpt_says({"list"}).exit_code, exit_done);
}

TEST_F(Trace, GoesWithItsCheckpointAndIsNoPartOfItsSize)
{
    Checkpoint old = commit_with("sync-and-stop", 1);
    commit_with("sync-and-stop", 2);
    auto list = nlohmann::json::parse(ckpt_says({"list", "--json"}).out);
    EXPECT_EQ(list[0]["bytes"], 5);
    EXPECT_EQ(ckpt_says({"gc", "--keep", "1"}).exit_code, exit_done);
    EXPECT_FALSE(fs::exists(old.directory));
}

} // namespace
