/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_program_parts.cpp - a command with several programs, on the command line or in an appfile,
 * and the command that restarts it.
 */
#include "cli/launchers/program_parts.hpp"
#include "cli/run/restart_line.hpp"
#include "tests/cli/cli_fixture.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

using namespace ckpt;
using namespace ckpt::cli;
using namespace ckpt::test;

namespace
{

Words split(const std::string &text)
{
    std::istringstream stream(text);
    Words words;
    for (std::string word; stream >> word;) {
        words.push_back(word);
    }
    return words;
}

std::string joined(const Words &words)
{
    return fmt::format("{}", fmt::join(words, " "));
}

class ProgramParts : public CliTest
{
  protected:
    std::vector<LaunchLine> parts(const std::string &command,
                                  const std::string &application = "") const
    {
        return program_parts(split(command), split(application), scratch_.path());
    }
    void appfile(const std::string &text) const { std::ofstream(scratch_ / "app") << text; }

    /* Returns the command that restarts such a job, without exported variables. */
    std::string restarted(const std::string &command, int ranks)
    {
        Manifest record = manifest("job", 1);
        record.launch.launcher = split(command);
        record.launch.application = {"./a"};
        record.launch.launcher_directory = scratch_.path();
        record.rank_count = ranks;
        RestartOptions options;
        options.libraries = "/lib/ckpt";
        Checkpoint checkpoint;
        checkpoint.job = "job";
        checkpoint.number = 1;
        checkpoint.directory = "/d/job/000001";
        checkpoint.manifest = record;
        std::vector<LaunchLine> lines = program_parts(
            restart_invocation({store_.directory(), {}}, checkpoint, options).command, {}, "");
        for (LaunchLine &line : lines) {
            EXPECT_NE(nullptr, line.find("x")) << joined(join_launch_line(line));
            line.remove("x");
        }
        return joined(join_program_parts(lines));
    }
};

TEST_F(ProgramParts, AreBetweenColons)
{
    const auto found = parts("mpirun --brand-new 1 ./a x : -np 2 ./b : ./c y", "./a x");
    ASSERT_EQ(3u, found.size());
    EXPECT_EQ("./a x", joined(found[0].application));
    EXPECT_EQ("./b", joined(found[1].application));
    EXPECT_EQ("./c y", joined(found[2].application));
    EXPECT_EQ("mpirun --brand-new 1 ./a x : -np 2 ./b : ./c y", joined(join_program_parts(found)));
}

TEST_F(ProgramParts, AreTheLinesOfAnAppfile)
{
    appfile("# programs\n-np 1 ./a \"one word\"\n\n  -np 2\t-x A=B ./b # two\n");
    const auto found = parts("mpirun --oversubscribe --app app");
    ASSERT_EQ(2u, found.size());
    EXPECT_EQ((Words{"./a", "one word"}), found[0].application);
    EXPECT_EQ("mpirun --oversubscribe -np 1 ./a one word : -np 2 -x A=B ./b",
              joined(join_program_parts(found)));
    EXPECT_THROW(parts("mpirun --app none"), Error);
}

TEST_F(ProgramParts, OneMayHaveTheRestOfTheRanks)
{
    EXPECT_EQ((std::vector<int>{1, 3}), ranks_of_parts(parts("mpirun -np 1 a : b"), 4));
    EXPECT_EQ((std::vector<int>{1, 3}), ranks_of_parts(parts("mpirun -np 1 a : -n 3 b"), 4));
    for (const char *wrong : {"mpirun -np 1 a : -np 2 b", "mpirun a : b", "mpirun -np 4 a : b",
                              "mpirun -np x a : -np 4 b", "mpirun -np 5 a : b"}) {
        EXPECT_TRUE(ranks_of_parts(parts(wrong), 4).empty()) << wrong;
    }
}

TEST_F(ProgramParts, AreRestartedWithTheirOwnOptions)
{
    EXPECT_EQ("mpirun --oversubscribe -np 1 /lib/ckpt/ckpt-restart /d/job/000001 : --host b -np 2 "
              "/lib/ckpt/ckpt-restart /d/job/000001",
              restarted("mpirun --oversubscribe -np 1 ./a : --host b ./b", 3));
    appfile("-np 1 ./a\n-np 1 ./b\n");
    EXPECT_EQ("mpirun -np 1 /lib/ckpt/ckpt-restart /d/job/000001 : -np 1 "
              "/lib/ckpt/ckpt-restart /d/job/000001",
              restarted("mpirun --app app", 2));
}

TEST_F(ProgramParts, AreNotGuessed)
{
    appfile("-np 1 ./a\n-np 1 ./b\n");
    EXPECT_THROW(restarted("mpirun --app app", 3), CommandError); /* the file has changed */
    EXPECT_THROW(restarted("mpirun --app gone", 2), CommandError);
}

} // namespace
