/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_applied.cpp - records that become known in any order: the later delivery wins.
 */
extern "C" {
#include "independent/log/applied.h"
}

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <utility>
#include <vector>

namespace
{

/* A whole page is just a long range here. */
constexpr std::size_t page = 256;
constexpr std::size_t pages = 4;

using Ranges = std::vector<ckpt_log_range>;

/* A log with delivered records. */
class Log
{
  public:
    explicit Log(std::size_t capacity)
        : memory_(std::make_unique<std::uint64_t[]>(ckpt_log_size(capacity) / 8)),
          log_(reinterpret_cast<ckpt_volatile_log *>(memory_.get()))
    {
        ckpt_log_format(log_, capacity);
    }

    /* All its bytes have one value. */
    ckpt_log_record *add(std::uint64_t order, const Ranges &ranges, char value)
    {
        std::size_t bytes = 0;
        for (const ckpt_log_range &range : ranges) {
            bytes += range.bytes;
        }
        ckpt_log_record *record = ckpt_log_reserve(
            log_, &log_->writes, ranges.size() * sizeof(ckpt_log_range) + bytes);
        record->kind = CKPT_LOGGED_PAGES;
        record->order = order;
        record->range_count = static_cast<std::uint32_t>(ranges.size());
        std::copy(ranges.begin(), ranges.end(), ckpt_log_ranges(record));
        std::memset(ckpt_log_bytes(record), value, bytes);
        ckpt_log_commit(log_, &log_->writes, record);
        return record;
    }

  private:
    std::unique_ptr<std::uint64_t[]> memory_;
    ckpt_volatile_log *log_;
};

class Applied : public testing::Test
{
  protected:
    void TearDown() override { ckpt_applied_forget(); }

    Log log_{1 << 20};
    std::vector<char> memory_ = std::vector<char>(pages * page, 0);
};

/* A rank applies its own capture before it learns of an older one of another rank. */
TEST_F(Applied, ALowerNumberNeverOverwrites)
{
    ckpt_applied_add(log_.add(7, {{0, page}}, 7), memory_.data());
    ckpt_applied_add(log_.add(5, {{0, 2 * page}}, 5), memory_.data());
    EXPECT_EQ(memory_[page - 1], 7);
    EXPECT_EQ(memory_[page], 5);
}

TEST_F(Applied, BytesAndPagesAreOrderedAlike)
{
    ckpt_applied_add(log_.add(3, {{10, 4}}, 3), memory_.data());
    ckpt_applied_add(log_.add(2, {{0, page}}, 2), memory_.data());
    ckpt_applied_add(log_.add(4, {{12, 1}, {20, 2}}, 4), memory_.data());
    EXPECT_EQ(memory_[9], 2);
    EXPECT_EQ(memory_[10], 3);
    EXPECT_EQ(memory_[12], 4);
    EXPECT_EQ(memory_[13], 3);
    EXPECT_EQ(memory_[14], 2);
    EXPECT_EQ(memory_[21], 4);
}

TEST_F(Applied, OtherMemoryIsAnotherMatter)
{
    std::vector<char> other(page, 0);
    ckpt_applied_add(log_.add(9, {{0, page}}, 9), other.data());
    ckpt_applied_add(log_.add(1, {{0, page}}, 1), memory_.data());
    EXPECT_EQ(memory_[0], 1);
    EXPECT_EQ(other[0], 9);
}

/* Some ranges that do not overlap. */
Ranges random_ranges(std::mt19937 &random)
{
    Ranges ranges;
    std::size_t at = random() % page;
    while (at < pages * page && ranges.size() < 5) {
        const std::size_t bytes = std::min(1 + random() % page, pages * page - at);
        ranges.push_back({at, bytes});
        at += bytes + random() % page;
    }
    return ranges;
}

TEST_F(Applied, AnyOrderGivesTheSame)
{
    for (unsigned seed = 0; seed < 300; seed++) {
        std::mt19937 random(seed);
        Log log(1 << 20);
        std::vector<ckpt_log_record *> records;
        std::vector<char> expected(pages * page, 0), found = expected;
        for (std::uint64_t order = 1; order <= 40; order++) {
            const Ranges ranges = random_ranges(random);
            const char value = static_cast<char>(order);
            records.push_back(log.add(order, ranges, value));
            for (const ckpt_log_range &range : ranges) {
                std::memset(expected.data() + range.start, value, range.bytes);
            }
        }
        std::shuffle(records.begin(), records.end(), random);
        for (ckpt_log_record *record : records) {
            ckpt_applied_add(record, found.data());
        }
        EXPECT_EQ(found, expected) << "seed " << seed;
        ckpt_applied_forget();
    }
}

} // namespace
