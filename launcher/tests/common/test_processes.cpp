/* SPDX-License-Identifier: BSD-3-Clause */
/* test_processes.cpp - what /proc says of processes that run and that have ended. */
#include "common/processes.hpp"

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <string>

using namespace ckpt;

TEST(Processes, AllAreListed)
{
    const auto found = process_ids();

    EXPECT_EQ(std::ranges::count(found, getpid()), 1);
    EXPECT_EQ(std::ranges::count(found, getppid()), 1);
    EXPECT_EQ(std::ranges::count(found, 0), 0);
}

TEST(Processes, DescriptorsAreListed)
{
    std::error_code error;
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);

    auto found = descriptors_of(getpid(), &error);

    EXPECT_FALSE(error);
    EXPECT_TRUE(std::ranges::any_of(
        found, [&](const auto &path) { return path.filename() == std::to_string(ends[1]); }));
    close(ends[0]);
    close(ends[1]);
}

TEST(Processes, ProcessThatHasEndedHasNoDescriptors)
{
    std::error_code error;
    pid_t child = fork();
    if (child == 0) {
        _exit(0);
    }
    siginfo_t info;
    ASSERT_EQ(waitid(P_PID, child, &info, WEXITED | WNOWAIT), 0);

    EXPECT_TRUE(descriptors_of(child, &error).empty()); /* not yet reaped */
    ASSERT_EQ(waitpid(child, nullptr, 0), child);
    EXPECT_TRUE(descriptors_of(child, &error).empty());
    EXPECT_TRUE(error);
}
