/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_volatile_log.cpp - the rings of a volatile log, compared with a list of their records.
 */
extern "C" {
#include "independent/log/volatile_log.h"
}

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <deque>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace
{

constexpr std::uint64_t capacity = 2048;
constexpr std::uint64_t header = sizeof(ckpt_log_record);

struct Known {
    std::uint64_t position;
    std::string bytes;
    bool is_dropped = false;
};

/* One ring, and its expected content. The other ring must stay untouched. */
class Ring
{
  public:
    explicit Ring(bool is_writes)
        : memory_(ckpt_log_size(capacity) / sizeof(std::uint64_t))
    {
        log = reinterpret_cast<ckpt_volatile_log *>(memory_.data());
        ckpt_log_format(log, capacity);
        ring = is_writes ? &log->writes : &log->events;
        other_ = is_writes ? &log->events : &log->writes;
        ckpt_log_record *record = ckpt_log_reserve(log, other_, untouched_.size());
        std::memcpy(ckpt_log_bytes(record), untouched_.data(), untouched_.size());
        ckpt_log_commit(log, other_, record);
    }

    bool add(const std::string &bytes)
    {
        ckpt_log_record *record = ckpt_log_reserve(log, ring, bytes.size());
        if (record == nullptr) {
            return false;
        }
        std::memcpy(ckpt_log_bytes(record), bytes.data(), bytes.size());
        known.push_back({ring->tail, bytes});
        ckpt_log_commit(log, ring, record);
        return true;
    }

    /* Returns how many bytes a record of `bytes` bytes would take, including the filler before
     * it. */
    std::uint64_t need(std::size_t bytes) const
    {
        const std::uint64_t size = (header + bytes + 7) / 8 * 8;
        const std::uint64_t straight = capacity - ring->tail % capacity;
        return size + (size > straight ? straight : 0);
    }
    std::uint64_t room() const { return capacity - (ring->tail - ring->head); }

    void drop(std::size_t i)
    {
        known[i].is_dropped = true;
        ckpt_log_drop(ckpt_log_at(log, ring, known[i].position));
    }
    void trim(std::size_t count)
    {
        known.erase(known.begin(), known.begin() + static_cast<long>(count));
        ckpt_log_trim(ring, known.empty() ? ring->tail : known.front().position);
    }
    void cut(std::size_t from)
    {
        const std::uint64_t position = known[from].position;
        known.erase(known.begin() + static_cast<long>(from), known.end());
        ckpt_log_cut(log, ring, position);
    }
    void retract(std::size_t from)
    {
        ckpt_log_retract(log, ring, known[from].position);
        while (known.size() > from && known.back().is_dropped) {
            known.pop_back();
        }
    }

    void expect_right() const
    {
        std::uint64_t position = ring->head;
        for (const Known &one : known) {
            if (one.is_dropped) {
                continue;
            }
            ckpt_log_record *record = ckpt_log_find(log, ring, &position);
            ASSERT_NE(record, nullptr);
            ASSERT_EQ(position, one.position);
            ASSERT_EQ(std::string(ckpt_log_bytes(record), one.bytes.size()), one.bytes);
            position = ckpt_log_behind(record, position);
        }
        ASSERT_EQ(ckpt_log_find(log, ring, &position), nullptr);
        ASSERT_LE(ring->tail - ring->head, capacity);
        std::uint64_t first = 0;
        ckpt_log_record *others = ckpt_log_find(log, other_, &first);
        ASSERT_NE(others, nullptr);
        ASSERT_EQ(std::string(ckpt_log_bytes(others), untouched_.size()), untouched_);
    }

    ckpt_volatile_log *log;
    ckpt_log_ring *ring;
    std::deque<Known> known;

  private:
    std::vector<std::uint64_t> memory_;
    ckpt_log_ring *other_;
    const std::string untouched_ = std::string(capacity - header, 'o');
};

class VolatileLog : public testing::TestWithParam<bool>
{
};

std::string random_bytes(std::mt19937 &chance, std::size_t most)
{
    std::string bytes(chance() % (most + 1), '\0');
    std::ranges::generate(bytes, [&] { return static_cast<char>(chance()); });
    return bytes;
}

/* Makes a random change to a ring that is not empty. */
void change(Ring &ring, std::mt19937 &chance)
{
    const std::size_t which = chance() % ring.known.size();
    switch (chance() % 8) {
    case 0:
        ring.cut(which);
        break;
    case 1:
        ring.retract(which);
        break;
    case 2:
    case 3:
        ring.drop(which);
        break;
    default:
        ring.trim(which + 1);
    }
}

} // namespace

TEST_P(VolatileLog, HoldsWhatWasPutIntoItWhateverIsTakenOut)
{
    std::mt19937 chance(11);
    Ring ring(GetParam());
    int refused = 0;

    for (int step = 0; step < 20000; step++) {
        if (!ring.known.empty() && chance() % 3 == 0) {
            change(ring, chance);
        } else {
            const std::string bytes = random_bytes(chance, 300);
            const bool fits = ring.need(bytes.size()) <= ring.room();
            ASSERT_EQ(ring.add(bytes), fits);
            refused += fits ? 0 : 1;
        }
        ASSERT_NO_FATAL_FAILURE(ring.expect_right()) << "step " << step;
    }
    EXPECT_GT(refused, 100);
    EXPECT_GT(ring.ring->tail, 100 * capacity) << "it has gone around";
}

TEST_P(VolatileLog, TakesARecordAsLongAsItself)
{
    Ring ring(GetParam());
    const std::string longest(capacity - header, 'x');

    EXPECT_FALSE(ring.add(longest + "y"));
    for (int i = 0; i < 3; i++) {
        ASSERT_TRUE(ring.add(longest));
        EXPECT_FALSE(ring.add(""));
        ring.expect_right();
        ring.trim(1);
        ASSERT_TRUE(ring.add("short"));
        EXPECT_FALSE(ring.add(longest));
        ring.trim(1); /* an empty ring restarts at its start */
    }
}

/* The count of logged bytes includes fillers. */
TEST_P(VolatileLog, CountsWhatHasBeenInIt)
{
    Ring ring(GetParam());
    const std::uint64_t before = ring.log->ever;

    ASSERT_TRUE(ring.add(std::string(1000, 'a')));
    EXPECT_EQ(ring.log->ever - before, header + 1000);
    ASSERT_TRUE(ring.add(std::string(600, 'b')));
    ring.trim(1);
    ASSERT_TRUE(ring.add(std::string(500, 'c'))) << "behind a filler";
    EXPECT_EQ(ring.log->ever - before, capacity + header + 504);
    ring.cut(1);
    EXPECT_EQ(ring.log->ever - before, capacity);
}

TEST_P(VolatileLog, GivesUpOnlyWhatIsAtTheEnd)
{
    Ring ring(GetParam());

    for (const char *text : {"one", "two", "three", "four"}) {
        ASSERT_TRUE(ring.add(text));
    }
    ring.drop(1);
    ring.drop(3);
    ring.retract(0);
    EXPECT_EQ(ring.known.size(), 3u);
    ring.expect_right();
    EXPECT_EQ(ring.ring->tail, 3 * (header + 8));
}

TEST_P(VolatileLog, PassesOverWhatHasBeenTrimmed)
{
    Ring ring(GetParam());
    std::uint64_t position = 0;

    for (const char *text : {"one", "two", "three"}) {
        ASSERT_TRUE(ring.add(text));
    }
    ring.trim(2);
    const ckpt_log_record *record = ckpt_log_find(ring.log, ring.ring, &position);
    EXPECT_EQ(position, 2 * (header + 8));
    EXPECT_EQ(record, ckpt_log_at(ring.log, ring.ring, position));
}

/* A reader of the log of a running rank sees unchanged records, and none that is partly
 * overwritten. */
TEST_P(VolatileLog, IsReadWhileItIsTrimmed)
{
    constexpr std::uint64_t key = 0x9e3779b97f4a7c15;
    Ring ring(GetParam());
    std::atomic<bool> is_enough = false;

    std::thread writer([&] {
        std::mt19937 chance(5);
        for (std::uint64_t i = 1; !is_enough; i++) {
            ckpt_log_record *record;
            while ((record = ckpt_log_reserve(ring.log, ring.ring, chance() % 300)) == nullptr) {
                std::uint64_t position = ring.ring->head;
                for (unsigned count = 1 + chance() % 3; count > 0; count--) {
                    if (const auto *oldest = ckpt_log_find(ring.log, ring.ring, &position)) {
                        position = ckpt_log_behind(oldest, position);
                    }
                }
                ckpt_log_trim(ring.ring, position);
            }
            record->kind = CKPT_LOGGED_WRITE;
            record->interval = i;
            record->order = i * key ^ record->size;
            ckpt_log_commit(ring.log, ring.ring, record);
        }
    });
    std::uint64_t position = 0, newest = 0;
    for (int found = 0; found < 200000;) {
        ckpt_log_record record;
        if (ckpt_log_find_alive(ring.log, ring.ring, &position, &record) == nullptr) {
            continue;
        }
        found++;
        EXPECT_EQ(record.order, record.interval * key ^ record.size);
        EXPECT_GT(record.interval, newest);
        newest = record.interval;
        position = ckpt_log_behind(&record, position);
    }
    is_enough = true;
    writer.join();
}

INSTANTIATE_TEST_SUITE_P(Of, VolatileLog, testing::Bool(), [](const auto &info) {
    return std::string(info.param ? "writes" : "events");
});
