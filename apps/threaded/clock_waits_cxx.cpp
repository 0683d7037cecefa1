// SPDX-License-Identifier: BSD-3-Clause
//
// clock_waits_cxx.cpp - deadlines of std::chrono::steady_clock in variables, while the host
// changes.
//
//     clock_waits_cxx GATE
//
// A wait of some seconds is pending when the file GATE appears. After that, short waits have to
// last as long as they should by the time of day.
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <future>
#include <mutex>
#include <thread>

using namespace std::chrono_literals;
using Steady = std::chrono::steady_clock;
using Day = std::chrono::system_clock;

namespace
{

constexpr auto long_wait = 4s;
constexpr auto short_wait = 300ms;
constexpr auto late = 1500ms;
bool failed = false;

void check(const char *name, Steady::duration wanted, Steady::duration took)
{
    if (took < wanted || took > wanted + late) {
        std::printf("FAIL %s: %lld ms\n", name,
                    static_cast<long long>(took / 1ms));
        failed = true;
    }
}

void check_short(const char *name, const std::function<bool()> &wait)
{
    const auto day = Day::now();

    if (!wait()) {
        std::printf("FAIL %s: not timed out\n", name);
        failed = true;
    }
    check(name, short_wait - 5ms, Day::now() - day);
}

struct Condition {
    std::mutex mutex;
    std::condition_variable variable;

    bool wait_for(Steady::duration time)
    {
        std::unique_lock lock(mutex);
        return !variable.wait_for(lock, time, [] { return false; });
    }
};

void check_short_waits()
{
    Condition condition;
    std::promise<int> promise;
    std::future<int> future = promise.get_future();
    std::timed_mutex held;
    std::lock_guard lock(held);

    check_short("wait_for", [&] { return condition.wait_for(short_wait); });
    check_short("future", [&] {
        return future.wait_for(short_wait) == std::future_status::timeout;
    });
    check_short("sleep_until", [] {
        std::this_thread::sleep_until(Steady::now() + short_wait);
        return true;
    });
    check_short("try_lock_for", [&] {
        return !std::async(std::launch::async, [&] {
                    return held.try_lock_for(short_wait);
                }).get();
    });
}

} // namespace

int main(int argc, char **argv)
{
    if (argc < 2) {
        return 2;
    }
    Condition condition;
    const auto start = Steady::now();
    const auto deadline = start + long_wait;
    std::thread waiter([&] {
        condition.wait_for(long_wait);
        check("pending wait_for", long_wait, Steady::now() - start);
    });
    std::printf("READY\n");
    std::fflush(stdout);
    while (!std::filesystem::exists(argv[1])) {
        std::this_thread::sleep_for(20ms);
    }
    check_short_waits();
    waiter.join();
    std::this_thread::sleep_until(deadline);
    check("deadline", long_wait, Steady::now() - start);
    std::printf(failed ? "WRONG\n" : "OK\n");
    return failed ? 1 : 0;
}
