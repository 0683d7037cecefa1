/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_refusal.cpp - identities of refusals, as they travel between processes.
 */
#include "common/error.hpp"
#include "common/refusal.hpp"

#include <cerrno>
#include <gtest/gtest.h>
#include <stdexcept>
#include <string>

namespace ckpt
{

TEST(Refusals, AreFoundByNumberAndName)
{
#define EXPECT_FOUND(number, identifier, name, meaning, remedy)               \
    EXPECT_EQ(refusal_of(std::uint64_t{number}), CKPT_REFUSAL_##identifier);  \
    EXPECT_EQ(refusal_of(std::string_view(name)), CKPT_REFUSAL_##identifier); \
    EXPECT_STREQ(ckpt_refusal_name(CKPT_REFUSAL_##identifier), name);         \
    EXPECT_TRUE(std::string(meaning).ends_with('.') && std::string(remedy).ends_with('.')) << name;
    CKPT_REFUSALS(EXPECT_FOUND)
#undef EXPECT_FOUND
}

TEST(Refusals, OfOtherReleasesAreUnnamed)
{
    EXPECT_EQ(refusal_of(std::uint64_t{0}), CKPT_REFUSAL_UNNAMED);
    EXPECT_EQ(refusal_of(~std::uint64_t{0}), CKPT_REFUSAL_UNNAMED);
    EXPECT_EQ(refusal_of(std::string_view("")), CKPT_REFUSAL_UNNAMED);
    EXPECT_EQ(refusal_of(std::string_view("living-child ")), CKPT_REFUSAL_UNNAMED);
    EXPECT_STREQ(ckpt_refusal_name(static_cast<ckpt_refusal>(4095)), "unnamed");
}

TEST(Refusals, EndTheirTextWithTheirName)
{
    const Refusal none, child = refusal(CKPT_REFUSAL_LIVING_CHILD, "process {}", 7);
    EXPECT_TRUE(none.empty());
    EXPECT_EQ(none.text(), "");
    EXPECT_EQ(none.name(), "");
    EXPECT_TRUE(none.after("rank 1: ").empty());
    EXPECT_FALSE(child.empty());
    EXPECT_EQ(child.text(), "process 7 [living-child]");
    EXPECT_EQ(child.after("rank 1: ").text(), "rank 1: process 7 [living-child]");
}

TEST(Refusals, AreReadFromTheirText)
{
    const Refusal odd(CKPT_REFUSAL_UNSAVABLE_DESCRIPTOR, "descriptor 3 (/tmp/a [b]) is odd");
    EXPECT_EQ(refusal_from_text(odd.text()), odd);
    for (const char *text : {"", "no name", "a path [b]", " [", "x [living-child", "[no-space]"}) {
        EXPECT_EQ(refusal_from_text(text), Refusal(CKPT_REFUSAL_UNNAMED, text));
    }
}

TEST(Refusals, AreTakenFromExceptions)
{
    const auto name_of = [](const std::exception &problem) {
        return refusal_of(problem, CKPT_REFUSAL_WRITE_FAILED).name();
    };
    EXPECT_EQ(name_of(Error("x", 0, CKPT_REFUSAL_JOB_TAKEN)), "job-taken");
    EXPECT_EQ(name_of(Error("x", ENOSPC, CKPT_REFUSAL_JOB_TAKEN)), "job-taken");
    EXPECT_EQ(name_of(Error("x", ENOSPC)), "no-space");
    EXPECT_EQ(name_of(Error("x", EDQUOT)), "no-space");
    EXPECT_EQ(name_of(Error("x", EKEYREJECTED)), "wrong-key");
    EXPECT_EQ(name_of(Error("x", EIO)), "write-failed");
    EXPECT_EQ(name_of(std::runtime_error("x")), "write-failed");
    EXPECT_TRUE(refusal_of(Error("x", EIO)).empty());
    EXPECT_EQ(message_of(Error("x", EIO)), "x");
    EXPECT_EQ(message_of(Error("x", 0, CKPT_REFUSAL_JOB_TAKEN)), "x [job-taken]");
    try {
        refuse(CKPT_REFUSAL_SAME_HOST_NAMES, "{} twice", "n1");
    } catch (const Error &error) {
        EXPECT_EQ(message_of(error), "n1 twice [same-host-names]");
    }
}

} // namespace ckpt
