/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_credentials.cpp - a restart does not restore privileges that the program gave up.
 */
extern "C" {
#include "sys/syscall.h"
#include "task/credentials.h"
}

#include <cstring>
#include <functional>
#include <grp.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace
{

constexpr std::uint32_t nobody = 65534;
constexpr std::uint64_t two_capabilities = 0x3;

void in_child(const std::function<void()> &body)
{
    const pid_t child = fork();
    if (child == 0) {
        alarm(30);
        body();
        _exit(testing::Test::HasFailure() ? 1 : 0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
}

ckpt_credentials of_user(std::uint32_t user, std::uint64_t capabilities)
{
    ckpt_credentials credentials{};

    for (int i = 0; i < 4; i++) {
        credentials.user[i] = credentials.group[i] = user;
    }
    credentials.permitted = credentials.effective = capabilities;
    credentials.bounding = ~0ull;
    credentials.group_count = 1;
    credentials.groups[0] = user;
    return credentials;
}

bool are_equal(const ckpt_credentials &one, const ckpt_credentials &other)
{
    return std::memcmp(&one, &other, sizeof one) == 0;
}

TEST(Credentials, WhatTheProgramHasChangedIsAsItWas)
{
    const ckpt_credentials saved = of_user(7, two_capabilities);
    ckpt_credentials here = of_user(7, 0xff);

    here.groups[0] = 99;
    EXPECT_TRUE(are_equal(ckpt_credentials_wanted(&saved, &here, 1), saved));
    here = of_user(0, ~0ull);
    EXPECT_TRUE(are_equal(ckpt_credentials_wanted(&saved, &here, 1), saved));
}

TEST(Credentials, AnotherUserIsNeverWhoItWasNot)
{
    const ckpt_credentials saved = of_user(7, 0);
    const ckpt_credentials root = of_user(0, ~0ull);

    EXPECT_TRUE(are_equal(ckpt_credentials_wanted(&saved, &root, 0), saved));
    EXPECT_TRUE(are_equal(ckpt_credentials_wanted(&root, &saved, 0), root)); /* and fails */
}

TEST(Credentials, OfTheSameUserNoRightIsAdded)
{
    const ckpt_credentials saved = of_user(0, two_capabilities);
    ckpt_credentials here = of_user(0, 0x6);

    /* The launcher's groups belong to the launcher. */
    here.groups[0] = 99;
    const ckpt_credentials wanted = ckpt_credentials_wanted(&saved, &here, 0);
    EXPECT_EQ(wanted.permitted, 0x2u);
    EXPECT_EQ(wanted.effective, 0x2u);
    EXPECT_EQ(wanted.groups[0], 99u);
}

TEST(Credentials, AreReadAsTheKernelTellsThem)
{
    ckpt_credentials credentials;

    ASSERT_EQ(ckpt_credentials_read(0, &credentials), 0);
    EXPECT_EQ(credentials.user[0], getuid());
    EXPECT_EQ(credentials.user[1], geteuid());
    EXPECT_EQ(credentials.group[1], getegid());
    EXPECT_EQ(static_cast<int>(credentials.group_count), getgroups(0, nullptr));
    EXPECT_LT(ckpt_credentials_read(INT32_MAX, &credentials), 0);
}

/* The kernel keeps credentials per thread. A thread represents the program, and this one, which is
 * still root, represents the restart. */
TEST(Credentials, AProgramThatWasRootIsNotAfterARestart)
{
    if (geteuid() != 0) {
        GTEST_SKIP() << "needs root, to become somebody else";
    }
    in_child([] {
        ckpt_failure failure{};
        ckpt_credentials saved, restored;

        ckpt_credentials_open();
        std::thread([&] {
            const gid_t groups[] = {12, 34};
            ckpt_syscall3(SYS_setgroups, 2, reinterpret_cast<long>(groups), 0);
            ckpt_syscall3(SYS_setresgid, nobody, nobody, nobody);
            ckpt_syscall3(SYS_setresuid, nobody, nobody, nobody);
            EXPECT_EQ(ckpt_credentials_save(&failure), 0) << failure.text;
            EXPECT_EQ(ckpt_credentials_read(0, &saved), 0);
        }).join();
        ASSERT_EQ(geteuid(), 0u);
        prctl(PR_SET_DUMPABLE, 1); /* the state when a restart begins */
        ASSERT_EQ(ckpt_credentials_restore(&failure), 0) << failure.text;
        ASSERT_EQ(ckpt_credentials_read(0, &restored), 0);
        EXPECT_TRUE(are_equal(saved, restored));
        EXPECT_EQ(getuid(), nobody);
        EXPECT_NE(ckpt_syscall3(SYS_setresuid, 0, 0, 0), 0);
        EXPECT_EQ(prctl(PR_GET_DUMPABLE), 1); /* an agent of the user may read it */
        /* Another restart, as an unprivileged user: no change. */
        ckpt_credentials_open();
        EXPECT_EQ(ckpt_credentials_restore(&failure), 0) << failure.text;
    });
}

TEST(Credentials, WhoCannotBecomeTheUserIsRefused)
{
    if (geteuid() != 0) {
        GTEST_SKIP() << "needs root, to become somebody else";
    }
    in_child([] {
        ckpt_failure failure{};

        ckpt_credentials_open();
        ASSERT_EQ(ckpt_credentials_save(&failure), 0) << failure.text; /* as root */
        ASSERT_EQ(ckpt_syscall3(SYS_setresuid, nobody, nobody, nobody), 0);
        EXPECT_NE(ckpt_credentials_restore(&failure), 0);
        EXPECT_NE(std::strstr(failure.text, "user 0 "), nullptr) << failure.text;
        EXPECT_NE(std::strstr(failure.text, "as user 65534"), nullptr) << failure.text;
    });
}

void allow_all()
{
    sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    sock_fprog program = {1, &allow};

    ASSERT_EQ(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    ASSERT_EQ(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

TEST(Credentials, AFilterOfSystemCallsRefusesTheCheckpoint)
{
    in_child([] {
        ckpt_failure failure{};

        ckpt_credentials_open();
        ASSERT_EQ(ckpt_credentials_save(&failure), 0) << failure.text;
        allow_all();
        EXPECT_EQ(ckpt_credentials_save(&failure), -ENOTSUP);
        EXPECT_NE(std::strstr(failure.text, "seccomp"), nullptr) << failure.text;

        ckpt_credentials_open(); /* as if the launcher had set it */
        EXPECT_EQ(ckpt_credentials_save(&failure), 0) << failure.text;
        EXPECT_EQ(ckpt_credentials_restore(&failure), 0) << failure.text;
    });
}

/* The filters belong to the launcher's sandbox, and not to the program. */
TEST(Credentials, FiltersOfALauncherAreTheNewLaunchers)
{
    in_child([] {
        ckpt_failure failure{};

        std::thread([&] {
            allow_all();
            ckpt_credentials_open();
            EXPECT_EQ(ckpt_credentials_save(&failure), 0) << failure.text;
        }).join();
        EXPECT_EQ(ckpt_credentials_restore(&failure), 0) << failure.text;
    });
}

} // namespace
