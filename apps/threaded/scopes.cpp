/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * scopes.cpp - a program without MPI that uses all of ckpt.hpp, and checks it.
 *
 *     scopes STEPS
 *
 * A second thread is in no-checkpoint regions most of the time. The first one reaches safe points,
 * with hooks, and requests a checkpoint now and then. Runs with ckpt and without.
 */
#include "ckpt.hpp"
#include "may_end.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

#define CHECK(condition)                                                          \
    do {                                                                          \
        if (!(condition)) {                                                       \
            std::fprintf(stderr, "%d: check failed: %s\n", __LINE__, #condition); \
            std::abort();                                                         \
        }                                                                         \
    } while (0)

namespace
{

using std::chrono::milliseconds;

constexpr std::size_t words = 2 << 20;
constexpr std::size_t page_words = 4096 / sizeof(long);

std::atomic<bool> done;

/* No restart may resume in the middle. */
void be_in_regions()
{
    while (!done) {
        {
            ckpt::NoCheckpoint outer, inner;
            const auto before = ckpt_restarts();
            std::this_thread::sleep_for(milliseconds(3));
            CHECK(ckpt_restarts() == before);
        }
        std::this_thread::sleep_for(milliseconds(1));
    }
}

void ask()
{
    const auto last = ckpt_last();
    const int answer = ckpt_checkpoint(CKPT_WAIT);
    std::printf("asked %d %s\n", answer, ckpt_reason());
    CHECK(answer != CKPT_TAKEN || ckpt_last() > last);
    CHECK(answer != CKPT_ABSENT || !ckpt_active());
}

/* Hooks run in the thread that has reached a safe point, which may be either of the two. */
struct Device {
    std::atomic<bool> is_open = true;
    std::atomic<int> restarts = 0;
};

/* Returns how often the program had been restarted at the write. */
std::uint64_t write(std::vector<long> &kept, std::vector<long> &scratch, long step)
{
    ckpt::NoCheckpoint here;
    for (std::size_t i = 0; i < words; i += page_words) {
        scratch[i] = kept[i] = step;
    }
    return ckpt_restarts();
}

void check(const std::vector<long> &kept, const std::vector<long> &scratch, long step,
           std::uint64_t restarts)
{
    ckpt::NoCheckpoint here;
    const bool came_back = ckpt_restarts() != restarts;
    /* Skips the first and the last page, which may contain other data. */
    for (std::size_t i = page_words; i + 2 * page_words < words; i += page_words) {
        CHECK(kept[i] == step);
        CHECK(scratch[i] == (came_back ? 0 : step));
    }
}

long run(long steps)
{
    Device device;
    std::vector<long> kept(words), scratch(words);
    ckpt::Excluded excluded;
    excluded = ckpt::Excluded(scratch);
    ckpt::Hooks hooks(
        [&] {
            CHECK(device.is_open.exchange(false));
            return true;
        },
        [&](int answer) {
            CHECK(!device.is_open.exchange(true));
            device.restarts += answer == CKPT_RESTARTED ? 1 : 0;
        });
    long sum = 0;
    for (long step = 1; step <= steps || !may_end(); step++) {
        const auto restarts = write(kept, scratch, step);
        ckpt_safe_point();
        check(kept, scratch, step, restarts);
        std::this_thread::sleep_for(milliseconds(2));
        sum = step <= steps ? sum * 31 + step : sum;
        if (step % 20 == 0) {
            std::printf("step %ld\n", step);
        }
        if (step % 150 == 0 && step <= steps) {
            ask();
        }
        std::fflush(stdout);
    }
    std::printf("restarts %d, hooks %d\n", static_cast<int>(ckpt_restarts()),
                device.restarts.load());
    return sum;
}

} // namespace

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    std::thread other(be_in_regions);
    const long sum = run(std::atol(argv[1]));
    done = true;
    other.join();
    std::printf("OK %016lx\n", static_cast<unsigned long>(sum));
    return 0;
}
