/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_participant.cpp - the parts of the library that take part in checkpoints are asked in
 * the order in which they were added, and need not have every function.
 */
extern "C" {
#include "base/invariant.h"
#include "cut/participant.h"
}

#include <gtest/gtest.h>

#include <string>
#include <unistd.h>
#include <vector>

namespace
{

std::vector<std::string> calls;
bool first_forbids, second_forbids, second_needs;

/* The first has everything but a descriptor and memory; the second has only some. */
const ckpt_participant &first()
{
    static const ckpt_participant one = [] {
        ckpt_participant p{};
        p.forbids = [] { return first_forbids ? 1 : 0; };
        p.refuse = [] { calls.push_back("first refuses"); };
        p.tell = [] { calls.push_back("first tells"); };
        p.told = [](const ckpt_message *message) {
            calls.push_back("first told " + std::to_string(message->as.end.outcome));
        };
        p.forget = [](ckpt_refusal, const char *reason) {
            calls.push_back("first forgets " + std::string(reason));
        };
        p.owns_descriptor = [](int fd) { return fd == 7 ? 1 : 0; };
        return p;
    }();
    return one;
}

const ckpt_participant &second()
{
    static const ckpt_participant one = [] {
        ckpt_participant p{};
        p.forbids = [] { return second_forbids ? 1 : 0; };
        p.refuse = [] { calls.push_back("second refuses"); };
        p.tell = [] { calls.push_back("second tells"); };
        p.needs_turns = [] { return second_needs ? 1 : 0; };
        p.excluded = [] { return "1000-2000"; };
        p.owns_descriptor = [](int fd) { return fd == 9 ? 1 : 0; };
        p.shared_page = [] { return 9; };
        return p;
    }();
    return one;
}

class Participants : public testing::Test
{
  protected:
    static void SetUpTestSuite()
    {
        EXPECT_STREQ(ckpt_participants_excluded(), "");
        EXPECT_EQ(ckpt_participants_shared_page(), -1);
        EXPECT_EQ(ckpt_participant_forbidding(), nullptr);
        ckpt_participant_add(&first());
        ckpt_participant_add(&second());
    }

    void SetUp() override
    {
        calls.clear();
        first_forbids = second_forbids = second_needs = false;
    }
};

TEST_F(Participants, AreCalledInTheirOrder)
{
    ckpt_participants_tell();
    EXPECT_EQ(calls, (std::vector<std::string>{"first tells", "second tells"}));
}

TEST_F(Participants, AreLeftOutIfTheyDoNotHaveTheFunction)
{
    ckpt_message message{};

    message.type = CKPT_MSG_RESUME;
    message.as.end.outcome = 5;
    ckpt_participants_told(&message);
    ckpt_participants_forget(CKPT_REFUSAL_AGENT_LOST, "gone");
    ckpt_participants_restarted();
    ckpt_participants_poll_failed();
    ckpt_participants_wait_over();
    ckpt_participants_before_image();
    EXPECT_EQ(calls, (std::vector<std::string>{"first told 5", "first forgets gone"}));
}

TEST_F(Participants, TheFirstThatForbidsRefuses)
{
    EXPECT_EQ(ckpt_participant_forbidding(), nullptr);
    second_forbids = true;
    EXPECT_EQ(ckpt_participant_forbidding(), &second());
    first_forbids = true;
    EXPECT_EQ(ckpt_participant_forbidding(), &first());
}

TEST_F(Participants, AnyOneIsEnough)
{
    EXPECT_FALSE(ckpt_participants_need_turns());
    second_needs = true;
    EXPECT_TRUE(ckpt_participants_need_turns());
    EXPECT_TRUE(ckpt_participants_own_descriptor(7));
    EXPECT_TRUE(ckpt_participants_own_descriptor(9));
    EXPECT_FALSE(ckpt_participants_own_descriptor(8));
}

TEST_F(Participants, GiveWhatOnlyOneHas)
{
    EXPECT_STREQ(ckpt_participants_excluded(), "1000-2000");
    EXPECT_EQ(ckpt_participants_shared_page(), 9);
}

/* Adds a participant in a process of its own, which ends with 1 if it is unsound then. */
[[noreturn]] void add_and_exit(const ckpt_participant &participant, int times)
{
    for (int i = 0; i < times; i++) {
        ckpt_participant_add(&participant);
    }
    _exit(ckpt_unsound() != nullptr ? 1 : 0);
}

TEST_F(Participants, AreNotMoreThanFit)
{
    EXPECT_EXIT(add_and_exit(first(), 2), testing::ExitedWithCode(0), "");
    EXPECT_EXIT(add_and_exit(first(), 100), testing::ExitedWithCode(1), "count < CAPACITY");
}

TEST_F(Participants, AreUnsoundIfOneWouldNeverBeAsked)
{
    ckpt_participant mute{}, third{};

    mute.forbids = [] { return 1; };
    third.excluded = [] { return "3000-4000"; };
    EXPECT_EXIT(add_and_exit(mute, 1), testing::ExitedWithCode(1), "refuse");
    EXPECT_EXIT(add_and_exit(third, 1), testing::ExitedWithCode(1), "excluded");
}

} // namespace
