/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_history.cpp - a rank's notes about a checkpoint: in order, within bounds, and counted also
 * without room.
 */
extern "C" {
#include "cut/messages/history.h"
#include "link/rank_page.h"
}

#include <gtest/gtest.h>

#include <ctime>
#include <memory>

namespace
{

/* The struct has the same name as the function. */
using Page = struct ckpt_rank_page;

std::unique_ptr<Page> page;

class History : public testing::Test
{
  protected:
    History() { page = std::make_unique<Page>(); }

    static const ckpt_history &history() { return page->history; }
};

std::uint64_t monotonic()
{
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<std::uint64_t>(time.tv_sec) * 1000000000u +
           static_cast<std::uint64_t>(time.tv_nsec);
}

TEST_F(History, BeginsWithTheCut)
{
    const std::uint64_t before = monotonic();
    ckpt_history_begin();
    ckpt_history_add(CKPT_SEEN_MARKER_SENT, 3, 17);
    ASSERT_EQ(history().kept, 2u);
    EXPECT_EQ(history().event[0].kind, CKPT_SEEN_CUT);
    EXPECT_EQ(history().event[0].peer, -1);
    EXPECT_GE(history().event[0].at, before);
    EXPECT_EQ(history().event[1].peer, 3);
    EXPECT_EQ(history().event[1].value, 17u);
    EXPECT_GE(history().event[1].at, history().event[0].at);
    EXPECT_LE(history().event[1].at, monotonic());
}

TEST_F(History, CountsWhatItHasNoRoomFor)
{
    ckpt_history_begin();
    for (std::uint64_t i = 0; i < CKPT_HISTORY_EVENTS; i++) {
        ckpt_history_add(CKPT_SEEN_LOGGED, 1, 10);
    }
    ckpt_history_add(CKPT_SEEN_MARKER_RECEIVED, 1, 5);
    EXPECT_EQ(history().kept, CKPT_HISTORY_EVENTS);
    EXPECT_EQ(history().event[CKPT_HISTORY_EVENTS - 1].kind, CKPT_SEEN_LOGGED);
    EXPECT_EQ(history().count[CKPT_SEEN_LOGGED], CKPT_HISTORY_EVENTS);
    EXPECT_EQ(history().count[CKPT_SEEN_MARKER_RECEIVED], 1u);
    EXPECT_EQ(history().logged_bytes, 10u * CKPT_HISTORY_EVENTS);
}

TEST_F(History, IsOfOneCheckpoint)
{
    ckpt_history_begin();
    ckpt_history_add(CKPT_SEEN_LOGGED, 1, 10);
    ckpt_history_begin();
    EXPECT_EQ(history().kept, 1u);
    EXPECT_EQ(history().count[CKPT_SEEN_CUT], 1u);
    EXPECT_EQ(history().count[CKPT_SEEN_LOGGED], 0u);
    EXPECT_EQ(history().logged_bytes, 0u);
}

} // namespace

/* Replaces the page that is shared with an agent. */
struct ckpt_rank_page *ckpt_rank_page(void)
{
    return page.get();
}
