/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_journal_faults.cpp - a rollback is killed at each of its points, one by one; the next one
 * finishes it, with the same tree.
 */
#include "journal/drop.hpp"
#include "tests/journal/journal_fixture.hpp"

#include <csignal>
#include <tuple>

namespace ckpt
{

namespace
{

using test::killed_at;
using test::Point;

class RollbackFaults : public test::JournalTest,
                       public testing::WithParamInterface<Point>
{
  protected:
    /* Makes changes of every kind. */
    void change_files()
    {
        writer.append(path("old"), "more");
        writer.rewrite(path("old"), 1, "XYZ");
        writer.create(path("tmp"), "new");
        writer.rename(path("tmp"), path("directory/inside"));
        writer.move_directory(path("directory"), path("moved"));
        writer.create(path("moved/new"), "1");
        writer.unlink(path("second/file"));
        writer.make_symlink("somewhere", path("link"));
        writer.change_mode(path("old"), 0600);
        writer.move_directory(path("empty"), path("full"));
        writer.move_directory(path("full"), path("no longer"));
        writer.remove_directory(path("no longer"));
        writer.exchange(path("moved"), path("second"));
        writer.replace_content(path("old"), "short");
    }

    int roll_back_in_child() const
    {
        return killed_at(GetParam(), [this] { bring_back(5); });
    }
};

class OlderRollback : public RollbackFaults
{
};

class DropFaults : public RollbackFaults
{
};

} // namespace

TEST_P(RollbackFaults, IsFinishedByTheNext)
{
    checkpoint(5);
    change_files();
    const int signal = roll_back_in_child();
    if (signal == SIGKILL) {
        bring_back(5);
    } else { /* there are fewer steps */
        ASSERT_EQ(signal, 0);
        ASSERT_GT(std::get<1>(GetParam()), 1);
    }
    expect_remembered();
}

/* A rollback to one checkpoint was interrupted; the next one goes to the checkpoint before. */
TEST_P(OlderRollback, BeginsWhenTheInterruptedOneIsFinished)
{
    checkpoint(4);
    writer.rewrite(path("old"), 4, "between");
    writer.create(path("between"), "between");
    writer.unlink(path("directory/inside"), true);
    writer.create(path("directory/inside"), "between");
    writer.mark(5);
    change_files();
    (void)roll_back_in_child();
    bring_back(4);
    EXPECT_EQ(test::read_file(path("old")), "old content\n");
    EXPECT_EQ(test::read_file(path("directory/inside")), "inside\n");
    EXPECT_FALSE(std::filesystem::exists(path("between")));
    EXPECT_EQ(test::read_file(path("second/file")), "second\n");
}

/* All that the checkpoint needs is there, whether or not the drop is repeated. */
TEST_P(DropFaults, LeavesWhatIsNeeded)
{
    change_files();
    test::write_file(path("second/file"), "second\n");
    checkpoint(5);
    writer.unlink(path("second/file"));
    writer.append(path("old"), "more");
    const auto drop = [this] { journal::drop_before(journal, 5); };
    EXPECT_EQ(killed_at(GetParam(), drop), SIGKILL);
    if (std::get<1>(GetParam()) == 1) {
        drop();
        EXPECT_EQ(journal::Journal::read(journal).dropped.checkpoint, 5u);
    }
    bring_back(5);
    expect_remembered();
}

INSTANTIATE_TEST_SUITE_P(Points, DropFaults,
                         testing::Values(Point("drop-before-note", 1), Point("drop-before-note", 2),
                                         Point("drop-before-note", 9),
                                         Point("drop-after-note", 1)));

const auto points =
    testing::Values("rollback-before-record", "rollback-after-record", "rollback-before-rename",
                    "rollback-after-step", "rollback-before-done", "rollback-after-done",
                    "rollback-during-removal");

INSTANTIATE_TEST_SUITE_P(Points, RollbackFaults, testing::Combine(points, testing::Range(1, 21)));
INSTANTIATE_TEST_SUITE_P(Points, OlderRollback, testing::Combine(points, testing::Range(1, 10, 4)));

} // namespace ckpt
