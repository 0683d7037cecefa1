/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_interpose.cpp - results of signal and thread calls for the application.
 *
 * The interposers are linked into this program and so replace libc's functions. Threads are really
 * ended and recreated, as by a restart; then libc remembers ids that the kernel has forgotten.
 */
extern "C" {
#include "sys/thread_pointer.h"
#include "task/signals.h"
#include "task/threads.h"
}

#include "tests/thread_reaper.hpp"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <functional>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>
#include <string>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

namespace
{

void in_child(std::function<void()> body, std::function<void()> meanwhile)
{
    pid_t child = fork();
    if (child == 0) {
        alarm(60);
        body();
        _exit(testing::Test::HasFailure() ? 1 : 0);
    }
    meanwhile();
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0)
        << "status " << status;
}

void ignore_notice(int)
{
}

void open_all()
{
    int signal = ckpt_signals_number(nullptr);
    ckpt_thread_pointer_open();
    ASSERT_EQ(ckpt_threads_open(signal, ignore_notice, nullptr), 0);
    ASSERT_EQ(ckpt_signals_open(signal), 0);
}

std::atomic<int> handled_by;

void handler(int)
{
    handled_by = gettid();
}

bool blocks(int signal)
{
    sigset_t set;
    pthread_sigmask(SIG_BLOCK, nullptr, &set);
    return sigismember(&set, signal) == 1;
}

TEST(Interpose, masks_leave_the_checkpoint_signal_open)
{
    in_child(
        [] {
            int signal = ckpt_signals_number(nullptr);
            sigset_t all;
            sigset_t none;
            sigfillset(&all);
            sigemptyset(&none);
            EXPECT_EQ(sigismember(&all, signal), 1);
            for (auto call : {sigprocmask, pthread_sigmask}) {
                call(SIG_SETMASK, &all, nullptr); /* before MPI_Init, too */
                EXPECT_FALSE(blocks(signal));
                EXPECT_TRUE(blocks(SIGUSR1));
                call(SIG_SETMASK, &none, nullptr);
                EXPECT_FALSE(blocks(SIGUSR1));
            }
            sighold(signal);
            EXPECT_FALSE(blocks(signal));
        },
        [] {});
}

/* Returns the kernel's own answer; the kernel ends the program if a frame does not fit. */
stack_t known_stack()
{
    stack_t stack{};
    EXPECT_EQ(syscall(SYS_sigaltstack, nullptr, &stack), 0);
    return stack;
}

TEST(Interpose, no_frame_is_put_on_a_stack_that_is_too_small_for_it)
{
    in_child(
        [] {
            alignas(16) static char small[2048], large[65536];
            const stack_t none{nullptr, SS_DISABLE, 0};
            const stack_t too_small{small, 0, sizeof(small)};
            const stack_t enough{large, 0, sizeof(large)};
            stack_t old;

            open_all();
            ASSERT_EQ(sigaltstack(&too_small, &old), 0);
            EXPECT_EQ(old.ss_flags, SS_DISABLE);
            EXPECT_EQ(known_stack().ss_flags, SS_DISABLE);
            ckpt_threads_notify_again(); /* otherwise the program would end here */
            ASSERT_EQ(sigaltstack(nullptr, &old), 0);
            EXPECT_EQ(old.ss_sp, small);
            EXPECT_EQ(old.ss_size, sizeof(small));
            ASSERT_EQ(sigaltstack(&enough, &old), 0);
            EXPECT_EQ(old.ss_sp, small);
            EXPECT_EQ(known_stack().ss_sp, large);
            ckpt_threads_notify_again();
            ASSERT_EQ(sigaltstack(&too_small, &old), 0);
            EXPECT_EQ(old.ss_sp, large);
            ASSERT_EQ(sigaltstack(&none, &old), 0);
            EXPECT_EQ(old.ss_sp, small);
            ASSERT_EQ(sigaltstack(nullptr, &old), 0);
            EXPECT_EQ(old.ss_flags, SS_DISABLE);
            const stack_t refused{small, 0, 1000};
            EXPECT_EQ(sigaltstack(&refused, nullptr), -1);
            EXPECT_EQ(errno, ENOMEM);
        },
        [] {});
}

sigset_t every_signal()
{
    sigset_t all;
    sigfillset(&all);
    return all;
}

TEST(Interpose, raw_masks_leave_the_checkpoint_signal_open)
{
    in_child(
        [] {
            const int signal = ckpt_signals_number(nullptr);
            const std::uint64_t all = ~0ull;
            const std::uint64_t none = 0;
            std::uint64_t old = 0;
            ASSERT_EQ(syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, nullptr, 8), 0);
            EXPECT_FALSE(blocks(signal));
            EXPECT_TRUE(blocks(SIGUSR1));
            ASSERT_EQ(syscall(SYS_rt_sigprocmask, SIG_SETMASK, &none, &old, 8), 0);
            EXPECT_NE(old & 1ull << (SIGUSR1 - 1), 0u);
            EXPECT_FALSE(blocks(SIGUSR1));
            /* Programs probe in this way whether memory can be read. */
            EXPECT_EQ(syscall(SYS_rt_sigprocmask, -1, &all, nullptr, 8), -1);
            EXPECT_EQ(errno, EINVAL);
            EXPECT_EQ(syscall(SYS_rt_sigprocmask, -1, 8, nullptr, 8), -1);
            EXPECT_EQ(errno, EFAULT);
            EXPECT_EQ(syscall(SYS_rt_sigprocmask, SIG_SETMASK, 8, nullptr, 8), -1);
            EXPECT_EQ(errno, EFAULT);
            EXPECT_EQ(syscall(SYS_getpid), getpid()); /* other calls work as before */
        },
        [] {});
}

TEST(Interpose, raw_waits_do_not_take_the_checkpoint_signal)
{
    in_child(
        [] {
            open_all();
            const int signal = ckpt_signals_number(nullptr);
            const std::uint64_t ours = 1ull << (signal - 1);
            const timespec at_once{};
            EXPECT_EQ(syscall(SYS_rt_sigtimedwait, &ours, nullptr, &at_once, 8), -1);
            EXPECT_EQ(errno, EAGAIN);
            int fd = static_cast<int>(syscall(SYS_signalfd4, -1, &ours, 8, SFD_NONBLOCK));
            ASSERT_GE(fd, 0);
            char path[64], text[512] = "";
            snprintf(path, sizeof path, "/proc/self/fdinfo/%d", fd);
            FILE *info = fopen(path, "r");
            ASSERT_NE(info, nullptr);
            (void)!fread(text, 1, sizeof text - 1, info);
            fclose(info);
            EXPECT_NE(strstr(text, "sigmask:\t0000000000000000"), nullptr) << text;
        },
        [] {});
}

/* The kernel's struct sigaction, as programs make it for syscall(). */
struct RawAction {
    void *handler;
    unsigned long flags;
    void *restorer;
    std::uint64_t mask;
};

TEST(Interpose, a_raw_action_does_not_take_the_checkpoint_signal)
{
    in_child(
        [] {
            open_all();
            const int signal = ckpt_signals_number(nullptr);
            RawAction action{reinterpret_cast<void *>(handler), 0, nullptr, 0};
            RawAction old{};
            struct sigaction seen;
            for (int number : {signal, SIGUSR1}) {
                ASSERT_EQ(syscall(SYS_rt_sigaction, number, &action, nullptr, 8), 0);
                ASSERT_EQ(syscall(SYS_rt_sigaction, number, nullptr, &old, 8), 0);
                EXPECT_EQ(old.handler, action.handler);
                sigaction(number, nullptr, &seen);
                EXPECT_EQ(seen.sa_handler, handler);
            }
            handled_by = 0;
            raise(SIGUSR1);
            EXPECT_EQ(handled_by, gettid());
            handled_by = 0;
            raise(signal);
            EXPECT_EQ(handled_by, 0);
            EXPECT_EQ(syscall(SYS_rt_sigaction, SIGUSR1, 8, nullptr, 8), -1);
            EXPECT_EQ(errno, EFAULT);
            EXPECT_EQ(syscall(SYS_rt_sigaction, SIGUSR1, nullptr, 8, 8), -1);
            EXPECT_EQ(errno, EFAULT);
            EXPECT_EQ(syscall(SYS_rt_sigaction, SIGUSR1, &action, nullptr, 4), -1);
            EXPECT_EQ(errno, EINVAL);
        },
        [] {});
}

ucontext_t main_context, other_context;
int visits;

void other_side()
{
    for (;;) {
        EXPECT_FALSE(blocks(ckpt_signals_number(nullptr)));
        EXPECT_TRUE(blocks(SIGUSR1));
        visits++;
        swapcontext(&other_context, &main_context);
    }
}

TEST(Interpose, contexts_leave_the_checkpoint_signal_open)
{
    in_child(
        [] {
            static char stack[64 * 1024];
            getcontext(&other_context);
            other_context.uc_stack.ss_sp = stack;
            other_context.uc_stack.ss_size = sizeof stack;
            other_context.uc_link = nullptr;
            other_context.uc_sigmask = every_signal();
            makecontext(&other_context, other_side, 0);
            for (int i = 1; i <= 3; i++) {
                ASSERT_EQ(swapcontext(&main_context, &other_context), 0);
                EXPECT_EQ(visits, i);
                EXPECT_FALSE(blocks(SIGUSR1));
            }
            /* A saved context can be restored more than once. */
            static std::atomic<int> comes;
            static ucontext_t here;
            getcontext(&here);
            here.uc_sigmask = every_signal();
            if (comes++ < 3) {
                setcontext(&here);
            }
            EXPECT_EQ(comes, 4);
            EXPECT_FALSE(blocks(ckpt_signals_number(nullptr)));
            EXPECT_TRUE(blocks(SIGUSR1));
        },
        [] {});
}

TEST(Interpose, a_thread_cannot_begin_with_the_checkpoint_signal_blocked)
{
    in_child(
        [] {
            pthread_attr_t attributes;
            const sigset_t all = every_signal();
            pthread_attr_init(&attributes);
            ASSERT_EQ(pthread_attr_setsigmask_np(&attributes, &all), 0);
            pthread_t thread;
            auto body = [](void *) -> void * {
                EXPECT_FALSE(blocks(ckpt_signals_number(nullptr)));
                EXPECT_TRUE(blocks(SIGUSR1));
                return nullptr;
            };
            ASSERT_EQ(pthread_create(&thread, &attributes, body, nullptr), 0);
            pthread_join(thread, nullptr);
            pthread_attr_destroy(&attributes);
        },
        [] {});
}

void change_mask(int, siginfo_t *, void *context)
{
    static_cast<ucontext_t *>(context)->uc_sigmask = every_signal();
}

TEST(Interpose, a_handler_cannot_leave_the_checkpoint_signal_blocked)
{
    in_child(
        [] {
            open_all();
            struct sigaction action = {};
            action.sa_sigaction = change_mask;
            action.sa_flags = SA_SIGINFO;
            ASSERT_EQ(sigaction(SIGUSR2, &action, nullptr), 0);
            raise(SIGUSR2);
            EXPECT_TRUE(blocks(SIGUSR1));
            EXPECT_FALSE(blocks(ckpt_signals_number(nullptr)));
        },
        [] {});
}

TEST(Interpose, old_and_new_calls_agree_on_the_handler)
{
    in_child(
        [] {
            struct sigaction action;
            EXPECT_EQ(signal(SIGWINCH, handler), SIG_DFL);
            open_all();
            sigaction(SIGWINCH, nullptr, &action);
            EXPECT_EQ(action.sa_handler, handler);

            EXPECT_EQ(signal(SIGUSR1, handler), SIG_DFL);
            EXPECT_EQ(signal(SIGUSR1, handler), handler);
            sigaction(SIGUSR1, nullptr, &action);
            EXPECT_EQ(action.sa_handler, handler);
            EXPECT_EQ(action.sa_flags, SA_RESTART);
            siginterrupt(SIGUSR1, 1);
            sigaction(SIGUSR1, nullptr, &action);
            EXPECT_EQ(action.sa_flags, 0);

            EXPECT_EQ(sysv_signal(SIGUSR2, handler), SIG_DFL);
            raise(SIGUSR2);
            EXPECT_EQ(handled_by, gettid());
            EXPECT_EQ(signal(SIGUSR2, SIG_IGN), SIG_DFL);

            EXPECT_EQ(sigset(SIGTERM, SIG_HOLD), SIG_DFL);
            EXPECT_TRUE(blocks(SIGTERM));
            EXPECT_EQ(sigset(SIGTERM, handler), SIG_HOLD);
            EXPECT_FALSE(blocks(SIGTERM));
            EXPECT_EQ(sigset(SIGTERM, SIG_IGN), handler);

            EXPECT_EQ(signal(SIGKILL, handler), SIG_ERR);
            EXPECT_EQ(errno, EINVAL);
        },
        [] {});
}

struct Pipes {
    int request[2];
    int answer[2];

    Pipes()
    {
        EXPECT_EQ(pipe(request), 0);
        EXPECT_EQ(pipe(answer), 0);
    }
};

/* In the child: one thread dies and is recreated. */
void die_and_come_back(Pipes &pipes)
{
    ckpt_failure failure{};
    const ckpt_thread *threads;
    char done = 'n';

    ASSERT_EQ(ckpt_threads_freeze(10000, &failure), 0) << failure.text;
    ckpt_threads_record_leader();
    bool one = ckpt_threads_list(&threads) == 1;
    bool ended = one &&
                 write(pipes.request[1], &threads->tid, sizeof(pid_t)) ==
                     sizeof(pid_t) &&
                 read(pipes.answer[0], &done, 1) == 1 && done == 'y';
    while (ended &&
           syscall(SYS_tgkill, getpid(), threads->tid, 0) == 0) {
    }
    int status = ended ? ckpt_threads_recreate(&failure) : -1;
    ckpt_threads_thaw();
    ASSERT_TRUE(one);
    ASSERT_TRUE(ended);
    ASSERT_EQ(status, 0) << failure.text;
}

/* In the parent: ends that thread. */
void reap_one(Pipes &pipes)
{
    pid_t tid;
    close(pipes.request[1]);
    if (read(pipes.request[0], &tid, sizeof(tid)) == sizeof(tid)) {
        std::string error = reap_threads({tid});
        EXPECT_EQ(error, "");
        EXPECT_EQ(write(pipes.answer[1], error.empty() ? "y" : "n", 1), 1);
    }
}

std::atomic<int> kernel_tid;
std::atomic<int> shown_tid; /* by syscall(); gettid() is libc's here */
std::atomic<int> stop_reading;

void *publish_tid_until_stopped(void *)
{
    while (!stop_reading) {
        shown_tid = static_cast<int>(syscall(SYS_gettid));
        kernel_tid = gettid();
        sched_yield();
    }
    return &stop_reading;
}

void expect_signals_arrive(pthread_t thread)
{
    signal(SIGUSR1, handler);
    handled_by = 0;
    ASSERT_EQ(pthread_kill(thread, SIGUSR1), 0);
    while (handled_by == 0) {
        sched_yield();
    }
    EXPECT_EQ(handled_by, kernel_tid);
    handled_by = 0;
    ASSERT_EQ(pthread_sigqueue(thread, SIGUSR1, sigval{}), 0);
    while (handled_by == 0) {
        sched_yield();
    }
    EXPECT_EQ(handled_by, kernel_tid);
    EXPECT_EQ(pthread_kill(thread, 0), 0);
    EXPECT_EQ(pthread_kill(thread, 32), EINVAL);
}

void expect_properties_work(pthread_t thread)
{
    char name[16] = "";
    EXPECT_EQ(pthread_setname_np(thread, "born again"), 0);
    EXPECT_EQ(pthread_getname_np(thread, name, sizeof(name)), 0);
    EXPECT_STREQ(name, "born again");
    EXPECT_EQ(pthread_setname_np(thread, "sixteen letters!"), ERANGE);

    cpu_set_t mine;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(0, &set);
    EXPECT_EQ(pthread_setaffinity_np(thread, sizeof(set), &set), 0);
    EXPECT_EQ(pthread_getaffinity_np(thread, sizeof(mine), &mine), 0);
    EXPECT_TRUE(CPU_EQUAL(&mine, &set));
    EXPECT_EQ(sched_getaffinity(kernel_tid, sizeof(mine), &mine), 0);
    EXPECT_TRUE(CPU_EQUAL(&mine, &set));

    int policy = -1;
    sched_param parameter{};
    EXPECT_EQ(pthread_getschedparam(thread, &policy, &parameter), 0);
    EXPECT_EQ(policy, SCHED_OTHER);
    EXPECT_EQ(pthread_setschedparam(thread, SCHED_BATCH, &parameter), 0);
    EXPECT_EQ(sched_getscheduler(kernel_tid), SCHED_BATCH);
    EXPECT_EQ(pthread_setschedprio(thread, 0), 0);

    clockid_t clock;
    timespec time{};
    EXPECT_EQ(pthread_getcpuclockid(thread, &clock), 0);
    EXPECT_EQ(clock_gettime(clock, &time), 0);
    EXPECT_GT(time.tv_sec * 1000000000 + time.tv_nsec, 0);

    pthread_attr_t attributes;
    ASSERT_EQ(pthread_getattr_np(thread, &attributes), 0);
    pthread_attr_destroy(&attributes);
}

void come_back_and_work(Pipes &pipes)
{
    pthread_t thread;
    void *result = nullptr;

    open_all();
    ASSERT_EQ(pthread_create(&thread, nullptr, publish_tid_until_stopped,
                             nullptr),
              0);
    while (kernel_tid == 0) {
        sched_yield();
    }
    int first = kernel_tid;
    die_and_come_back(pipes);
    while (kernel_tid == first) {
        sched_yield();
    }
    EXPECT_EQ(ckpt_threads_kernel_tid(thread, nullptr), kernel_tid);
    expect_signals_arrive(thread);
    expect_properties_work(thread);
    EXPECT_EQ(shown_tid, first);
    handled_by = 0;
    EXPECT_EQ(syscall(SYS_tgkill, getpid(), first, SIGUSR1), 0);
    while (handled_by == 0) {
        sched_yield();
    }
    EXPECT_EQ(handled_by, kernel_tid);
    cpu_set_t allowed;
    EXPECT_GT(syscall(SYS_sched_getaffinity, first, sizeof allowed, &allowed), 0);
    stop_reading = 1;
    EXPECT_EQ(pthread_join(thread, &result), 0);
    EXPECT_EQ(result, &stop_reading);
}

TEST(Interpose, calls_reach_a_thread_that_was_made_again)
{
    Pipes pipes;
    in_child([&] { come_back_and_work(pipes); }, [&] { reap_one(pipes); });
}

int blocked_pipe[2];

void *read_for_ever(void *)
{
    char byte;
    kernel_tid = gettid();
    return read(blocked_pipe[0], &byte, 1) == 1 ? &blocked_pipe : nullptr;
}

void come_back_and_be_cancelled(Pipes &pipes)
{
    pthread_t thread;
    void *result = nullptr;

    open_all();
    ASSERT_EQ(pipe(blocked_pipe), 0);
    ASSERT_EQ(pthread_create(&thread, nullptr, read_for_ever, nullptr), 0);
    while (kernel_tid == 0) {
        sched_yield();
    }
    die_and_come_back(pipes);
    std::int32_t *word = nullptr;
    ASSERT_NE(ckpt_threads_kernel_tid(thread, &word), 0);
    std::int32_t remembered = *word;
    EXPECT_EQ(remembered, kernel_tid);
    EXPECT_EQ(pthread_cancel(thread), 0);
    EXPECT_EQ(pthread_join(thread, &result), 0);
    EXPECT_EQ(result, PTHREAD_CANCELED);
}

TEST(Interpose, a_thread_that_was_made_again_can_be_cancelled)
{
    Pipes pipes;
    in_child([&] { come_back_and_be_cancelled(pipes); },
             [&] { reap_one(pipes); });
}

} // namespace
