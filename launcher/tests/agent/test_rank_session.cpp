/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_rank_session.cpp - messages of an agent to a rank that does not read.
 */
#include "config.h"
#include "agent/ranks/rank_session.hpp"

#include <gtest/gtest.h>

#include <sys/socket.h>

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
    ASSERT_TRUE(session->send(CKPT_MSG_CUT, 1));
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

} // namespace
} // namespace ckpt
