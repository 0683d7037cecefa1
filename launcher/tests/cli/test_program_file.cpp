/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_program_file.cpp - which programs can run without a launcher, and what they inherit.
 */
#include "cli/base/inherited_descriptors.hpp"
#include "cli/launchers/program_file.hpp"
#include "common/processes.hpp"
#include "tests/cli/cli_fixture.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include <fcntl.h>
#include <unistd.h>

using namespace ckpt;
using namespace ckpt::cli;
using namespace ckpt::test;
namespace fs = std::filesystem;

namespace
{

class ProgramFile : public CliTest
{
  protected:
    fs::path script(const std::string &first_line) const
    {
        fs::path path = scratch_ / "script";
        std::ofstream(path) << first_line << "\n";
        return path;
    }
};

TEST_F(ProgramFile, FindsTheInterpreterOfAScript)
{
    EXPECT_EQ(interpreter_of(script("#!/bin/sh -e")), "/bin/sh");
    EXPECT_EQ(interpreter_of(script("#! /usr/bin/env python3")), "/usr/bin/env");
    EXPECT_EQ(interpreter_of(script("echo")), scratch_ / "script");
    EXPECT_EQ(interpreter_of(CKPT_TEST_DIRECTORY "/sleeper"), CKPT_TEST_DIRECTORY "/sleeper");
    EXPECT_EQ(interpreter_of(script("#!" + std::string(scratch_ / "script"))),
              scratch_ / "script"); /* a loop: the search must end */
}

TEST_F(ProgramFile, KnowsShellsByWhatTheyAre)
{
    fs::path link = scratch_ / "mine";
    fs::create_symlink("/bin/sh", link);
    EXPECT_TRUE(is_shell("/bin/sh"));
    EXPECT_TRUE(is_shell(link));
    EXPECT_FALSE(is_shell(CKPT_TEST_DIRECTORY "/sleeper"));
}

TEST_F(ProgramFile, RefusesWhatNothingCanBeLoadedInto)
{
    EXPECT_NO_THROW(require_preloadable(CKPT_TEST_DIRECTORY "/sleeper"));
    EXPECT_NO_THROW(require_preloadable("/no/such/file"));
    EXPECT_THROW(require_preloadable(CKPT_TEST_DIRECTORY "/sleeper_static"), CommandError);
    fs::path other = scratch_ / "other";
    std::ofstream(other) << std::string("\177ELF\1\1\1") + std::string(60, '\0');
    EXPECT_THROW(require_preloadable(other), CommandError);
}

TEST(Descriptors, LeadingToOthersAreClosed)
{
    int ends[2], file = open("/dev/null", O_RDONLY);
    ASSERT_EQ(pipe(ends), 0);
    close_inherited_descriptors(
        {"prog", fmt::format("/dev/fd/{}", ends[0]), std::to_string(ends[1])});
    EXPECT_EQ(fcntl(ends[0], F_GETFD), 0);
    EXPECT_EQ(fcntl(ends[1], F_GETFD), FD_CLOEXEC);
    EXPECT_EQ(fcntl(file, F_GETFD), 0);
    for (int fd : {ends[0], ends[1], file}) {
        close(fd);
    }
}

TEST(ProcessIdentity, HasProcessIdAndStart)
{
    std::string identity = process_identity(getpid());
    EXPECT_EQ(identity.size(), 31u);
    EXPECT_EQ(identity.substr(0, 11), fmt::format("{:010}-", getpid()));
    EXPECT_NE(identity, process_identity(getppid()));
    EXPECT_EQ(process_identity(0), "");
}

} // namespace
