/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_threads.cpp - threads that stop and go on.
 */
extern "C" {
#include "sys/syscall.h"
#include "sys/thread_pointer.h"
#include "task/busy.h"
#include "task/interrupted.h"
#include "task/signal_sets.h"
#include "task/threads.h"
}

#include "thread_reaper.hpp"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <csignal>
#include <fcntl.h>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <mutex>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <string>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace
{

constexpr int checkpoint_signal = 63;
constexpr int timeout_ms = 10000;

std::atomic<int> notified_upper;
std::atomic<int> notified_lower;

void notify(int in_lower)
{
    (in_lower != 0 ? notified_lower : notified_upper)++;
    /* The handler must hide this from the interrupted code. */
    errno = EXDEV;
}

class Threads : public testing::Test
{
  protected:
    void SetUp() override
    {
        ckpt_thread_pointer_open();
        notified_upper = 0;
        notified_lower = 0;
        ASSERT_EQ(ckpt_threads_open(checkpoint_signal, notify, nullptr), 0);
    }

    void freeze()
    {
        ckpt_failure failure{};
        ASSERT_EQ(ckpt_threads_freeze(timeout_ms, &failure), 0)
            << failure.text;
    }
};

std::vector<ckpt_thread> parked()
{
    const ckpt_thread *threads;
    std::size_t count = ckpt_threads_list(&threads);
    return {threads, threads + count};
}

/* Spins and counts, which shows that it runs; detects a changed errno. */
struct Busy {
    std::atomic<unsigned long> count{0};
    std::atomic<bool> stop{false};
    std::atomic<bool> broken{false};
    std::thread thread{[this] {
        double sum = 0;
        errno = EDOM;
        for (unsigned long n = 1; !stop; n++) {
            sum += std::sqrt(static_cast<double>(n));
            count++;
            if (errno != EDOM || !(sum > 0)) {
                broken = true;
            }
        }
    }};

    void wait_for_progress() const
    {
        for (unsigned long before = count; count == before;) {
            std::this_thread::yield();
        }
    }

    ~Busy()
    {
        stop = true;
        thread.join();
    }
};

TEST_F(Threads, eight_busy_threads_stand_still_while_frozen)
{
    std::vector<std::unique_ptr<Busy>> threads(8);
    for (auto &busy : threads) {
        busy = std::make_unique<Busy>();
    }

    for (int round = 0; round < 10; round++) {
        std::vector<unsigned long> before;
        std::vector<unsigned long> after;

        freeze();
        for (auto &busy : threads) {
            before.push_back(busy->count);
        }
        timespec moment{0, 2000000}; /* time in which they could move */
        ckpt_sys_nanosleep(&moment, nullptr);
        for (auto &busy : threads) {
            after.push_back(busy->count);
        }
        std::size_t count = parked().size();
        ckpt_threads_thaw();
        EXPECT_EQ(count, 8u);
        EXPECT_EQ(before, after);
        for (auto &busy : threads) {
            busy->wait_for_progress();
            EXPECT_FALSE(busy->broken);
        }
    }
    EXPECT_EQ(notified_upper + notified_lower, 0);
}

TEST_F(Threads, threads_that_come_and_go_are_no_obstacle)
{
    std::atomic<bool> stop{false};
    std::atomic<int> made{0};
    std::vector<std::thread> makers;

    for (int i = 0; i < 3; i++) {
        makers.emplace_back([&] {
            while (!stop) {
                std::thread([&] { made++; }).join();
            }
        });
    }
    for (int round = 0; round < 100; round++) {
        freeze();
        int before = made;
        timespec moment{0, 1000000};
        ckpt_sys_nanosleep(&moment, nullptr);
        int after = made;
        ckpt_threads_thaw();
        ASSERT_EQ(before, after) << "a thread ran in round " << round;
        while (made == after) {
            std::this_thread::yield();
        }
    }
    stop = true;
    for (auto &maker : makers) {
        maker.join();
    }
}

/* Returns the number of the system call in which a thread waits, or -1. */
long waits_in(pid_t tid)
{
    std::string path = "/proc/self/task/" + std::to_string(tid) + "/syscall";
    long number = -1;
    FILE *file = std::fopen(path.c_str(), "r");

    if (file != nullptr) {
        if (std::fscanf(file, "%ld", &number) != 1) {
            number = -1;
        }
        std::fclose(file);
    }
    return number;
}

/* Runs `wait` in a thread, and freezes and thaws the thread three times in that wait. Then calls
 * `end` to end the wait, and returns the result of `wait`. */
long frozen_in_wait(std::function<long()> wait, std::function<void()> end)
{
    std::atomic<pid_t> tid{0};
    long result = -1;
    std::thread thread([&] {
        tid = gettid();
        result = wait();
    });
    while (tid == 0) {
        std::this_thread::yield();
    }
    for (int round = 0; round < 3; round++) {
        ckpt_failure failure{};
        while (waits_in(tid) < 0) {
            std::this_thread::yield();
        }
        EXPECT_EQ(ckpt_threads_freeze(timeout_ms, &failure), 0)
            << failure.text;
        ckpt_threads_thaw();
    }
    end();
    thread.join();
    return result;
}

TEST_F(Threads, waits_go_on_as_if_nothing_had_been)
{
    int ends[2];
    char byte = 0;
    ASSERT_EQ(pipe(ends), 0);
    auto put = [&] { ASSERT_EQ(write(ends[1], "x", 1), 1); };
    auto nothing = [] {};

    EXPECT_EQ(frozen_in_wait([&] { return read(ends[0], &byte, 1); }, put), 1);
    EXPECT_EQ(byte, 'x');

    pollfd file{ends[0], POLLIN, 0};
    EXPECT_EQ(frozen_in_wait([&] { return poll(&file, 1, 60000); }, put), 1);
    EXPECT_EQ(read(ends[0], &byte, 1), 1);

    sem_t semaphore;
    sem_init(&semaphore, 0, 0);
    EXPECT_EQ(frozen_in_wait([&] { return sem_wait(&semaphore); },
                             [&] { sem_post(&semaphore); }),
              0);

    auto start = std::chrono::steady_clock::now();
    timespec half{0, 500000000};
    EXPECT_EQ(frozen_in_wait([&] { return nanosleep(&half, nullptr); },
                             nothing),
              0);
    EXPECT_GE(std::chrono::steady_clock::now() - start,
              std::chrono::milliseconds(500));

    std::mutex mutex;
    std::condition_variable condition;
    bool done = false;
    EXPECT_EQ(frozen_in_wait(
                  [&] {
                      std::unique_lock lock(mutex);
                      return condition.wait_for(lock, std::chrono::minutes(1),
                                                [&] { return done; })
                                 ? 7
                                 : 8;
                  },
                  [&] {
                      std::lock_guard lock(mutex);
                      done = true;
                      condition.notify_one();
                  }),
              7);
    close(ends[0]);
    close(ends[1]);
}

TEST_F(Threads, sigsuspend_ends_with_a_handler_and_nothing_else)
{
    static std::atomic<int> handled{0};
    std::atomic<pid_t> tid{0};
    int error = 0;
    signal(SIGUSR2, [](int) { handled++; });
    std::thread thread([&] {
        sigset_t none, blocked;
        sigemptyset(&none);
        sigemptyset(&blocked);
        sigaddset(&blocked, SIGUSR2);
        pthread_sigmask(SIG_BLOCK, &blocked, nullptr);
        tid = gettid();
        sigsuspend(&none);
        error = errno;
    });
    for (int round = 0; round < 3; round++) {
        while (tid == 0 || waits_in(tid) != SYS_rt_sigsuspend) {
            std::this_thread::yield();
        }
        freeze();
        if (round == 2) { /* comes while the thread is stopped */
            pthread_kill(thread.native_handle(), SIGUSR2);
        }
        EXPECT_EQ(handled, 0);
        ckpt_threads_thaw();
    }
    thread.join();
    EXPECT_EQ(error, EINTR);
    EXPECT_EQ(handled, 1);
}

TEST_F(Threads, a_deaf_thread_is_named_and_all_are_released)
{
    std::atomic<bool> deaf{false};
    std::atomic<bool> stop{false};
    std::atomic<pid_t> tid{0};
    std::thread thread([&] {
        const std::uint64_t all = ~0ull;
        std::uint64_t old;
        pthread_setname_np(pthread_self(), "stubborn");
        tid = gettid();
        ckpt_sys_sigprocmask(SIG_SETMASK, &all, &old);
        deaf = true;
        while (!stop) {
            std::this_thread::yield();
        }
        ckpt_sys_sigprocmask(SIG_SETMASK, &old, nullptr);
    });
    while (!deaf) {
        std::this_thread::yield();
    }
    {
        Busy busy;
        ckpt_failure failure{};
        std::uint64_t before;
        std::uint64_t after;

        ckpt_sys_sigprocmask(SIG_SETMASK, nullptr, &before);
        EXPECT_EQ(ckpt_threads_freeze(100, &failure), -ETIMEDOUT);
        ckpt_sys_sigprocmask(SIG_SETMASK, nullptr, &after);
        EXPECT_EQ(before, after);
        std::string text = failure.text;
        EXPECT_NE(text.find("stubborn"), std::string::npos) << text;
        EXPECT_NE(text.find(std::to_string(tid)), std::string::npos) << text;
        busy.wait_for_progress();
    }
    stop = true;
    thread.join();
    EXPECT_EQ(notified_upper + notified_lower, 0);
    freeze();
    EXPECT_EQ(parked().size(), 0u);
    ckpt_threads_thaw();
}

/* A thread that blocks all signals, by a raw system call that libckpt does not see. */
class Deaf
{
  public:
    explicit Deaf(std::chrono::milliseconds time = std::chrono::hours(1))
        : thread_([this, time] {
              const std::uint64_t all = ~0ull;
              std::uint64_t old;
              ckpt_sys_sigprocmask(SIG_SETMASK, &all, &old);
              tid_ = gettid();
              const auto end = std::chrono::steady_clock::now() + time;
              while (!stop_ && std::chrono::steady_clock::now() < end) {
                  std::this_thread::yield();
              }
              ckpt_sys_sigprocmask(SIG_SETMASK, &old, nullptr);
              while (!stop_) {
                  std::this_thread::yield();
              }
          })
    {
        while (tid_ == 0) {
            std::this_thread::yield();
        }
    }
    ~Deaf()
    {
        stop_ = true;
        thread_.join();
    }

    pid_t tid() const { return tid_; }

  private:
    std::atomic<bool> stop_{false};
    std::atomic<pid_t> tid_{0};
    std::thread thread_;
};

TEST_F(Threads, who_blocks_the_signal_is_not_waited_for_as_long_as_others)
{
    using std::chrono::steady_clock;
    const std::chrono::milliseconds soon(timeout_ms / 5);
    ckpt_failure failure{};

    for (int thread = 0; thread < 2; thread++) {
        Deaf deaf;
        for (int round = 0; round < 3; round++) {
            const auto begin = steady_clock::now();
            EXPECT_EQ(ckpt_threads_freeze(timeout_ms, &failure), -ETIMEDOUT);
            const auto time = steady_clock::now() - begin;
            EXPECT_LT(time, round == 0 ? soon : soon / 10) << "round " << round;
            EXPECT_EQ(std::string(failure.text).find("thread " + std::to_string(deaf.tid())),
                      0u)
                << failure.text;
            EXPECT_NE(std::string(failure.text).find("blocks signal 63"),
                      std::string::npos);
        }
    }
    freeze();
    ckpt_threads_thaw();
}

TEST_F(Threads, who_blocks_the_signal_for_a_moment_is_waited_for)
{
    Deaf deaf(std::chrono::milliseconds(200));

    freeze();
    EXPECT_EQ(parked().size(), 1u);
    ckpt_threads_thaw();
}

TEST_F(Threads, the_sets_of_signals_of_a_thread_are_the_kernels)
{
    Deaf deaf;
    ckpt_signal_sets sets;

    ASSERT_EQ(ckpt_signal_sets_read(deaf.tid(), &sets), 0);
    EXPECT_EQ(sets.blocked & CKPT_SIGNAL_BIT(SIGUSR1), CKPT_SIGNAL_BIT(SIGUSR1));
    EXPECT_EQ(sets.waiting, 0u);
    EXPECT_FALSE(ckpt_signal_is_held_up(deaf.tid(), SIGUSR1));
    /* This signal does no harm later. */
    ckpt_sys_tgkill(getpid(), deaf.tid(), SIGWINCH);
    EXPECT_TRUE(ckpt_signal_is_held_up(deaf.tid(), SIGWINCH));
    EXPECT_FALSE(ckpt_signal_is_held_up(deaf.tid(), SIGUSR1));
    ASSERT_EQ(ckpt_signal_sets_read(0, &sets), 0);
    EXPECT_EQ(sets.blocked & CKPT_SIGNAL_BIT(SIGWINCH), 0u);
    EXPECT_LT(ckpt_signal_sets_read(INT32_MAX, &sets), 0);
}

TEST_F(Threads, it_is_told_when_code_of_ours_blocks_the_signal)
{
    ckpt_signal_state state{};

    ckpt_busy_tell(&state);
    freeze();
    EXPECT_NE(state.busy, 0u);
    ckpt_threads_thaw();
    EXPECT_EQ(state.busy, 0u);

    static ckpt_signal_state *shown;
    static std::uint64_t while_answering;
    shown = &state;
    ASSERT_EQ(ckpt_threads_open(
                  checkpoint_signal, [](int) { while_answering = shown->busy; }, nullptr),
              0);
    union sigval value = {};
    /* The signal looks as if another process had sent it. */
    ASSERT_EQ(sigqueue(getpid(), checkpoint_signal, value), 0);
    EXPECT_NE(while_answering, 0u);
    EXPECT_EQ(state.busy, 0u);
    EXPECT_EQ(state.taken, 1u);

    ckpt_busy_hold();
    ckpt_busy_hold();
    ckpt_busy_release();
    EXPECT_NE(state.busy, 0u);
    ckpt_busy_release();
    EXPECT_EQ(state.busy, 0u);
    ckpt_busy_tell(nullptr);
    ckpt_busy_hold();
    EXPECT_EQ(state.busy, 0u);
    ckpt_busy_release();
}

/* Each freeze consumes pending signals and sends them again, in all threads at once. */
TEST_F(Threads, signals_that_wait_do_not_become_more)
{
    constexpr int thread_count = 6;
    std::atomic<int> ready{0};
    std::atomic<bool> stop{false};
    std::atomic<int> found[thread_count] = {};
    std::vector<std::thread> threads;

    for (int i = 0; i < thread_count; i++) {
        threads.emplace_back([&, i] {
            sigset_t set;
            sigemptyset(&set);
            sigaddset(&set, SIGRTMIN);
            sigaddset(&set, SIGRTMIN + 1);
            pthread_sigmask(SIG_BLOCK, &set, nullptr);
            for (int k = 0; k <= i; k++) {
                pthread_kill(pthread_self(), SIGRTMIN + k % 2);
            }
            ready++;
            while (!stop) {
                std::this_thread::yield();
            }
            const timespec at_once{};
            while (sigtimedwait(&set, nullptr, &at_once) > 0) {
                found[i]++;
            }
        });
    }
    while (ready < thread_count) {
        std::this_thread::yield();
    }
    for (int round = 0; round < 300; round++) {
        freeze();
        ckpt_threads_thaw();
    }
    stop = true;
    for (int i = 0; i < thread_count; i++) {
        threads[i].join();
        EXPECT_EQ(found[i], i + 1) << "thread " << i;
    }
}

class Mutexes : public Threads, public testing::WithParamInterface<int>
{
};

/* The kernel would look for the owner by its thread id from before the restart. */
TEST_P(Mutexes, who_waits_for_one_with_priority_inheritance_is_named)
{
    const bool inherits = GetParam() == PTHREAD_PRIO_INHERIT;
    pthread_mutexattr_t attributes;
    pthread_mutex_t mutex;
    std::atomic<pid_t> tid{0};
    ckpt_failure failure{};

    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setprotocol(&attributes, GetParam());
    pthread_mutex_init(&mutex, &attributes);
    pthread_mutex_lock(&mutex);
    std::thread thread([&] {
        tid = gettid();
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    });
    std::string state;
    while (tid == 0 || state.find(") S ") == std::string::npos) {
        std::ifstream file("/proc/self/task/" + std::to_string(tid) + "/stat");
        std::getline(file, state);
    }
    freeze();
    EXPECT_EQ(ckpt_interrupted_check(&failure), inherits ? -ENOTSUP : 0);
    ckpt_threads_thaw();
    EXPECT_EQ(std::string(failure.text).find("thread " + std::to_string(tid)) == 0, inherits)
        << failure.text;
    pthread_mutex_unlock(&mutex);
    thread.join();
    freeze();
    EXPECT_EQ(ckpt_interrupted_check(&failure), 0);
    ckpt_threads_thaw();
    pthread_mutex_destroy(&mutex);
}

INSTANTIATE_TEST_SUITE_P(Protocols, Mutexes,
                         testing::Values(PTHREAD_PRIO_NONE, PTHREAD_PRIO_INHERIT));

TEST_F(Threads, describes_what_it_parked)
{
    std::atomic<bool> ready{false};
    std::atomic<bool> stop{false};
    std::uintptr_t pointer = 0;
    pid_t tid = 0;
    std::thread thread([&] {
        pthread_setname_np(pthread_self(), "described");
        pointer = ckpt_thread_pointer_get();
        tid = gettid();
        ready = true;
        while (!stop) {
            std::this_thread::yield();
        }
    });
    while (!ready) {
        std::this_thread::yield();
    }
    freeze();
    std::vector<ckpt_thread> threads = parked();
    ckpt_threads_thaw();
    stop = true;
    thread.join();

    ASSERT_EQ(threads.size(), 1u);
    EXPECT_EQ(threads[0].tid, tid);
    EXPECT_EQ(threads[0].thread_pointer, pointer);
    EXPECT_STREQ(threads[0].name, "described");
    EXPECT_NE(threads[0].clear_child_tid, 0u);
    EXPECT_NE(threads[0].robust_list, 0u);
    EXPECT_EQ(threads[0].robust_list_size, 24u);
    EXPECT_NE(threads[0].context, 0u);
}

TEST_F(Threads, a_signal_from_elsewhere_notifies)
{
    pid_t self = getpid();
    pid_t child = fork();
    if (child == 0) {
        kill(self, checkpoint_signal);
        _exit(0);
    }
    while (notified_upper == 0) {
        std::this_thread::yield();
    }
    ASSERT_EQ(waitpid(child, nullptr, 0), child);
    EXPECT_EQ(notified_upper, 1);
    EXPECT_EQ(notified_lower, 0);

    /* The process's own signal parks a thread only in a freeze. */
    errno = EDOM;
    raise(checkpoint_signal);
    EXPECT_EQ(errno, EDOM);
    EXPECT_EQ(notified_upper, 1);
}

std::atomic<pid_t> lender_tid;

int is_lender(int tid)
{
    return tid == lender_tid;
}

/*
 * A thread in the lower half: the thread pointer of another thread stands in for the lower half's.
 * The thread must not be parked there. It must get a notification, and park when it has left the
 * lower half.
 */
TEST_F(Threads, a_thread_in_the_lower_half_parks_when_it_is_out)
{
    std::atomic<bool> inside{false};
    std::atomic<bool> out{false};
    std::atomic<bool> stop{false};
    std::atomic<std::uintptr_t> borrowed{0};
    std::thread lender([&] {
        lender_tid = gettid();
        borrowed = ckpt_thread_pointer_get();
        while (!stop) {
            std::this_thread::yield();
        }
    });
    while (borrowed == 0) {
        std::this_thread::yield();
    }
    std::uintptr_t lower = borrowed;
    ASSERT_EQ(ckpt_threads_open(checkpoint_signal, notify, is_lender), 0);
    std::thread thread([&] {
        std::uintptr_t upper = ckpt_thread_pointer_get();
        ckpt_halves[0].upper = upper;
        ckpt_halves[0].lower = lower;
        ckpt_thread_pointer_set(lower);
        inside = true;
        while (notified_lower == 0) {
        }
        ckpt_thread_pointer_set(upper);
        ckpt_threads_park_here();
        out = true;
        while (!stop) {
            std::this_thread::yield();
        }
    });
    while (!inside) {
        std::this_thread::yield();
    }
    freeze();
    bool was_out = out;
    std::vector<ckpt_thread> threads = parked();
    ckpt_threads_thaw();
    EXPECT_EQ(notified_lower, 1);
    EXPECT_FALSE(was_out);
    ASSERT_EQ(threads.size(), 1u) << "the lower half's own must not park";
    EXPECT_NE(threads[0].thread_pointer, lower);
    stop = true;
    thread.join();
    lender.join();
    EXPECT_TRUE(out);
    ckpt_halves[0].lower = 0;
}

TEST_F(Threads, a_second_thaw_does_nothing)
{
    ckpt_threads_thaw();
    Busy busy;
    freeze();
    ckpt_threads_thaw();
    ckpt_threads_thaw();
    freeze();
    std::size_t count = parked().size();
    ckpt_threads_thaw();
    EXPECT_EQ(count, 1u);
}

TEST(Context, resume_returns_a_second_time)
{
    ckpt_context context;
    volatile int returns = 0;

    int again = ckpt_context_capture(&context);
    returns = returns + 1;
    EXPECT_EQ(again, returns - 1);
    if (again == 0) {
        ckpt_context_resume(&context);
    }
    EXPECT_EQ(returns, 2);
}

TEST(Context, resume_brings_rounding_modes_back)
{
    ckpt_context context;
    std::uint32_t mxcsr;
    std::uint16_t control;
    const std::uint32_t upward = 0x5f80;
    const std::uint16_t single = 0x007f;
    const std::uint32_t standard_mxcsr = 0x1f80;
    const std::uint16_t standard_control = 0x037f;

    __asm__ volatile("ldmxcsr %0; fldcw %1"
                     :
                     : "m"(upward), "m"(single));
    if (ckpt_context_capture(&context) == 0) {
        __asm__ volatile("ldmxcsr %0; fldcw %1"
                         :
                         : "m"(standard_mxcsr), "m"(standard_control));
        ckpt_context_resume(&context);
    }
    __asm__ volatile("stmxcsr %0; fnstcw %1"
                     : "=m"(mxcsr), "=m"(control));
    __asm__ volatile("ldmxcsr %0; fldcw %1"
                     :
                     : "m"(standard_mxcsr), "m"(standard_control));
    EXPECT_EQ(mxcsr & ~0x3fu, upward);
    EXPECT_EQ(control, single);
}

} // namespace
