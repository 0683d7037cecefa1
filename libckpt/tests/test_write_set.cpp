/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_write_set.cpp - which bytes have been written, whatever their values at the end.
 */
extern "C" {
#include "task/write_set.h"
}

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <gtest/gtest.h>
#include <numeric>
#include <sys/mman.h>
#include <thread>
#include <vector>

namespace
{

constexpr std::size_t page = 4096;
constexpr std::size_t size = 3 * page;

class WriteSet : public testing::Test
{
  protected:
    void SetUp() override
    {
        void *at = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        ASSERT_NE(at, MAP_FAILED);
        memory_ = static_cast<char *>(at);
        for (std::size_t i = 0; i < size; i++) {
            memory_[i] = static_cast<char>(i % 101);
        }
        ASSERT_EQ(ckpt_write_set_add(&part_, memory_, size), 0);
        ASSERT_EQ(ckpt_write_set_begin(), 0);
    }

    void TearDown() override
    {
        ckpt_write_set_end();
        ckpt_write_set_free();
        munmap(memory_, size);
    }

    volatile char &at(std::size_t i) { return memory_[i]; }

    /* Returns the numbers of the written bytes. */
    std::vector<std::size_t> changed()
    {
        std::vector<std::size_t> numbers;
        for (std::size_t i = 0; i < size; i++) {
            if (part_.changed[i]) {
                numbers.push_back(i);
            }
        }
        return numbers;
    }

    static std::vector<std::size_t> numbers(std::size_t first, std::size_t count)
    {
        std::vector<std::size_t> all(count);
        std::iota(all.begin(), all.end(), first);
        return all;
    }

    char *memory_ = nullptr;
    ckpt_write_set part_{};
};

TEST_F(WriteSet, WhatIsChangedBackHasBeenChanged)
{
    const char before = at(page + 7);
    at(page + 7) = static_cast<char>(before + 1);
    at(page + 7) = before;
    at(5) = 100;
    EXPECT_EQ(ckpt_write_set_end(), 0);
    EXPECT_EQ(changed(), (std::vector<std::size_t>{5, page + 7}));
    EXPECT_EQ(at(page + 7), before);
    EXPECT_EQ(at(5), 100);
}

TEST_F(WriteSet, TheSameValueIsNoChange)
{
    at(9) = static_cast<char>(9);
    EXPECT_EQ(ckpt_write_set_end(), 0);
    EXPECT_EQ(changed(), std::vector<std::size_t>());
}

TEST_F(WriteSet, AStoreMayReachIntoTwoPages)
{
    std::uint64_t value = UINT64_MAX;
    std::memcpy(memory_ + page - 3, &value, sizeof value);
    EXPECT_EQ(ckpt_write_set_end(), 0);
    EXPECT_EQ(changed(), numbers(page - 3, 8));
}

TEST_F(WriteSet, StringInstructionsAreNoted)
{
    char *to = memory_ + 100;
    std::size_t count = page + 500;
    __asm__ volatile("rep stosb"
                     : "+D"(to), "+c"(count)
                     : "a"(-1)
                     : "memory");
    EXPECT_EQ(ckpt_write_set_end(), 0);
    EXPECT_EQ(changed(), numbers(100, page + 500));
}

TEST_F(WriteSet, FunctionsOfLibcAreNoted)
{
    std::memset(memory_ + 50, -1, 2 * page);
    EXPECT_EQ(ckpt_write_set_end(), 0);
    EXPECT_EQ(changed(), numbers(50, 2 * page));
}

TEST_F(WriteSet, ThreadsTakeTurns)
{
    auto store = [this](std::size_t first) {
        for (std::size_t i = first; i < 600; i += 2) {
            at(i) = -1;
        }
    };
    std::thread other(store, 1);
    store(0);
    other.join();
    EXPECT_EQ(ckpt_write_set_end(), 0);
    EXPECT_EQ(changed(), numbers(0, 600));
}

volatile sig_atomic_t faults;
char *protected_page;

void allow(int)
{
    faults = faults + 1;
    mprotect(protected_page, page, PROT_READ | PROT_WRITE);
}

/* The program installed its handler first. */
class ProgramWithFaults : public WriteSet
{
  protected:
    void SetUp() override
    {
        faults = 0;
        before_ = std::signal(SIGSEGV, allow);
        protected_page = static_cast<char *>(
            mmap(nullptr, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        WriteSet::SetUp();
    }
    void TearDown() override
    {
        WriteSet::TearDown();
        munmap(protected_page, page);
        std::signal(SIGSEGV, before_);
    }
    void (*before_)(int) = nullptr;
};

TEST_F(ProgramWithFaults, HasThemAndTheSetIsNotWhole)
{
    *static_cast<volatile char *>(protected_page) = 1;
    EXPECT_EQ(faults, 1);
    at(3) = 7;
    EXPECT_LT(ckpt_write_set_end(), 0);
    EXPECT_EQ(at(3), 7);
}

} // namespace
