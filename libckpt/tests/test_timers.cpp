/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_timers.cpp - timers of a process, recreated in a process without any.
 */
extern "C" {
#include "base/arena.h"
#include "task/timers.h"
}

#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <functional>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace
{

constexpr int restore_ids = 77; /* PR_TIMER_CREATE_RESTORE_IDS */

int create(clockid_t clock)
{
    sigevent event{};
    int id = -1;

    event.sigev_notify = SIGEV_NONE;
    EXPECT_EQ(syscall(SYS_timer_create, clock, &event, &id), 0);
    return id;
}

void arm(int id, time_t seconds)
{
    const itimerspec time = {{5, 0}, {seconds, 0}};

    ASSERT_EQ(syscall(SYS_timer_settime, id, 0, &time, nullptr), 0);
}

itimerspec left_of(int id)
{
    itimerspec time{};

    return syscall(SYS_timer_gettime, id, &time) == 0 ? time : itimerspec{};
}

/* Imitates kernels before 6.15. */
void forbid_choice_of_ids()
{
    sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prctl, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[0])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, restore_ids, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    sock_fprog program = {std::size(code), code};

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
        _exit(4);
    }
}

/* Restores in a child, which inherits no timer. */
int in_child(const std::function<void()> &before,
             const std::function<bool()> &holds)
{
    ckpt_failure failure{};
    int status = -1;
    const pid_t child = fork();

    if (child == 0) {
        before();
        if (ckpt_timers_restore(&failure) != 0) {
            dprintf(2, "%s\n", failure.text);
            _exit(2);
        }
        _exit(holds() ? 0 : 1);
    }
    waitpid(child, &status, 0);
    return status;
}

TEST(Timers, KeepIdsTimesAndIntervals)
{
    ckpt_arena arena{};
    ckpt_failure failure{};
    std::vector<int> ids;

    ASSERT_EQ(ckpt_arena_open(&arena), 0);
    for (int i = 0; i < 300; i++) {
        ids.push_back(create(i % 3 == 0 ? CLOCK_REALTIME : CLOCK_MONOTONIC));
        arm(ids.back(), 1000 + i);
    }
    for (int i = 0; i < 300; i += 7) {
        ASSERT_EQ(syscall(SYS_timer_delete, ids[i]), 0);
    }
    ASSERT_EQ(ckpt_timers_save(&arena, &failure), 0) << failure.text;
    const auto holds = [&] {
        for (int i = 0; i < 300; i++) {
            const itimerspec time = left_of(ids[i]);
            const time_t seconds = i % 7 == 0 ? 0 : 1000 + i;

            if (time.it_value.tv_sec > seconds ||
                time.it_value.tv_sec < seconds - 60 ||
                time.it_interval.tv_sec != (i % 7 == 0 ? 0 : 5)) {
                return false;
            }
        }
        return true;
    };
    EXPECT_EQ(in_child([] {}, holds), 0);
    EXPECT_EQ(in_child(forbid_choice_of_ids, holds), 0);
    for (int id : ids) {
        syscall(SYS_timer_delete, id);
    }
    ckpt_arena_close(&arena);
}

/* Now and then a timer is just due when it is read: then it has no time left. */
TEST(Timers, IntervalsOfProcessorTimeGoOn)
{
    static volatile sig_atomic_t ticks[2];
    const std::pair<int, int> kinds[] = {{ITIMER_VIRTUAL, SIGVTALRM},
                                         {ITIMER_PROF, SIGPROF}};
    const itimerval off{}, fast{{0, 1000}, {0, 1000}};
    ckpt_arena arena{};
    ckpt_failure failure{};

    ASSERT_EQ(ckpt_arena_open(&arena), 0);
    for (auto [kind, signal] : kinds) {
        ::signal(signal, [](int which) {
            ticks[which == SIGPROF] = ticks[which == SIGPROF] + 1;
        });
        ASSERT_EQ(setitimer(static_cast<__itimer_which>(kind), &fast, nullptr), 0);
    }
    for (int round = 0; round < 300; round++) {
        ckpt_arena_reset(&arena);
        ASSERT_EQ(ckpt_timers_save(&arena, &failure), 0) << failure.text;
        for (auto [kind, signal] : kinds) {
            setitimer(static_cast<__itimer_which>(kind), &off, nullptr);
        }
        ASSERT_EQ(ckpt_timers_restore(&failure), 0) << failure.text;
        for (int i = 0; i < 2; i++) {
            const int before = ticks[i];
            const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
            while (ticks[i] == before) {
                ASSERT_LT(std::chrono::steady_clock::now(), end)
                    << "timer " << i << " in round " << round;
            }
        }
    }
    for (auto [kind, signal] : kinds) {
        setitimer(static_cast<__itimer_which>(kind), &off, nullptr);
        ::signal(signal, SIG_DFL);
    }
    ckpt_arena_close(&arena);
}

/* A timer that is switched off may still have an interval. */
TEST(Timers, IntervalsThatAreOffStayOff)
{
    const itimerval off{{0, 1000}, {0, 0}};
    itimerval now{};
    ckpt_arena arena{};
    ckpt_failure failure{};

    ASSERT_EQ(ckpt_arena_open(&arena), 0);
    ASSERT_EQ(setitimer(ITIMER_PROF, &off, nullptr), 0);
    ASSERT_EQ(ckpt_timers_save(&arena, &failure), 0) << failure.text;
    ASSERT_EQ(ckpt_timers_restore(&failure), 0) << failure.text;
    ASSERT_EQ(getitimer(ITIMER_PROF, &now), 0);
    EXPECT_EQ(now.it_value.tv_usec, 0);
    EXPECT_EQ(now.it_interval.tv_usec, 1000);
    const itimerval none{};
    setitimer(ITIMER_PROF, &none, nullptr);
    ckpt_arena_close(&arena);
}

TEST(Timers, OnesOfProcessorTimeOfThreadsThatEndedAreRefused)
{
    ckpt_arena arena{};
    ckpt_failure failure{};
    clockid_t clock{};
    pthread_t thread{};
    const auto idle = [](void *) -> void * {
        pause();
        return nullptr;
    };

    ASSERT_EQ(ckpt_arena_open(&arena), 0);
    ASSERT_EQ(pthread_create(&thread, nullptr, idle, nullptr), 0);
    ASSERT_EQ(pthread_getcpuclockid(thread, &clock), 0);
    const int id = create(clock);

    EXPECT_EQ(ckpt_timers_save(&arena, &failure), 0) << failure.text;
    pthread_cancel(thread);
    pthread_join(thread, nullptr);
    EXPECT_EQ(ckpt_timers_save(&arena, &failure), -ENOTSUP);
    EXPECT_NE(std::strstr(failure.text, "timer"), nullptr) << failure.text;
    syscall(SYS_timer_delete, id);
    ckpt_arena_close(&arena);
}

} // namespace
