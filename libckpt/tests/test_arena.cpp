/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_arena.cpp - the allocators for quiesced code.
 */
extern "C" {
#include "base/arena.h"
}

#include <cstdint>
#include <cstring>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace
{

class Arena : public testing::Test
{
  protected:
    void SetUp() override
    {
        ASSERT_EQ(ckpt_arena_open(&arena), 0);
    }

    void TearDown() override
    {
        ckpt_arena_close(&arena);
    }

    ckpt_arena arena;
};

bool all_bytes(const void *memory, std::size_t size, int value)
{
    const auto *bytes = static_cast<const unsigned char *>(memory);

    for (std::size_t i = 0; i < size; i++) {
        if (bytes[i] != value) {
            return false;
        }
    }
    return true;
}

TEST_F(Arena, objects_are_aligned_zeroed_and_apart)
{
    char *previous_end = nullptr;

    for (std::size_t size : {1, 16, 17, 4096, 100000}) {
        auto *object = static_cast<char *>(ckpt_arena_alloc(&arena, size));

        ASSERT_NE(object, nullptr);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(object) % 16, 0u);
        EXPECT_TRUE(all_bytes(object, size, 0));
        EXPECT_GE(object, previous_end);
        std::memset(object, 0xff, size);
        previous_end = object + size;
    }
}

TEST_F(Arena, reset_reuses_memory_and_zeroes_it_again)
{
    void *first = ckpt_arena_alloc(&arena, 5000);
    std::memset(first, 0xff, 5000);
    ASSERT_NE(ckpt_arena_string(&arena, "gone"), 0u);

    ckpt_arena_reset(&arena);
    void *again = ckpt_arena_alloc(&arena, 5000);
    EXPECT_EQ(again, first);
    EXPECT_TRUE(all_bytes(again, 5000, 0));
    EXPECT_EQ(ckpt_arena_string(&arena, "a"), 1u);
}

TEST_F(Arena, refuses_what_the_kernel_has_not_and_stays_usable)
{
    EXPECT_EQ(ckpt_arena_alloc(&arena, SIZE_MAX), nullptr);
    EXPECT_EQ(ckpt_arena_alloc(&arena, SIZE_MAX - 8), nullptr);
    EXPECT_EQ(ckpt_arena_alloc(&arena, std::size_t(1) << 60), nullptr);
    EXPECT_NE(ckpt_arena_alloc(&arena, 15), nullptr);
}

/* The arena makes no more mappings than necessary, and uses them again after a reset. */
TEST_F(Arena, takes_pieces_as_it_needs_them)
{
    const std::vector<std::size_t> sizes = {100, 3u << 20, 100, 600u << 10, 600u << 10, 5u << 20};
    std::vector<void *> first;

    EXPECT_EQ(arena.changes, 0u);
    for (std::size_t size : sizes) {
        first.push_back(ckpt_arena_alloc(&arena, size));
        ASSERT_NE(first.back(), nullptr);
        std::memset(first.back(), 0xff, size);
    }
    const unsigned long changes = arena.changes;
    EXPECT_LE(changes, 5u);
    ckpt_arena_reset(&arena);
    for (std::size_t i = 0; i < sizes.size(); i++) {
        void *again = ckpt_arena_alloc(&arena, sizes[i]);
        EXPECT_EQ(again, first[i]) << i;
        EXPECT_TRUE(all_bytes(again, sizes[i], 0));
    }
    EXPECT_EQ(arena.changes, changes);
}

TEST_F(Arena, a_mark_is_a_place_to_go_back_to)
{
    const ckpt_arena_place beginning = ckpt_arena_mark(&arena);
    void *first = ckpt_arena_alloc(&arena, 100);
    const ckpt_arena_place mark = ckpt_arena_mark(&arena);
    void *second = ckpt_arena_alloc(&arena, 100);

    ASSERT_NE(ckpt_arena_alloc(&arena, 4u << 20), nullptr);
    ckpt_arena_rewind(&arena, mark);
    EXPECT_EQ(ckpt_arena_alloc(&arena, 100), second);
    ckpt_arena_rewind(&arena, beginning);
    EXPECT_EQ(ckpt_arena_alloc(&arena, 100), first);
}

TEST_F(Arena, strings_are_found_at_their_offset)
{
    ckpt_string_t one = ckpt_arena_string(&arena, "one");
    ckpt_string_t two = ckpt_arena_string(&arena, "two");

    EXPECT_STREQ(arena.strings + one, "one");
    EXPECT_STREQ(arena.strings + two, "two");
    EXPECT_EQ(ckpt_arena_string(&arena, ""), 0u);
    EXPECT_EQ(ckpt_arena_string(&arena, nullptr), 0u);
    EXPECT_STREQ(arena.strings, "");
}

TEST_F(Arena, string_table_refuses_when_full)
{
    std::string half(8u << 20, 'x'); /* half of 16 MiB; one byte is used */

    EXPECT_NE(ckpt_arena_string(&arena, half.c_str()), 0u);
    EXPECT_EQ(ckpt_arena_string(&arena, half.c_str()), 0u);
    EXPECT_NE(ckpt_arena_string(&arena, "still room"), 0u);
}

/* Random allocations, each filled with its own byte: none may change another. */
TEST(Memory, blocks_never_overlap)
{
    struct Block {
        std::size_t size;
        int fill;
    };
    std::mt19937 random(1993);
    std::map<void *, Block> blocks;

    for (int step = 0; step < 20000; step++) {
        if (blocks.size() < 200 || random() % 2 == 0) {
            std::size_t size = 1 + random() % (1u << (4 + random() % 14));
            void *memory = ckpt_memory_alloc(size);

            ASSERT_NE(memory, nullptr);
            ASSERT_EQ(reinterpret_cast<std::uintptr_t>(memory) % 16, 0u);
            ASSERT_EQ(blocks.count(memory), 0u);
            std::memset(memory, step & 0xff, size);
            blocks[memory] = {size, step & 0xff};
        } else {
            auto victim = blocks.begin();
            std::advance(victim, random() % blocks.size());
            ASSERT_TRUE(all_bytes(victim->first, victim->second.size,
                                  victim->second.fill));
            ckpt_memory_free(victim->first, victim->second.size);
            blocks.erase(victim);
        }
    }
    for (auto &[memory, block] : blocks) {
        ASSERT_TRUE(all_bytes(memory, block.size, block.fill));
        ckpt_memory_free(memory, block.size);
    }
}

TEST(Memory, freed_blocks_are_used_again)
{
    void *first = ckpt_memory_alloc(40);
    ckpt_memory_free(first, 40);
    void *again = ckpt_memory_alloc(64); /* same size class */
    EXPECT_EQ(again, first);
    ckpt_memory_free(again, 64);
}

TEST(Memory, impossible_size_is_refused)
{
    EXPECT_EQ(ckpt_memory_alloc(SIZE_MAX), nullptr);
    EXPECT_EQ(ckpt_memory_alloc(std::size_t(1) << 60), nullptr);
    ckpt_memory_free(nullptr, 8);
}

} // namespace
