/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_waits.cpp - calls with a time-out that are interrupted again and again: they last as long as
 * requested, and never fail with EINTR.
 */
extern "C" {
#include "task/threads.h"
}

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <functional>
#include <gtest/gtest.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <string>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

namespace
{

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr int checkpoint_signal = 63;
constexpr auto asked = 400ms;
constexpr timespec time_asked{0, 400000000};
/* If each of twenty interruptions restarted the time-out, the wait would take 20 times as long. */
constexpr auto between = 20ms;
constexpr auto longest = 6s;

void ignore(int)
{
}

/* Interrupts `wait` until it returns; expects the requested duration. */
void check(const char *name, const std::function<bool()> &wait)
{
    std::atomic<bool> is_done{false};
    bool is_right = false;
    Clock::duration took{};

    SCOPED_TRACE(name);
    std::thread thread([&] {
        const auto start = Clock::now();
        is_right = wait();
        took = Clock::now() - start;
        is_done = true;
    });
    while (!is_done) {
        ckpt_failure failure{};
        std::this_thread::sleep_for(between);
        EXPECT_EQ(ckpt_threads_freeze(60000, &failure), 0) << failure.text;
        ckpt_threads_thaw();
    }
    thread.join();
    EXPECT_TRUE(is_right);
    EXPECT_GE(took, asked);
    EXPECT_LT(took, longest);
}

class Waits : public testing::Test
{
  protected:
    static void SetUpTestSuite()
    {
        ASSERT_EQ(ckpt_threads_open(
                      checkpoint_signal, [](int) {}, nullptr),
                  0);
    }
};

timespec in_future(clockid_t clock)
{
    timespec time{};

    clock_gettime(clock, &time);
    time.tv_nsec += time_asked.tv_nsec;
    time.tv_sec += time.tv_nsec / 1000000000;
    time.tv_nsec %= 1000000000;
    return time;
}

TEST_F(Waits, Sleeps)
{
    check("nanosleep", [] { return nanosleep(&time_asked, nullptr) == 0; });
    check("nanosleep with rest", [] {
        timespec rest{};
        return nanosleep(&time_asked, &rest) == 0;
    });
    check("usleep", [] { return usleep(400000) == 0; });
    check("clock_nanosleep", [] {
        return clock_nanosleep(CLOCK_MONOTONIC, 0, &time_asked, nullptr) == 0;
    });
    check("clock_nanosleep until", [] {
        const timespec end = in_future(CLOCK_MONOTONIC);
        return clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, nullptr) ==
               0;
    });
    check("sleep_for", [] {
        std::this_thread::sleep_for(asked);
        return true;
    });
}

TEST_F(Waits, ForDescriptors)
{
    const int epoll = epoll_create1(0);
    epoll_event event{};
    sigset_t none;

    sigemptyset(&none);
    check("poll", [] { return poll(nullptr, 0, 400) == 0; });
    check("ppoll",
          [&] { return ppoll(nullptr, 0, &time_asked, &none) == 0; });
    check("select", [] {
        timeval time{0, 400000};
        return select(0, nullptr, nullptr, nullptr, &time) == 0;
    });
    check("pselect", [&] {
        return pselect(0, nullptr, nullptr, nullptr, &time_asked, &none) == 0;
    });
    check("epoll_wait", [&] { return epoll_wait(epoll, &event, 1, 400) == 0; });
    check("epoll_pwait",
          [&] { return epoll_pwait(epoll, &event, 1, 400, &none) == 0; });
    close(epoll);
}

TEST_F(Waits, ForOthers)
{
    check("sem_timedwait", [] {
        const timespec end = in_future(CLOCK_REALTIME);
        sem_t semaphore;
        sem_init(&semaphore, 0, 0);
        return sem_timedwait(&semaphore, &end) < 0 && errno == ETIMEDOUT;
    });
    check("semtimedop", [] {
        const int set = semget(IPC_PRIVATE, 1, 0600);
        sembuf take{0, -1, 0};
        const int result = semtimedop(set, &take, 1, &time_asked);
        const int error = errno;
        semctl(set, 0, IPC_RMID);
        return result < 0 && error == EAGAIN;
    });
    check("sigtimedwait", [] {
        sigset_t set;
        sigemptyset(&set);
        sigaddset(&set, SIGUSR1);
        pthread_sigmask(SIG_BLOCK, &set, nullptr);
        return sigtimedwait(&set, nullptr, &time_asked) < 0 && errno == EAGAIN;
    });
    check("futex", [] {
        int word = 7;
        return syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 7, &time_asked,
                       nullptr, 0) < 0 &&
               errno == ETIMEDOUT;
    });
}

TEST_F(Waits, UntilATimeOfAMonotonicClock)
{
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
    pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

    pthread_mutex_lock(&mutex);
    pthread_rwlock_wrlock(&lock);
    check("sem_clockwait", [] {
        const timespec end = in_future(CLOCK_MONOTONIC);
        sem_t semaphore;
        sem_init(&semaphore, 0, 0);
        return sem_clockwait(&semaphore, CLOCK_MONOTONIC, &end) < 0 &&
               errno == ETIMEDOUT;
    });
    check("pthread_mutex_clocklock", [&] {
        const timespec end = in_future(CLOCK_MONOTONIC);
        return pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &end) == ETIMEDOUT;
    });
    check("pthread_rwlock_clockrdlock", [&] {
        const timespec end = in_future(CLOCK_MONOTONIC);
        return pthread_rwlock_clockrdlock(&lock, CLOCK_MONOTONIC, &end) ==
               ETIMEDOUT;
    });
    check("pthread_cond_clockwait", [&] {
        const timespec end = in_future(CLOCK_MONOTONIC);
        pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
        int error = 0;

        pthread_mutex_lock(&own);
        while (error == 0) { /* POSIX allows spurious wake-ups */
            error =
                pthread_cond_clockwait(&condition, &own, CLOCK_MONOTONIC, &end);
        }
        return error == ETIMEDOUT;
    });
    check("futex", [] {
        const timespec end = in_future(CLOCK_MONOTONIC);
        int word = 7;

        return syscall(SYS_futex, &word, FUTEX_WAIT_BITSET_PRIVATE, 7, &end,
                       nullptr, FUTEX_BITSET_MATCH_ANY) < 0 &&
               errno == ETIMEDOUT;
    });
}

/* interpose/clock_wait.c reads this bit of glibc's structure. */
TEST(ConditionVariable, TellsItsClock)
{
    for (const clockid_t clock : {CLOCK_REALTIME, CLOCK_MONOTONIC}) {
        pthread_condattr_t attributes;
        pthread_cond_t condition;

        pthread_condattr_init(&attributes);
        ASSERT_EQ(pthread_condattr_setclock(&attributes, clock), 0);
        ASSERT_EQ(pthread_cond_init(&condition, &attributes), 0);
        EXPECT_EQ((condition.__data.__wrefs & 2u) != 0, clock == CLOCK_MONOTONIC);
    }
}

TEST_F(Waits, SocketWithATimeOutGoesOn)
{
    const timeval time{0, 400000};
    int ends[2];
    std::atomic<bool> is_done{false};
    ssize_t got = 0;
    char byte = 0;

    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    ASSERT_EQ(setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time),
              0);
    std::thread thread([&] {
        got = recv(ends[0], &byte, 1, 0);
        is_done = true;
    });
    for (int round = 0; round < 30; round++) { /* each round restarts, so it lasts */
        ckpt_failure failure{};
        std::this_thread::sleep_for(between);
        EXPECT_EQ(ckpt_threads_freeze(60000, &failure), 0) << failure.text;
        ckpt_threads_thaw();
    }
    EXPECT_FALSE(is_done);
    EXPECT_EQ(write(ends[1], "!", 1), 1);
    thread.join();
    EXPECT_EQ(got, 1);
    EXPECT_EQ(byte, '!');
    close(ends[0]);
    close(ends[1]);
}

TEST_F(Waits, ASignalThatCameMeanwhileEndsThem)
{
    std::atomic<pid_t> tid{0};
    std::string path;
    timespec rest{};
    int error = 0;

    signal(SIGUSR2, ignore);
    std::thread thread([&] {
        const timespec hour{3600, 0};
        tid = gettid();
        error = nanosleep(&hour, &rest) == 0 ? 0 : errno;
    });
    long number = -1;
    while (number != SYS_nanosleep && number != SYS_clock_nanosleep) {
        FILE *file = std::fopen(("/proc/self/task/" + std::to_string(tid) +
                                 "/syscall")
                                    .c_str(),
                                "r");
        if (file != nullptr) {
            if (std::fscanf(file, "%ld", &number) != 1) {
                number = -1;
            }
            std::fclose(file);
        }
        std::this_thread::yield();
    }
    ckpt_failure failure{};
    ASSERT_EQ(ckpt_threads_freeze(60000, &failure), 0) << failure.text;
    pthread_kill(thread.native_handle(), SIGUSR2);
    ckpt_threads_thaw();
    thread.join();
    EXPECT_EQ(error, EINTR);
    EXPECT_GT(rest.tv_sec, 3000);
}

} // namespace
