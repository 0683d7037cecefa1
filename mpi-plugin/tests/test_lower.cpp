// SPDX-License-Identifier: BSD-3-Clause
/*
 * test_lower.cpp - a lower half is loaded, works, and does not disturb the
 * application.
 *
 * lower_subject, a separate process for each test, does the work. The launcher
 * is configure's choice, or CKPT_TEST_MPIRUN. Run as root, it needs
 * OMPI_ALLOW_RUN_AS_ROOT and OMPI_ALLOW_RUN_AS_ROOT_CONFIRM set to 1.
 */
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <sys/wait.h>

namespace
{

// The command that runs lower_subject on a number of ranks.
std::string subject(int ranks, const std::string &mode)
{
    const char *given = std::getenv("CKPT_TEST_MPIRUN");
    const std::string launcher = given != nullptr ? given : MPIRUN;

    return "timeout 60 " + launcher + " -np " + std::to_string(ranks) +
           " ./lower_subject ./ckpt-host " + mode;
}

// Runs a shell command; returns its exit status and puts its output into
// `output`.
int run(const std::string &command, std::string &output)
{
    std::FILE *pipe = popen((command + " 2>&1").c_str(), "r");
    char part[4096];
    std::size_t size;

    if (pipe == nullptr) {
        return -1;
    }
    while ((size = std::fread(part, 1, sizeof(part), pipe)) > 0) {
        output.append(part, size);
    }
    int status = pclose(pipe);
    std::fputs(output.c_str(), stdout);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(Lower, KeepsToItself)
{
    std::string output;

    EXPECT_EQ(run(subject(1, "alone"), output), 0);
    EXPECT_NE(output.find("residue"), std::string::npos);
}

TEST(Lower, ClaimsNothingOfABusyApplication)
{
    std::string output;

    EXPECT_EQ(run(subject(1, "busy"), output), 0);
}

TEST(Lower, SaysWhatCannotBeLoaded)
{
    std::string output;

    EXPECT_EQ(run(subject(1, "failures"), output), 0);
}

TEST(Lower, KeepsAnyLibraryToItself)
{
    std::string output;

    EXPECT_EQ(run("timeout 60 ./lower_subject ./ckpt-host guest", output), 0);
}

TEST(Lower, SaysWhyTheLibraryEndsTheProcess)
{
    const std::string end = "timeout 60 ./lower_subject ./ckpt-host last-words";
    std::string output, silent;

    EXPECT_EQ(run(end, output), 7);
    EXPECT_EQ(output, "this was the reason\n");
    EXPECT_EQ(run("GUEST_SILENT=1 " + end, silent), 7);
    EXPECT_EQ(silent, "");
}

TEST(Lower, EndsAloneIfTheLibraryGivesUp)
{
    std::string output;

    EXPECT_EQ(run("(timeout 60 ./lower_subject ./ckpt-host give-up; exit $?)", output), 137);
    EXPECT_NE(output.find("gives up, with code 14"), std::string::npos) << output;
}

TEST(Lower, IsDiscardedAndLoadedAgain)
{
    std::string output;

    EXPECT_EQ(run("timeout 120 ./lower_subject ./ckpt-host discard", output), 0);
    EXPECT_NE(output.find("mappings"), std::string::npos);
}

TEST(Lower, WorksOnIfItCannotBeDiscarded)
{
    std::string output;

    EXPECT_EQ(run("timeout 60 ./lower_subject ./ckpt-host keep", output), 0);
}

// The launcher reports ranks that end without MPI_Finalize.
TEST(Lower, DiscardsAnMpiLibraryInUse)
{
    std::string output;

    (void)run(subject(2, "discard-mpi"), output);
    const std::size_t first = output.find("discarded, residue");
    ASSERT_NE(first, std::string::npos);
    EXPECT_NE(output.find("discarded, residue", first + 1), std::string::npos);
}

TEST(Lower, TwoRanksExchangeMessages)
{
    std::string output;

    EXPECT_EQ(run(subject(2, "pair"), output), 0);
    EXPECT_NE(output.find("bytes one way"), std::string::npos);
}

TEST(Lower, HostRefusesToBeStartedByHand)
{
    std::string output;

    EXPECT_EQ(run("./ckpt-host", output), 2);
    EXPECT_NE(output.find("not by hand"), std::string::npos);
}

} // namespace
