/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * journal_fixture.hpp - a small tree of files, a journal, and a process that writes the journal.
 */
#pragma once

#include "journal/rollback.hpp"
#include "tests/journal/journal_writer.hpp"

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <tuple>

namespace ckpt::test
{

using Point = std::tuple<const char *, int>; /* and how often before */

/* Runs `work` in a child that the point kills; returns the ending signal, 0 if the child did not
 * reach the point. */
template <typename Work>
int killed_at(const Point &point, Work work)
{
    const pid_t child = ::fork();

    if (child == 0) {
        const std::string fault = std::get<0>(point) + (":" + std::to_string(std::get<1>(point)));
        ::setenv("CKPT_FAULT", fault.c_str(), 1);
        ::alarm(30);
        work();
        ::_exit(0);
    }
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
}

class JournalTest : public testing::Test
{
  public:
    std::filesystem::path top = make_directory();
    std::filesystem::path journal = top / "journal";

    std::string path(const std::string &name) const { return tree_ / name; }

    journal::Outcome bring_back(std::uint64_t checkpoint,
                                journal::Files files = journal::Files::roll_back) const
    {
        journal::Wish wish;
        wish.journal = journal;
        wish.checkpoint = checkpoint;
        wish.name = "job/" + std::to_string(checkpoint);
        wish.files = files;
        return journal::bring_back(wish);
    }

  protected:
    JournalTest()
    {
        for (const char *name : {"directory", "second", "empty"}) {
            std::filesystem::create_directory(tree_ / name);
        }
        write_file(path("old"), "old content\n");
        write_file(path("directory/inside"), "inside\n");
        write_file(path("second/file"), "second\n");
    }

    ~JournalTest() override { std::filesystem::remove_all(top); }

    void remember() { remembered_ = look_at(tree_); }

    void checkpoint(std::uint64_t mark)
    {
        remember();
        writer.mark(mark);
    }

    void expect_remembered() const
    {
        EXPECT_EQ(difference(remembered_, look_at(tree_)), "");
    }

  private:
    static std::filesystem::path make_directory()
    {
        char pattern[] = "/tmp/ckpt-rollback-XXXXXX";
        const std::filesystem::path made = std::filesystem::canonical(::mkdtemp(pattern));
        std::filesystem::create_directories(made / "journal/kept");
        std::filesystem::permissions(made / "journal", std::filesystem::perms::owner_all);
        std::filesystem::create_directory(made / "tree");
        return made;
    }

    std::filesystem::path tree_ = top / "tree";
    SeenTree remembered_;

  protected:
    std::uint64_t clock = 1000;
    JournalWriter writer{journal, "host", 100, 0, clock};
};

} // namespace ckpt::test
