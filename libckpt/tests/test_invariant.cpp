/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_invariant.cpp - a false invariant makes a process unsound, once and for all.
 *
 * Each test becomes unsound in a process of its own.
 */
extern "C" {
#include "base/invariant.h"
}

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <string>
#include <thread>
#include <vector>

namespace
{

int heard;

int hear(const char *, int line, const char *condition)
{
    heard += line > 0 && std::strcmp(condition, "1 > 2") == 0;
    return 0;
}

/* Ends the process: 0 if `good`. */
[[noreturn]] void end(bool good)
{
    std::_Exit(good ? 0 : 1);
}

TEST(Invariant, a_process_is_sound_at_first)
{
    ckpt_failure failure = {"untouched", CKPT_REFUSAL_NONE};

    EXPECT_EQ(CKPT_INVARIANT(2 > 1), 1);
    EXPECT_EQ(ckpt_unsound(), nullptr);
    EXPECT_EQ(ckpt_unsound_refuse(&failure), 0);
    EXPECT_STREQ(failure.text, "untouched");
}

TEST(Invariant, the_first_false_one_is_the_reason_and_is_said_once)
{
    const auto fail_twice = [] {
        ckpt_failure failure = {"", CKPT_REFUSAL_NONE};
        const int line = __LINE__ + 1;
        const int first = CKPT_INVARIANT(1 > 2);
        const int second = CKPT_INVARIANT(3 > 4);
        char reason[300];

        std::snprintf(reason, sizeof reason, "%s:%d: 1 > 2", __FILE__, line);
        end(first == 0 && second == 0 && std::strcmp(ckpt_unsound(), reason) == 0 &&
            ckpt_unsound_refuse(&failure) == -ENOTRECOVERABLE &&
            std::strstr(failure.text, reason) != nullptr);
    };

    EXPECT_EXIT(fail_twice(), testing::ExitedWithCode(0),
                "^ckpt: internal error, no more checkpoints of this process: "
                ".*test_invariant.cpp:[0-9]+: 1 > 2\n$");
}

TEST(Invariant, errno_stays)
{
    const auto fail = [] {
        errno = EXDEV;
        (void)CKPT_INVARIANT(1 > 2);
        end(errno == EXDEV);
    };

    EXPECT_EXIT(fail(), testing::ExitedWithCode(0), "1 > 2");
}

TEST(Invariant, a_long_condition_is_cut)
{
    const auto fail = [] {
        const std::vector<char> text(1000, 'x');

        ckpt_invariant_failed("file", 1, std::string(text.data(), text.size()).c_str());
        end(std::strlen(ckpt_unsound()) < sizeof(ckpt_failure::text));
    };

    EXPECT_EXIT(fail(), testing::ExitedWithCode(0), "file:1: xxx");
}

TEST(Invariant, many_threads_give_one_reason)
{
    const auto fail = [] {
        std::vector<std::thread> threads;

        for (int i = 0; i < 8; i++) {
            threads.emplace_back([] { (void)CKPT_INVARIANT(1 > 2); });
        }
        for (std::thread &thread : threads) {
            thread.join();
        }
        end(std::strstr(ckpt_unsound(), ": 1 > 2") != nullptr);
    };

    EXPECT_EXIT(fail(), testing::ExitedWithCode(0), "^[^\n]*: 1 > 2\n$");
}

TEST(Invariant, another_program_can_hear_of_it)
{
    const auto fail = [] {
        ckpt_invariant_report_to(ckpt_invariant_failed); /* must not call itself */
        ckpt_invariant_report_to(nullptr);
        ckpt_invariant_report_to(hear);
        (void)CKPT_INVARIANT(1 > 2);
        end(heard == 1 && ckpt_unsound() == nullptr);
    };

    EXPECT_EXIT(fail(), testing::ExitedWithCode(0), "^$");
}

} // namespace
