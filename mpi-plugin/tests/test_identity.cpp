/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_identity.cpp - the identity of a process survives exec, whatever its name, and differs from
 * the identity of its children.
 */
extern "C" {
#include "link/identity.h"
}

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <string>

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace
{

std::string identity()
{
    std::array<char, CKPT_IDENTITY_SIZE> text{};
    ckpt_identity(text.data());
    return text.data();
}

/* Reads process id and field 22 of proc(5) in an independent way. */
std::string read_by_awk(pid_t pid)
{
    std::array<char, 64> line{};
    std::string command =
        "awk '{ sub(/.*\\) /, \"\"); printf \"%010d-%020d\", " +
        std::to_string(pid) + ", $20 }' /proc/" + std::to_string(pid) + "/stat";
    FILE *pipe = popen(command.c_str(), "r");
    EXPECT_NE(fgets(line.data(), line.size(), pipe), nullptr);
    pclose(pipe);
    return line.data();
}

TEST(Identity, IsProcessIdAndTimeOfStart)
{
    EXPECT_EQ(identity(), read_by_awk(getpid()));
}

TEST(Identity, DoesNotDependOnTheName)
{
    std::string before = identity();
    prctl(PR_SET_NAME, "a) R 1 (b 2");
    EXPECT_EQ(identity(), before);
}

TEST(Identity, IsNotThatOfAChild)
{
    std::string before = identity();
    pid_t child = fork();
    if (child == 0) {
        _exit(identity() == before ? 1 : 0);
    }
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
}

TEST(Identity, IsRenewedWhereItStands)
{
    std::string old = CKPT_IDENTITY_VARIABLE "=" + std::string(10, '1') + "-" +
                      std::string(20, '2');
    std::string shorter = CKPT_IDENTITY_VARIABLE "=1-2";
    std::string other = "OTHER=" + std::string(31, '3');
    std::array<char *, 4> environment = {other.data(), shorter.data(), old.data(),
                                         nullptr};
    ckpt_identity_renew(environment.data());
    EXPECT_EQ(old, CKPT_IDENTITY_VARIABLE "=" + identity());
    EXPECT_EQ(shorter, CKPT_IDENTITY_VARIABLE "=1-2");
    EXPECT_EQ(other, "OTHER=" + std::string(31, '3'));
}

} // namespace
