/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_interval.cpp - the rules of independent checkpoints, with numbers.
 */
extern "C" {
#include "interval/checkpoint_window.h"
#include "interval/diff_order.h"
#include "interval/log_bounds.h"
#include "interval/peer_knowledge.h"
#include "interval/replay_bounds.h"
#include "interval/vector_time.h"
}

#include <algorithm>
#include <cerrno>
#include <gtest/gtest.h>
#include <random>
#include <vector>

namespace
{

using Vector = std::vector<std::uint64_t>;

/* The knowledge of rank `self` of n, with its own memory. */
class Knowledge
{
  public:
    Knowledge(std::uint32_t n, std::uint32_t self)
        : memory(ckpt_peer_knowledge_words(n))
    {
        EXPECT_EQ(ckpt_peer_knowledge_attach(&core, n, self, memory.data()), 0);
    }

    int learn(std::uint32_t peer, const Vector &checkpoint, std::uint64_t bound,
              std::uint64_t own_interval = 1000)
    {
        return ckpt_peer_knowledge_learn(&core, peer, checkpoint.data(), bound,
                                         own_interval);
    }

    Vector minimum() const
    {
        Vector minimum(core.n);

        ckpt_peer_minimum(&core, minimum.data());
        return minimum;
    }

    Vector memory;
    ckpt_peer_knowledge core;
};

TEST(VectorTime, an_interval_has_a_number_even_without_stores)
{
    Vector time{4, 7, 1};

    EXPECT_EQ(ckpt_vector_end_interval(time.data(), 1), 8u);
    EXPECT_EQ(ckpt_vector_end_interval(time.data(), 1), 9u);
    EXPECT_EQ(time, (Vector{4, 9, 1}));
}

TEST(VectorTime, merge_takes_the_maximum_and_meet_the_minimum)
{
    Vector merged{5, 3, 2}, met = merged;
    const Vector other{4, 6, 3};

    ckpt_vector_merge(merged.data(), other.data(), 3);
    EXPECT_EQ(merged, (Vector{5, 6, 3}));
    ckpt_vector_meet(met.data(), other.data(), 3);
    EXPECT_EQ(met, (Vector{4, 3, 2}));
}

TEST(VectorTime, within_is_component_by_component)
{
    const Vector a{2, 1}, b{2, 2}, c{1, 3};

    EXPECT_TRUE(ckpt_vector_within(a.data(), a.data(), 2));
    EXPECT_TRUE(ckpt_vector_within(a.data(), b.data(), 2));
    EXPECT_FALSE(ckpt_vector_within(b.data(), a.data(), 2));
    EXPECT_FALSE(ckpt_vector_within(b.data(), c.data(), 2));
    EXPECT_FALSE(ckpt_vector_within(c.data(), b.data(), 2));
    EXPECT_FALSE(ckpt_vector_within(c.data(), a.data(), 2));
}

/* Rank 3 of the paper's figure 4.6 is rank 2 here. */
class WindowExample : public testing::Test
{
  protected:
    WindowExample() : knowledge(3, 2)
    {
        EXPECT_EQ(knowledge.learn(1, {4, 6, 3}, 2), 0);
    }

    std::size_t start() const
    {
        Vector minimum = knowledge.minimum();

        return ckpt_window_start(versions.data(), 4, minimum.data(), 3);
    }

    bool keeps_grant(std::uint32_t acquirer, Vector time) const
    {
        return ckpt_log_keeps_grant(&knowledge.core, acquirer, time.data());
    }

    Knowledge knowledge;
    const Vector versions{2, 1, 1,  // c31
                          4, 3, 2,  // c32
                          5, 5, 4,  // c33
                          6, 6, 6}; // c34
};

TEST_F(WindowExample, with_fresh_data)
{
    ASSERT_EQ(knowledge.learn(0, {5, 3, 2}, 3), 0);

    EXPECT_EQ(knowledge.minimum(), (Vector{4, 3, 2}));
    // c32: T_min is 4, 3, 2
    EXPECT_EQ(start(), 1u);
    EXPECT_EQ(ckpt_log_first_notice(&knowledge.core), 3u);
    EXPECT_TRUE(keeps_grant(0, {6, 0, 0}));
    EXPECT_FALSE(keeps_grant(0, {5, 9, 9}));
    EXPECT_TRUE(keeps_grant(1, {0, 7, 0}));
    EXPECT_FALSE(keeps_grant(1, {9, 6, 9}));
    EXPECT_TRUE(ckpt_log_keeps_diff(4, knowledge.core.bounds[0]));
    EXPECT_FALSE(ckpt_log_keeps_diff(3, knowledge.core.bounds[0]));
    EXPECT_TRUE(ckpt_log_keeps_diff(3, knowledge.core.bounds[1]));
}

TEST_F(WindowExample, with_stale_data_it_is_longer)
{
    ASSERT_EQ(knowledge.learn(0, {3, 2, 1}, 1), 0);

    EXPECT_EQ(knowledge.minimum(), (Vector{3, 2, 1}));
    EXPECT_EQ(start(), 0u); // c32 fails in component 0
    EXPECT_EQ(ckpt_log_first_notice(&knowledge.core), 2u);
    EXPECT_TRUE(keeps_grant(0, {4, 0, 0}));
    EXPECT_TRUE(ckpt_log_keeps_diff(2, knowledge.core.bounds[0]));
}

TEST_F(WindowExample, what_comes_late_changes_nothing)
{
    ASSERT_EQ(knowledge.learn(0, {5, 3, 2}, 3), 0);
    Vector before = knowledge.memory;

    ASSERT_EQ(knowledge.learn(0, {3, 2, 1}, 1), 0);
    EXPECT_EQ(knowledge.memory, before);
    EXPECT_EQ(start(), 1u);
}

/* If they are rebuilt, two vectors of a peer may each be older in some
 * components. */
TEST(PeerKnowledge, is_the_most_that_was_told)
{
    Knowledge knowledge(2, 0);

    ASSERT_EQ(knowledge.learn(1, {1, 5}, 1), 0);
    ASSERT_EQ(knowledge.learn(1, {3, 4}, 0), 0);
    EXPECT_EQ(ckpt_peer_checkpoint(&knowledge.core, 1)[0], 3u);
    EXPECT_EQ(ckpt_peer_checkpoint(&knowledge.core, 1)[1], 5u);
    EXPECT_EQ(knowledge.core.bounds[1], 1u);
}

TEST(PeerKnowledge, refuses_the_future_and_strangers)
{
    Knowledge knowledge(2, 0);
    Vector before = knowledge.memory;

    EXPECT_EQ(knowledge.learn(1, {8, 1}, 0, 7), -ERANGE);
    EXPECT_EQ(knowledge.learn(1, {7, 1}, 8, 7), -ERANGE);
    EXPECT_EQ(knowledge.learn(2, {1, 1}, 0, 7), -EINVAL);
    EXPECT_EQ(knowledge.memory, before);
    EXPECT_EQ(knowledge.learn(1, {7, 1}, 7, 7), 0);

    ckpt_peer_knowledge core;
    EXPECT_EQ(ckpt_peer_knowledge_attach(&core, 2, 2, before.data()), -EINVAL);
    EXPECT_EQ(ckpt_peer_knowledge_attach(&core, 0, 0, before.data()), -EINVAL);
}

TEST(PeerKnowledge, survives_in_its_memory)
{
    Knowledge first(3, 1);
    ASSERT_EQ(first.learn(0, {4, 2, 0}, 2), 0);

    ckpt_peer_knowledge again;
    ASSERT_EQ(ckpt_peer_knowledge_attach(&again, 3, 1, first.memory.data()), 0);
    EXPECT_EQ(ckpt_peer_checkpoint(&again, 0)[0], 4u);
    EXPECT_EQ(again.bounds[0], 2u);
}

/* With two ranks, T_min is the part that the other has seen. */
TEST(PeerKnowledge, of_two_ranks_and_of_one)
{
    Knowledge two(2, 1);
    ASSERT_EQ(two.learn(1, {9, 9}, 0), 0);
    ASSERT_EQ(two.learn(0, {3, 2}, 0), 0);
    EXPECT_EQ(two.minimum(), (Vector{3, 2}));
    EXPECT_EQ(ckpt_log_first_notice(&two.core), 3u);

    Knowledge one(1, 0);
    EXPECT_EQ(one.minimum(), (Vector{UINT64_MAX}));
    EXPECT_EQ(ckpt_log_first_notice(&one.core), UINT64_MAX);
}

TEST(Window, nothing_is_discarded_as_long_as_nobody_tells)
{
    Knowledge knowledge(2, 0);
    Vector minimum = knowledge.minimum();
    const Vector versions{0, 0, 1, 0, 2, 1};

    EXPECT_EQ(ckpt_window_start(versions.data(), 3, minimum.data(), 2), 0u);
    // Also where the initial state is missing.
    EXPECT_EQ(
        ckpt_window_start(versions.data() + 2, 2, minimum.data(), 2), 0u);
    EXPECT_EQ(ckpt_log_first_notice(&knowledge.core), 1u);
}

TEST(Window, versions_equal_to_the_bound_are_within)
{
    const Vector versions{0, 0, 3, 2, 3, 3};
    const Vector minimum{3, 2};

    EXPECT_EQ(ckpt_window_start(versions.data(), 3, minimum.data(), 2), 1u);
    EXPECT_EQ(ckpt_starting_copy(versions.data(), 3, minimum.data(), 2, false),
              1u);
}

TEST(StartingCopy, is_refused_if_all_have_stores_of_the_future)
{
    const Vector versions{1, 2, 2, 2};
    const Vector restart{5, 1};

    EXPECT_EQ(ckpt_starting_copy(versions.data(), 2, restart.data(), 2, false),
              2u);
    EXPECT_EQ(ckpt_starting_copy(versions.data(), 0, restart.data(), 2, false),
              0u);
    EXPECT_EQ(ckpt_starting_copy(versions.data(), 0, restart.data(), 2, true),
              0u);
}

TEST(StartingCopy, of_the_failed_rank_itself_is_its_newest)
{
    const Vector versions{1, 2, 2, 2};
    const Vector restart{5, 1};

    EXPECT_EQ(ckpt_starting_copy(versions.data(), 2, restart.data(), 2, true),
              1u);
}

/* Theorem 2: whichever rank fails finds a safe copy, and the writers have all
 * diffs that it lacks, whatever was discarded. This also holds with stale
 * knowledge. */
TEST(StartingCopy, is_always_in_the_window)
{
    std::mt19937 random(43);
    int discarded = 0;

    for (int round = 0; round < 5000; round++) {
        std::uint32_t n = 2 + random() % 4;
        Knowledge home(n, 0);
        std::vector<Vector> restarts(n, Vector(n));
        Vector versions(n), version(n);

        for (std::uint32_t peer = 1; peer < n; peer++) {
            for (std::uint64_t &component : restarts[peer]) {
                component = random() % 8;
            }
            Vector known = restarts[peer];
            for (std::uint64_t &component : known) {
                component -= random() % 4 == 0 ? component / 2 : 0;
            }
            ASSERT_EQ(home.learn(peer, known, 0), 0);
        }
        for (int checkpoint = 0; checkpoint < 5; checkpoint++) {
            version[random() % n] += random() % 3;
            versions.insert(versions.end(), version.begin(), version.end());
        }
        std::size_t start = ckpt_window_start(
            versions.data(), 6, home.minimum().data(), n);
        const std::uint64_t *oldest = versions.data() + start * n;

        discarded += start > 0;
        for (std::uint32_t peer = 1; peer < n; peer++) {
            std::size_t copy = ckpt_starting_copy(
                oldest, 6 - start, restarts[peer].data(), n, false);

            ASSERT_LT(copy, 6 - start);
            const std::uint64_t *chosen = oldest + copy * n;
            ASSERT_TRUE(
                ckpt_vector_within(chosen, restarts[peer].data(), n));
            for (std::uint64_t interval = 1; interval < 12; interval++) {
                if (ckpt_replay_applies(interval, chosen[peer], 12)) {
                    ASSERT_TRUE(ckpt_log_keeps_diff(interval, oldest[peer]));
                }
            }
        }
    }
    EXPECT_GT(discarded, 1000);
}

TEST(LogBounds, of_acquires_are_those_of_who_replays_them)
{
    Knowledge knowledge(2, 0);
    ASSERT_EQ(knowledge.learn(0, {4, 1}, 0), 0);
    ASSERT_EQ(knowledge.learn(1, {0, 6}, 0), 0);
    auto keeps_acquire = [&](Vector time) {
        return ckpt_log_keeps_acquire(&knowledge.core, time.data());
    };
    auto keeps_barrier = [&](Vector time) {
        return ckpt_log_keeps_barrier(&knowledge.core, time.data());
    };

    EXPECT_FALSE(keeps_acquire({4, 9}));
    EXPECT_TRUE(keeps_acquire({5, 0}));
    EXPECT_FALSE(keeps_barrier({4, 6}));
    EXPECT_TRUE(keeps_barrier({5, 6}));
    EXPECT_TRUE(keeps_barrier({4, 7}));
}

TEST(ReplayBounds, are_open_below_and_closed_above)
{
    EXPECT_FALSE(ckpt_replay_applies(3, 3, 5));
    EXPECT_TRUE(ckpt_replay_applies(4, 3, 5));
    EXPECT_TRUE(ckpt_replay_applies(5, 3, 5));
    EXPECT_FALSE(ckpt_replay_applies(6, 3, 5));
    EXPECT_FALSE(ckpt_replay_applies(4, 4, 4));

    EXPECT_FALSE(ckpt_replay_has_notice(3, 3, 5));
    EXPECT_TRUE(ckpt_replay_has_notice(4, 3, 5));
    EXPECT_TRUE(ckpt_replay_has_notice(5, 3, 5));
    EXPECT_FALSE(ckpt_replay_has_notice(6, 3, 5));

    EXPECT_FALSE(ckpt_replay_has_event(7, 7));
    EXPECT_TRUE(ckpt_replay_has_event(8, 7));
    EXPECT_FALSE(ckpt_batch_is_new(7, 7));
    EXPECT_TRUE(ckpt_batch_is_new(8, 7));
}

/* The writer keeps each notice that a replay needs (Lemma 2). */
TEST(ReplayBounds, need_no_notice_that_is_dropped)
{
    Knowledge writer(3, 0);
    ASSERT_EQ(writer.learn(1, {5, 0, 0}, 0), 0);
    ASSERT_EQ(writer.learn(2, {3, 0, 0}, 0), 0);
    std::uint64_t first = ckpt_log_first_notice(&writer.core);

    EXPECT_EQ(first, 4u);
    for (std::uint64_t interval = 1; interval < 9; interval++) {
        for (std::uint64_t restart : {3, 5}) {
            if (ckpt_replay_has_notice(interval, restart, 8)) {
                EXPECT_GE(interval, first);
            }
        }
    }
}

/* On any path from one interval to another, the later interval's diff comes
 * later. */
TEST(DiffOrder, extends_happened_before)
{
    const Vector first{2, 0, 1}, later{2, 1, 1}, concurrent{0, 3, 1};
    auto stamp = [](const Vector &time, std::uint32_t writer) {
        return ckpt_diff_stamp{ckpt_vector_sum(time.data(), 3), writer};
    };
    ckpt_diff_stamp a = stamp(first, 0), b = stamp(later, 1),
                    c = stamp(concurrent, 2);

    ASSERT_TRUE(ckpt_vector_within(first.data(), later.data(), 3));
    EXPECT_LT(ckpt_diff_compare(&a, &b), 0);
    EXPECT_GT(ckpt_diff_compare(&b, &a), 0);
    EXPECT_EQ(ckpt_diff_compare(&b, &b), 0);
    EXPECT_LT(ckpt_diff_compare(&b, &c), 0); // same sum: the same everywhere
    EXPECT_GT(ckpt_diff_compare(&c, &b), 0);
}

TEST(DiffOrder, the_highest_sequence_wins)
{
    EXPECT_TRUE(ckpt_diff_overwrites(1, 0));
    EXPECT_TRUE(ckpt_diff_overwrites(7, 6));
    EXPECT_TRUE(ckpt_diff_overwrites(7, 7)); // the same one, applied again
    EXPECT_FALSE(ckpt_diff_overwrites(6, 7));
}

} // namespace
