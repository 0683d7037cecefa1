/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_quiet.cpp - a target copies its memory only while it has no undelivered puts, whatever its
 * origins do meanwhile.
 */
extern "C" {
#include "independent/log/quiet.h"
}

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <thread>
#include <vector>

namespace
{

/* The record of a window with `ranks` ranks. */
class Record
{
  public:
    explicit Record(int count)
        : memory_(std::make_unique<std::uint64_t[]>(ckpt_record_size(count) / 8))
    {
        get()->count = static_cast<std::uint32_t>(count);
    }

    ckpt_record *get() { return reinterpret_cast<ckpt_record *>(memory_.get()); }

  private:
    std::unique_ptr<std::uint64_t[]> memory_;
};

TEST(Quiet, IsBrokenForOneTargetByEachOrigin)
{
    Record record(3);
    EXPECT_EQ(ckpt_quiet_break(record.get(), 0, 2), 1);
    EXPECT_EQ(ckpt_quiet_break(record.get(), 2, 2), 1);
    EXPECT_TRUE(ckpt_quiet_is_broken(record.get(), 0, 2));
    EXPECT_FALSE(ckpt_quiet_is_broken(record.get(), 1, 2));
    EXPECT_TRUE(ckpt_quiet_is_kept(record.get(), 0));
    ckpt_quiet_restore(record.get(), 0, 2);
    EXPECT_FALSE(ckpt_quiet_is_kept(record.get(), 2)) << "the other origin has not delivered";
    ckpt_quiet_restore(record.get(), 2, 2);
    EXPECT_TRUE(ckpt_quiet_is_kept(record.get(), 2));
}

TEST(Quiet, IsGivenToWhoAsksWhenAllHaveDelivered)
{
    Record record(2);
    EXPECT_EQ(ckpt_quiet_break(record.get(), 0, 1), 1);
    ckpt_quiet_ask(record.get(), 1, 1);
    EXPECT_FALSE(ckpt_quiet_is_kept(record.get(), 1));
    EXPECT_EQ(ckpt_quiet_break(record.get(), 1, 1), 0);
    EXPECT_EQ(ckpt_quiet_break(record.get(), 1, 0), 1) << "another target has not asked";
    ckpt_quiet_restore(record.get(), 0, 1);
    EXPECT_EQ(ckpt_quiet_break(record.get(), 0, 1), 0);
    EXPECT_TRUE(ckpt_quiet_is_kept(record.get(), 1));
    ckpt_quiet_ask(record.get(), 1, 0);
    EXPECT_EQ(ckpt_quiet_break(record.get(), 0, 1), 1);
}

/* The words of other ranks are unchanged. */
TEST(Quiet, TouchesNothingElse)
{
    Record record(3);
    ckpt_record_pair(record.get(), 1, 2)->held = 7;
    ckpt_record_target(record.get(), 2)->owner = 2;
    ckpt_quiet_break(record.get(), 1, 2);
    ckpt_quiet_ask(record.get(), 2, 1);
    ckpt_quiet_restore(record.get(), 1, 2);
    EXPECT_EQ(ckpt_record_pair(record.get(), 1, 2)->held, 7u);
    EXPECT_EQ(ckpt_record_target(record.get(), 2)->owner, 2u);
}

/* Origins that put into their parts of a target's memory and deliver now and then, as direct.c
 * does, while the target copies the memory. */
class Traffic
{
  public:
    explicit Traffic(bool asks)
        : asks_(asks) {}

    /* The content of a part, as the origin has delivered it. */
    struct Part {
        std::uint64_t value[32];
        std::uint64_t delivered;
    };

    /* Runs until many copies were made, and an origin has put directly. */
    void run()
    {
        std::vector<std::thread> origins;
        for (int origin = 0; origin < origins_count; origin++) {
            origins.emplace_back([this, origin] { put_until_stopped(origin); });
        }
        while (copies < 100 || placed == 0) {
            copy();
            std::this_thread::yield();
        }
        stop_ = true;
        for (std::thread &origin : origins) {
            origin.join();
        }
    }

    int copies = 0, wrong = 0;
    std::atomic<int> placed = 0;

  private:
    static constexpr int origins_count = 2;
    static constexpr int target = origins_count;

    void take()
    {
        std::uint32_t nobody = 0;
        volatile std::uint32_t *owner = &ckpt_record_target(record_.get(), target)->owner;
        while (!__atomic_compare_exchange_n(owner, &nobody, 1u, 0, __ATOMIC_ACQUIRE,
                                            __ATOMIC_RELAXED)) {
            nobody = 0;
            std::this_thread::yield();
        }
    }

    void give()
    {
        __atomic_store_n(&ckpt_record_target(record_.get(), target)->owner, 0u,
                         __ATOMIC_RELEASE);
    }

    bool may_put(int origin)
    {
        if (ckpt_quiet_is_broken(record_.get(), origin, target)) {
            return true;
        }
        take();
        const bool allowed = ckpt_quiet_break(record_.get(), origin, target) != 0;
        give();
        return allowed;
    }

    static void write(Part &part, std::uint64_t value)
    {
        for (std::uint64_t &word : part.value) {
            __atomic_store_n(&word, value, __ATOMIC_RELAXED);
        }
    }

    /* Makes some puts, and then delivers them. */
    void put_until_stopped(int origin)
    {
        std::mt19937 random(static_cast<unsigned>(origin));
        Part &part = parts_[static_cast<std::size_t>(origin)];
        for (std::uint64_t value = 1; !stop_; value++) {
            bool in_place = false;
            for (unsigned i = random() % 4; i > 0; i--) {
                if (may_put(origin)) {
                    write(part, value + i);
                    in_place = true;
                }
            }
            in_place = in_place && may_put(origin);
            if (in_place) {
                write(part, value);
                placed++;
            }
            take();
            write(part, value);
            __atomic_store_n(&part.delivered, value, __ATOMIC_RELAXED);
            give();
            ckpt_quiet_restore(record_.get(), origin, target);
            std::this_thread::yield();
        }
    }

    /* A copy counts only if the memory is quiet. */
    void copy()
    {
        if (!ckpt_quiet_is_kept(record_.get(), target) && asks_) {
            ckpt_quiet_ask(record_.get(), target, 1);
        }
        take();
        if (ckpt_quiet_is_kept(record_.get(), target)) {
            for (const Part &part : parts_) {
                check(part);
            }
            copies++;
            ckpt_quiet_ask(record_.get(), target, 0);
        }
        give();
    }

    void check(const Part &part)
    {
        const std::uint64_t delivered = __atomic_load_n(&part.delivered, __ATOMIC_RELAXED);
        for (const std::uint64_t &word : part.value) {
            wrong += __atomic_load_n(&word, __ATOMIC_RELAXED) != delivered;
        }
    }

    Record record_{origins_count + 1};
    std::array<Part, origins_count> parts_{};
    std::atomic<bool> stop_ = false;
    bool asks_;
};

class QuietTraffic : public testing::TestWithParam<bool>
{
};

TEST_P(QuietTraffic, NoCopyHasWhatIsNotDelivered)
{
    Traffic traffic(GetParam());
    traffic.run();
    EXPECT_EQ(traffic.wrong, 0);
}

INSTANTIATE_TEST_SUITE_P(Targets, QuietTraffic, testing::Bool(),
                         [](const auto &way) { return way.param ? "asks" : "waits"; });

} // namespace
