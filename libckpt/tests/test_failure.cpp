/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_failure.cpp - texts without libc: formatting, parsing, comparing.
 */
extern "C" {
#include "base/text.h"
#include "ckpt/failure.h"
}

#include <cerrno>
#include <climits>
#include <cstring>
#include <gtest/gtest.h>
#include <string>
#include <utility>

namespace
{

TEST(Failure, formats_every_conversion)
{
    ckpt_failure failure;

    EXPECT_EQ(ckpt_fail(&failure, -ENOENT, "%s|%d|%u|%l|%x|%%", "text",
                        INT_MIN, UINT_MAX, LONG_MIN, 0xdeadbeefcafeul),
              -ENOENT);
    EXPECT_STREQ(failure.text, "text|-2147483648|4294967295|"
                               "-9223372036854775808|deadbeefcafe|%");
    ckpt_fail(&failure, 0, "%d %u %l %x", 0, 0u, 0l, 0ul);
    EXPECT_STREQ(failure.text, "0 0 0 0");
    ckpt_fail(&failure, 0, "%s", static_cast<const char *>(nullptr));
    EXPECT_STREQ(failure.text, "(null)");
    ckpt_fail(&failure, 0, "100%");
    EXPECT_STREQ(failure.text, "100%");
}

TEST(Failure, cuts_a_text_that_is_too_long)
{
    ckpt_failure failure;
    std::string longer(sizeof(failure.text) + 50, 'x');

    ckpt_fail(&failure, -1, "%s", longer.c_str());
    EXPECT_EQ(std::strlen(failure.text), sizeof(failure.text) - 1);
}

TEST(Failure, a_refusal_has_the_identity_that_is_given)
{
    ckpt_failure failure;

    EXPECT_EQ(ckpt_refuse(&failure, CKPT_REFUSAL_LIVING_CHILD, -ENOTSUP, "process %d", 7),
              -ENOTSUP);
    EXPECT_EQ(failure.identity, CKPT_REFUSAL_LIVING_CHILD);
    EXPECT_STREQ(failure.text, "process 7");
}

TEST(Failure, a_failed_call_has_the_identity_of_its_error)
{
    const std::pair<int, ckpt_refusal> expected[] = {
        {-ENOMEM, CKPT_REFUSAL_NO_MEMORY},
        {-ENOSPC, CKPT_REFUSAL_NO_SPACE},
        {-EDQUOT, CKPT_REFUSAL_NO_SPACE},
        {-EMFILE, CKPT_REFUSAL_TOO_MANY_DESCRIPTORS},
        {-EIO, CKPT_REFUSAL_SYSTEM_ERROR},
    };

    for (const auto &[error, identity] : expected) {
        ckpt_failure failure;
        ckpt_fail(&failure, error, "x");
        EXPECT_EQ(failure.identity, identity) << error;
    }
}

TEST(Failure, a_number_without_a_name_is_unnamed)
{
    EXPECT_STREQ(ckpt_refusal_name(CKPT_REFUSAL_ENDED_CHILD), "ended-child");
    EXPECT_STREQ(ckpt_refusal_name(CKPT_REFUSAL_NONE), "unnamed");
    EXPECT_STREQ(ckpt_refusal_name(static_cast<ckpt_refusal>(4095)), "unnamed");
}

TEST(Text, format_reports_its_length)
{
    char buffer[8];

    EXPECT_EQ(ckpt_text_format(buffer, sizeof(buffer), "%d", -123), 4u);
    EXPECT_STREQ(buffer, "-123");
    EXPECT_EQ(ckpt_text_format(buffer, sizeof(buffer), "%s", "123456789"), 7u);
    EXPECT_STREQ(buffer, "1234567");
}

TEST(Text, numbers_end_where_the_digits_end)
{
    std::uint64_t value = 7;

    EXPECT_STREQ(ckpt_text_decimal("120 kB", &value), " kB");
    EXPECT_EQ(value, 120u);
    EXPECT_STREQ(ckpt_text_hexadecimal("7ffFg", &value), "g");
    EXPECT_EQ(value, 0x7fffu);
    EXPECT_STREQ(ckpt_text_decimal("18446744073709551615", &value), "");
    EXPECT_EQ(value, UINT64_MAX);
    EXPECT_STREQ(ckpt_text_hexadecimal("ffffffffffffffff", &value), "");
    EXPECT_EQ(value, UINT64_MAX);
}

TEST(Text, what_is_no_number_is_refused)
{
    std::uint64_t value = 7;

    for (const char *text : {"", "x", " 1", "-1", "18446744073709551616",
                             "99999999999999999999999"}) {
        EXPECT_EQ(ckpt_text_decimal(text, &value), nullptr) << text;
    }
    EXPECT_EQ(ckpt_text_hexadecimal("10000000000000000", &value), nullptr);
    EXPECT_EQ(value, 7u);
}

TEST(Text, compares_and_copies)
{
    char buffer[4];

    EXPECT_TRUE(ckpt_text_equal("", ""));
    EXPECT_TRUE(ckpt_text_equal("abc", "abc"));
    EXPECT_FALSE(ckpt_text_equal("abc", "abd"));
    EXPECT_FALSE(ckpt_text_equal("abc", "ab"));
    EXPECT_FALSE(ckpt_text_equal("ab", "abc"));
    EXPECT_TRUE(ckpt_text_starts("/dev/null", "/dev/"));
    EXPECT_FALSE(ckpt_text_starts("/de", "/dev/"));
    EXPECT_TRUE(ckpt_text_ends("/a (deleted)", CKPT_TEXT_DELETED));
    EXPECT_FALSE(ckpt_text_ends("deleted)", CKPT_TEXT_DELETED));
    EXPECT_EQ(ckpt_text_length("four"), 4u);
    EXPECT_EQ(ckpt_text_copy(buffer, sizeof(buffer), "abcdef"), 3u);
    EXPECT_STREQ(buffer, "abc");
}

} // namespace
