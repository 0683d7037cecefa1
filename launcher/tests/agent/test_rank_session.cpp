/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_rank_session.cpp - messages of an agent to a rank that does not read; messages with an
 * invalid field.
 */
#include "config.h"
#include "agent/ranks/rank_session.hpp"

#include "agent/base/rejected_frames.hpp"
#include "protocol/rank_message.hpp"

#include <gtest/gtest.h>

#include <sys/socket.h>

#include <algorithm>
#include <utility>

namespace ckpt
{
namespace
{

class Session : public testing::Test
{
  protected:
    void SetUp() override
    {
        int ends[2];
        ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
        session = std::make_unique<RankSession>(Fd(ends[0]));
        rank.reset(ends[1]);
    }

    /* The type of the next message, or 0 if there is none. */
    std::uint32_t next()
    {
        ckpt_message message{};
        return recv(rank.get(), &message, sizeof message, 0) == sizeof message ? message.type : 0;
    }

    std::unique_ptr<RankSession> session;
    Fd rank;
};

TEST_F(Session, RemindersDoNotFillTheConnection)
{
    ASSERT_TRUE(session->send(CKPT_MSG_CUT, 1, {.cut = {CKPT_CUT_MARKERS, 0}}));
    for (int i = 0; i < 10000; i++) {
        ASSERT_TRUE(session->send(CKPT_MSG_PROGRESS, 1)) << i;
    }
    ASSERT_TRUE(session->send(CKPT_MSG_CLOSE, 1));
    EXPECT_EQ(next(), CKPT_MSG_CUT);
    EXPECT_EQ(next(), CKPT_MSG_CLOSE);
    EXPECT_EQ(next(), 0u);
    ASSERT_TRUE(session->send(CKPT_MSG_PROGRESS, 1));
    EXPECT_EQ(next(), CKPT_MSG_PROGRESS);
}

TEST_F(Session, ARankThatDoesNotReadIsGivenUp)
{
    int sent = 0;

    while (sent < 100000 && session->send(CKPT_MSG_COUNTS, 1)) {
        sent++;
    }
    EXPECT_LT(sent, 100000);
}

TEST_F(Session, AnInvalidMessageIsNotSent)
{
    EXPECT_FALSE(session->send(CKPT_MSG_CUT, 1)) << "which cut?";
    EXPECT_FALSE(session->send(CKPT_MSG_READY, 1, {.ready = {1, 0, {}}})) << "of a rank";
    EXPECT_FALSE(session->send(CKPT_MSG_STOP, 1, {}, "text"));
    ASSERT_TRUE(session->send(CKPT_MSG_STOP, 1));
    EXPECT_EQ(next(), CKPT_MSG_STOP);
    EXPECT_EQ(next(), 0u);
}

TEST_F(Session, AMessageComesWithNothingButItsFields)
{
    ckpt_message_body body{};
    ckpt_message message{};

    std::ranges::fill(body.field, 7);
    body.swept = {3};
    ASSERT_TRUE(session->send(CKPT_MSG_SWEPT, 1, body));
    ASSERT_EQ(recv(rank.get(), &message, sizeof message, 0), static_cast<ssize_t>(sizeof message));
    EXPECT_EQ(message.as.field[0], 3u);
    EXPECT_EQ(message.as.field[1], 0u);
}

TEST_F(Session, AnInvalidMessageIsRefused)
{
    ckpt_message good = make_message(CKPT_MSG_READY, 1, {.ready = {1, 0, {}}});
    ckpt_message wrong = good, foreign = good, received{};

    wrong.as.ready.cut.kind = CKPT_CUT_QUIET + 1;
    foreign.version--;
    for (const auto &[message, why] : {std::pair(wrong, Rejection::malformed),
                                       std::pair(foreign, Rejection::foreign)}) {
        ASSERT_GT(send(rank.get(), &message, sizeof message, 0), 0);
        try {
            (void)session->receive(received);
            ADD_FAILURE() << "it was taken";
        } catch (const Rejected &rejected) {
            EXPECT_EQ(rejected.why(), why) << rejected.what();
        }
    }
    ASSERT_GT(send(rank.get(), &good, sizeof good, 0), 0);
    EXPECT_EQ(session->receive(received), RankSession::Received::message);
}

} // namespace
} // namespace ckpt
