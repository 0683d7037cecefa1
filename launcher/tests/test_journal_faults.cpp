/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_journal_faults.cpp - a roll back is killed at each of its points, one by one; the
 * next one finishes it, and gives the same tree.
 */
#include "tests/journal_fixture.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <tuple>

namespace ckpt
{

namespace
{

class RollbackFaults : public test::JournalTest,
                       public testing::WithParamInterface<std::tuple<const char *, int>>
{
  protected:
    /* Something of everything. */
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

    /* The signal that has ended a child in which the COUNT-th point kills; 0: none did. */
    int roll_back_in_child() const
    {
        const auto [point, count] = GetParam();
        const pid_t child = ::fork();
        if (child == 0) {
            const std::string fault = point + (":" + std::to_string(count));
            ::setenv("CKPT_FAULT", fault.c_str(), 1);
            ::alarm(30);
            bring_back(5);
            ::_exit(0);
        }
        int status = 0;
        EXPECT_EQ(::waitpid(child, &status, 0), child);
        return WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
    }
};

} // namespace

TEST_P(RollbackFaults, IsFinishedByTheNext)
{
    checkpoint(5);
    change_files();
    const int signal = roll_back_in_child();
    if (signal == SIGKILL) {
        bring_back(5);
    } else { /* there are not so many steps */
        ASSERT_EQ(signal, 0);
        ASSERT_GT(std::get<1>(GetParam()), 1);
    }
    expect_remembered();
}

INSTANTIATE_TEST_SUITE_P(
    Points, RollbackFaults,
    testing::Combine(testing::Values("rollback-before-record", "rollback-after-record",
                                     "rollback-before-rename", "rollback-after-step",
                                     "rollback-before-done", "rollback-after-done",
                                     "rollback-during-removal"),
                     testing::Range(1, 21)));

} // namespace ckpt
