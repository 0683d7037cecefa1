/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_cli_outputs.cpp - which concealed outputs `ckpt run` reveals when a job has ended.
 */
#include "config.h"

#include "cli/files/file_rollback.hpp"
#include "cli/files/output_revealer.hpp"
#include "common/error.hpp"
#include "journal/concealed.hpp"
#include "tests/cli/cli_fixture.hpp"
#include "tests/journal/journal_writer.hpp"

#include <string>

using namespace ckpt;
using namespace ckpt::cli;
using namespace ckpt::test;

namespace
{

/* A job of two ranks that conceals its outputs. */
class Outputs : public CliTest
{
  protected:
    Outputs() { journal::set_concealed(journal_, true); }

    static void say(JournalWriter &writer, const std::string &text)
    {
        writer.record(CKPT_JOURNAL_OUTPUT, "", "", text);
    }

    /* Returns what is revealed of the standard output. */
    std::string revealed() const
    {
        testing::internal::CaptureStdout();
        const std::string error =
            error_of([this] { reveal_committed_outputs(directories_, "job"); });
        const std::string output = testing::internal::GetCapturedStdout();
        return error.empty() ? output : error;
    }

    const TierDirectories directories_ = {store_.directory(), {}};
    const std::filesystem::path journal_ = provide_journal(directories_, "job");
    std::uint64_t clock_ = 1000;
    JournalWriter first_{journal_, "host", 100, 0, clock_};
    JournalWriter second_{journal_, "host", 101, 1, clock_};
};

} // namespace

TEST_F(Outputs, UpToACheckpointWithMarksOfAllRanks)
{
    say(first_, "before\n");
    first_.mark(5);
    second_.mark(5);
    say(first_, "after\n");
    Manifest saved = manifest("job", 1);
    saved.files_mark = 5;
    commit(saved);
    EXPECT_EQ(revealed(), "before\n");
}

TEST_F(Outputs, UpToACheckpointThatLacksTheMarkOfARank)
{
    say(first_, "before\n");
    first_.mark(5);
    Manifest saved = manifest("job", 1);
    saved.files_mark = 5;
    commit(saved);
    EXPECT_NE(revealed().find("no mark of rank 1"), std::string::npos);
}

/* Rank 1 had died before the others took the checkpoint, so it has no mark. */
TEST_F(Outputs, UpToACheckpointWithAReplayedRank)
{
    say(second_, "of the dead rank\n");
    say(first_, "before\n");
    first_.mark(5);
    say(first_, "after\n");
    Manifest saved = manifest("job", 1);
    saved.files_mark = 5;
    saved.replayed = {1};
    commit(saved);
    EXPECT_EQ(revealed(), "of the dead rank\nbefore\n");
}
