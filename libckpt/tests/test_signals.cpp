/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_signals.cpp - handlers in two halves, results of signal calls, masks.
 *
 * Each test runs in a child process, because its signal settings persist.
 */
extern "C" {
#include "sys/syscall.h"
#include "sys/thread_pointer.h"
#include "task/signals.h"
#include "task/threads.h"
}

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <poll.h>
#include <pthread.h>
#include <string>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace
{

constexpr int checkpoint_signal = 63;

void in_child(std::function<void()> body)
{
    pid_t child = fork();
    if (child == 0) {
        alarm(30);
        ckpt_thread_pointer_open();
        body();
        _exit(testing::Test::HasFailure() ? 1 : 0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0)
        << "status " << status;
}

volatile int calls;
volatile int last_signal;
volatile std::uintptr_t seen_pointer;
volatile pid_t seen_sender;

void plain_handler(int signal)
{
    calls = calls + 1;
    last_signal = signal;
    seen_pointer = ckpt_thread_pointer_get();
}

void info_handler(int signal, siginfo_t *info, void *context)
{
    plain_handler(signal);
    seen_sender = context != nullptr ? info->si_pid : 0;
}

struct sigaction action_of(void (*handler)(int), int flags)
{
    struct sigaction action {
    };
    action.sa_handler = handler;
    action.sa_flags = flags;
    return action;
}

struct sigaction asked(int signal)
{
    struct sigaction action {
    };
    EXPECT_EQ(ckpt_signals_action(signal, nullptr, &action), 0);
    return action;
}

/* A parked thread whose thread pointer stands in for the lower half's. */
class Lender
{
  public:
    Lender()
    {
        thread = std::thread([this] {
            pointer = ckpt_thread_pointer_get();
            while (!stop) {
                std::this_thread::yield();
            }
        });
        while (pointer == 0) {
            std::this_thread::yield();
        }
    }

    ~Lender()
    {
        stop = true;
        thread.join();
    }

    std::atomic<std::uintptr_t> pointer{0};

  private:
    std::atomic<bool> stop{false};
    std::thread thread;
};

/* Sends the signal to this thread while it is "in the lower half"; returns the thread pointer after
 * the handler. */
__attribute__((noinline)) std::uintptr_t hit_in_lower(std::uintptr_t lower,
                                                      int signal)
{
    std::uintptr_t upper = ckpt_thread_pointer_get();
    std::uintptr_t after;
    int pid = ckpt_sys_getpid();
    int tid = ckpt_sys_gettid();

    ckpt_halves[0].upper = upper;
    ckpt_halves[0].lower = lower;
    ckpt_thread_pointer_set(lower);
    ckpt_sys_tgkill(pid, tid, signal);
    after = ckpt_thread_pointer_get();
    ckpt_thread_pointer_set(upper);
    ckpt_halves[0].lower = 0;
    return after;
}

TEST(Signals, handlers_run_with_the_upper_thread_pointer)
{
    in_child([] {
        Lender lender;
        auto before = action_of(plain_handler, 0);
        sigaction(SIGUSR1, &before, nullptr); /* wrapped by open */
        ASSERT_EQ(ckpt_signals_open(checkpoint_signal), 0);
        struct sigaction later = action_of(nullptr, SA_SIGINFO);
        later.sa_sigaction = info_handler;
        ASSERT_EQ(ckpt_signals_action(SIGUSR2, &later, nullptr), 0);

        std::uintptr_t upper = ckpt_thread_pointer_get();
        for (int signal : {SIGUSR1, SIGUSR2}) {
            seen_pointer = 0;
            EXPECT_EQ(hit_in_lower(lender.pointer, signal), lender.pointer);
            EXPECT_EQ(seen_pointer, upper);
            EXPECT_EQ(last_signal, signal);
        }
        EXPECT_EQ(calls, 2);
        EXPECT_EQ(seen_sender, getpid());

        seen_pointer = 0; /* and in the upper half */
        raise(SIGUSR1);
        EXPECT_EQ(seen_pointer, upper);
        EXPECT_EQ(ckpt_thread_pointer_get(), upper);
    });
}

volatile int notified;
volatile int notified_in_lower;

void notify(int in_lower)
{
    notified = notified + 1;
    notified_in_lower = in_lower;
}

void notify_self_from_outside()
{
    pid_t self = getpid();
    pid_t child = fork();
    if (child == 0) {
        kill(self, checkpoint_signal);
        _exit(0);
    }
    waitpid(child, nullptr, 0);
}

void handler_that_is_notified(int)
{
    notify_self_from_outside();
    calls = calls + 1;
}

TEST(Signals, a_handler_above_a_lower_call_counts_as_in_the_lower_half)
{
    in_child([] {
        Lender lender;
        ASSERT_EQ(ckpt_threads_open(checkpoint_signal, notify, nullptr), 0);
        ASSERT_EQ(ckpt_signals_open(checkpoint_signal), 0);
        auto action = action_of(handler_that_is_notified, 0);
        ASSERT_EQ(ckpt_signals_action(SIGUSR1, &action, nullptr), 0);

        /* Only this thread may receive the checkpoint signal. */
        hit_in_lower(lender.pointer, SIGUSR1);
        while (notified == 0) {
            std::this_thread::yield();
        }
        EXPECT_EQ(calls, 1);
        EXPECT_EQ(notified_in_lower, 1);

        notified = 0;
        raise(SIGUSR1);
        while (notified == 0) {
            std::this_thread::yield();
        }
        EXPECT_EQ(notified_in_lower, 0);
    });
}

/* The checkpoint signal comes while the handler blocks it, so the kernel delivers it when the
 * handler returns. This happens with a small alternate stack, or when the signal comes at just that
 * moment. */
void handler_that_is_followed(int)
{
    const std::uint64_t ours = CKPT_SIGNAL_BIT(checkpoint_signal);
    siginfo_t info{};

    calls = calls + 1;
    ckpt_sys_sigprocmask(SIG_BLOCK, &ours, nullptr);
    info.si_signo = checkpoint_signal;
    info.si_code = SI_QUEUE; /* as from another process */
    info.si_pid = ckpt_sys_getpid();
    syscall(SYS_rt_tgsigqueueinfo, info.si_pid, gettid(), checkpoint_signal, &info);
}

/* pause() and similar calls in a thread that gets signals from the caller. */
class Waiting
{
  public:
    explicit Waiting(std::function<int()> wait)
        : thread_([this, wait] {
              tid = gettid();
              for (int round = 0; round < 3; round++) {
                  errno = 0;
                  result = wait();
                  error = errno;
                  ended++;
              }
          })
    {
        while (tid == 0) {
            std::this_thread::yield();
        }
    }
    ~Waiting() { thread_.join(); }

    /* Waits until the thread sleeps in the kernel again. */
    void sleeps() const
    {
        const std::string path = "/proc/self/task/" + std::to_string(tid) + "/stat";
        std::string text;
        do {
            std::this_thread::yield();
            std::ifstream file(path);
            std::getline(file, text);
        } while (text.find(") S ") == std::string::npos);
    }
    void send(int signal) const { ckpt_sys_tgkill(getpid(), tid, signal); }
    void await_end(int count) const
    {
        while (ended < count) {
            std::this_thread::yield();
        }
    }

    std::atomic<pid_t> tid{0};
    std::atomic<int> ended{0}, result{0}, error{0};

  private:
    std::thread thread_;
};

class EndedCalls : public testing::TestWithParam<int>
{
};

/* The program's EINTR stays, whatever comes after its handler. A call that only the checkpoint
 * signal interrupts goes on as before. */
TEST_P(EndedCalls, end_with_the_handler_that_has_ended_them)
{
    in_child([] {
        ASSERT_EQ(ckpt_threads_open(checkpoint_signal, notify, nullptr), 0);
        ASSERT_EQ(ckpt_signals_open(checkpoint_signal), 0);
        auto action = action_of(handler_that_is_followed, GetParam());
        ASSERT_EQ(ckpt_signals_action(SIGUSR1, &action, nullptr), 0);
        timespec longest{20, 0};
        for (const std::function<int()> &wait : std::vector<std::function<int()>>{
                 [] { return pause(); }, [&] { return nanosleep(&longest, nullptr); },
                 [] { return poll(nullptr, 0, 20000); }}) {
            Waiting waiting(wait);
            calls = 0;
            notified = 0;
            for (int round = 1; round <= 3; round++) {
                waiting.sleeps();
                siginfo_t info{}; /* alone: does not end the call */
                info.si_code = SI_QUEUE;
                syscall(SYS_rt_tgsigqueueinfo, getpid(), waiting.tid.load(),
                        checkpoint_signal, &info);
                while (notified < 2 * round - 1) {
                    std::this_thread::yield();
                }
                waiting.sleeps();
                EXPECT_EQ(waiting.ended, round - 1);
                waiting.send(SIGUSR1);
                waiting.await_end(round);
                EXPECT_EQ(waiting.result, -1);
                EXPECT_EQ(waiting.error, EINTR);
                EXPECT_EQ(calls, round);
                EXPECT_EQ(notified, 2 * round);
            }
        }
    });
}

INSTANTIATE_TEST_SUITE_P(OnItsStack, EndedCalls, testing::Values(0, SA_ONSTACK));

/* The caller's registers, and the memory below its stack pointer, are unchanged. */
TEST(Signals, nothing_else_changes_when_a_handler_has_ended_a_call)
{
    in_child([] {
        ASSERT_EQ(ckpt_threads_open(checkpoint_signal, notify, nullptr), 0);
        ASSERT_EQ(ckpt_signals_open(checkpoint_signal), 0);
        auto action = action_of(handler_that_is_followed, 0);
        ASSERT_EQ(ckpt_signals_action(SIGALRM, &action, nullptr), 0);
        ualarm(100000, 0);
        long result = SYS_pause;
        std::uint64_t flags, zone, kept[6] = {11, 12, 13, 14, 15, 16};
        register std::uint64_t r8 __asm__("r8") = kept[2];
        register std::uint64_t r9 __asm__("r9") = kept[3];
        register std::uint64_t r10 __asm__("r10") = kept[4];
        std::uint64_t rdi = kept[0], rsi = kept[1], rdx = kept[5];
        __asm__ volatile("movq $77, -128(%%rsp)\n\t"
                         "stc\n\t"
                         "movl $34, %%eax\n\t"
                         "syscall\n\t"
                         "movq -128(%%rsp), %[zone]\n\t"
                         "leaq -128(%%rsp), %%rsp\n\t"
                         "pushfq\n\t"
                         "popq %[flags]\n\t"
                         "leaq 128(%%rsp), %%rsp"
                         : "=&a"(result), [flags] "=&r"(flags), [zone] "=&r"(zone),
                           "+D"(rdi), "+S"(rsi), "+d"(rdx), "+r"(r8), "+r"(r9), "+r"(r10)
                         :
                         : "rcx", "r11", "memory", "cc");
        const std::uint64_t after[] = {rdi, rsi, r8, r9, r10, rdx};
        EXPECT_EQ(result, -EINTR);
        EXPECT_EQ(flags & 1, 1u);
        EXPECT_EQ(zone, 77u);
        for (int i = 0; i < 6; i++) {
            EXPECT_EQ(after[i], kept[i]) << i;
        }
        EXPECT_EQ(calls, 1);
        EXPECT_EQ(notified, 1);
    });
}

TEST(Signals, old_actions_are_told_as_they_were_given)
{
    in_child([] {
        auto first = action_of(plain_handler, SA_RESTART | SA_NODEFER);
        sigaddset(&first.sa_mask, SIGUSR2);
        sigaddset(&first.sa_mask, checkpoint_signal);
        sigaction(SIGHUP, &first, nullptr);
        signal(SIGQUIT, SIG_IGN);
        ASSERT_EQ(ckpt_signals_open(checkpoint_signal), 0);
        EXPECT_TRUE(ckpt_signals_is_open());

        EXPECT_EQ(asked(SIGHUP).sa_handler, plain_handler);
        EXPECT_EQ(asked(SIGHUP).sa_flags, SA_RESTART | SA_NODEFER);
        EXPECT_EQ(asked(SIGQUIT).sa_handler, SIG_IGN);
        EXPECT_EQ(asked(SIGTERM).sa_handler, SIG_DFL);

        struct sigaction old;
        ASSERT_EQ(ckpt_signals_action(SIGTERM, &first, &old), 0);
        EXPECT_EQ(old.sa_handler, SIG_DFL);
        ASSERT_EQ(ckpt_signals_action(SIGTERM, &first, &old), 0);
        EXPECT_EQ(old.sa_handler, plain_handler);
        EXPECT_EQ(old.sa_flags, SA_RESTART | SA_NODEFER);
        EXPECT_EQ(sigismember(&old.sa_mask, SIGUSR2), 1);
        EXPECT_EQ(sigismember(&old.sa_mask, checkpoint_signal), 1);
        EXPECT_EQ(sigismember(&old.sa_mask, SIGUSR1), 0);

        /* One structure for both arguments, as in some programs. */
        struct sigaction both = action_of(SIG_IGN, 0);
        ASSERT_EQ(ckpt_signals_action(SIGTERM, &both, &both), 0);
        EXPECT_EQ(both.sa_handler, plain_handler);
        EXPECT_EQ(asked(SIGTERM).sa_handler, SIG_IGN);
        raise(SIGTERM);
        EXPECT_EQ(calls, 0);

        /* The kernel must not block the signal. */
        ckpt_sigaction kernel;
        ASSERT_EQ(ckpt_sys_sigaction(SIGHUP, nullptr, &kernel), 0);
        EXPECT_NE(kernel.handler, reinterpret_cast<void *>(plain_handler));
        EXPECT_NE(kernel.mask & CKPT_SIGNAL_BIT(SIGUSR2), 0u);
    });
}

TEST(Signals, one_shot_handlers_are_reset_once_delivered)
{
    in_child([] {
        ASSERT_EQ(ckpt_signals_open(checkpoint_signal), 0);
        auto action = action_of(plain_handler, static_cast<int>(SA_RESETHAND));
        ASSERT_EQ(ckpt_signals_action(SIGURG, &action, nullptr), 0);
        EXPECT_EQ(asked(SIGURG).sa_handler, plain_handler);
        raise(SIGURG);
        EXPECT_EQ(calls, 1);
        EXPECT_EQ(asked(SIGURG).sa_handler, SIG_DFL);
        EXPECT_EQ(asked(SIGURG).sa_flags, static_cast<int>(SA_RESETHAND));
        raise(SIGURG); /* ignored by default */
        EXPECT_EQ(calls, 1);
    });
}

volatile int depth;
volatile int deepest;

void nesting_handler(int signal)
{
    depth = depth + 1;
    deepest = depth > deepest ? depth : deepest;
    if (depth < 3) {
        raise(signal);
    }
    depth = depth - 1;
}

void repeating_handler(int signal)
{
    depth = depth + 1;
    deepest = depth > deepest ? depth : deepest;
    calls = calls + 1;
    if (calls < 2) {
        raise(signal);
    }
    depth = depth - 1;
}

TEST(Signals, nodefer_nests_and_its_lack_does_not)
{
    in_child([] {
        ASSERT_EQ(ckpt_signals_open(checkpoint_signal), 0);
        auto nesting = action_of(nesting_handler, SA_NODEFER);
        ASSERT_EQ(ckpt_signals_action(SIGUSR1, &nesting, nullptr), 0);
        raise(SIGUSR1);
        EXPECT_EQ(deepest, 3);

        deepest = 0;
        auto plain = action_of(repeating_handler, 0);
        ASSERT_EQ(ckpt_signals_action(SIGUSR1, &plain, nullptr), 0);
        raise(SIGUSR1);
        EXPECT_EQ(calls, 2);
        EXPECT_EQ(deepest, 1);
    });
}

TEST(Signals, the_checkpoint_signal_cannot_be_taken)
{
    in_child([] {
        ASSERT_EQ(ckpt_threads_open(checkpoint_signal, notify, nullptr), 0);
        ASSERT_EQ(ckpt_signals_open(checkpoint_signal), 0);
        struct sigaction old;
        auto mine = action_of(plain_handler, SA_RESTART);
        auto ignore = action_of(SIG_IGN, 0);
        ASSERT_EQ(ckpt_signals_action(checkpoint_signal, &mine, &old), 0);
        EXPECT_EQ(old.sa_handler, SIG_DFL);
        ASSERT_EQ(ckpt_signals_action(checkpoint_signal, &ignore, &old), 0);
        EXPECT_EQ(old.sa_handler, plain_handler);
        EXPECT_EQ(old.sa_flags, SA_RESTART);
        EXPECT_EQ(asked(checkpoint_signal).sa_handler, SIG_IGN);

        notify_self_from_outside();
        EXPECT_EQ(notified, 1);
        EXPECT_EQ(calls, 0);
    });
}

TEST(Signals, the_checkpoint_signal_is_taken_out_of_sets_only)
{
    in_child([] {
        sigset_t set;
        sigfillset(&set);
        ckpt_signals_strip(&set); /* no signal is reserved yet */
        EXPECT_EQ(sigismember(&set, checkpoint_signal), 1);

        ckpt_signals_reserve(checkpoint_signal);
        ckpt_signals_strip(&set);
        EXPECT_EQ(sigismember(&set, checkpoint_signal), 0);
        EXPECT_EQ(sigismember(&set, checkpoint_signal - 1), 1);
        EXPECT_EQ(sigismember(&set, checkpoint_signal + 1), 1);
        EXPECT_EQ(sigismember(&set, SIGUSR1), 1);

        sigfillset(&set);
        sigprocmask(SIG_SETMASK, &set, nullptr);
        ASSERT_EQ(ckpt_signals_open(checkpoint_signal), 0);
        sigprocmask(SIG_SETMASK, nullptr, &set);
        EXPECT_EQ(sigismember(&set, checkpoint_signal), 0);
        EXPECT_EQ(sigismember(&set, SIGUSR1), 1);
    });
}

TEST(Signals, what_sigaction_refuses_is_refused)
{
    in_child([] {
        ASSERT_EQ(ckpt_signals_open(checkpoint_signal), 0);
        auto action = action_of(plain_handler, 0);
        for (int signal : {-1, 0, 65, 32, 33, SIGKILL, SIGSTOP}) {
            EXPECT_EQ(ckpt_signals_action(signal, &action, nullptr), -EINVAL)
                << signal;
        }
        EXPECT_EQ(asked(SIGKILL).sa_handler, SIG_DFL);
        EXPECT_EQ(ckpt_signals_open(0), -EINVAL);
        EXPECT_EQ(ckpt_signals_open(65), -EINVAL);
    });
}

TEST(Signals, save_and_restore_bring_everything_back)
{
    in_child([] {
        std::vector<char> memory(65536);
        stack_t stack{memory.data(), 0, memory.size()};
        stack_t none{nullptr, SS_DISABLE, 0};
        sigset_t set;
        sigset_t empty;
        ASSERT_EQ(ckpt_threads_open(checkpoint_signal, notify, nullptr), 0);
        ASSERT_EQ(ckpt_signals_open(checkpoint_signal), 0);
        auto action = action_of(plain_handler, SA_ONSTACK);
        ASSERT_EQ(ckpt_signals_action(SIGUSR1, &action, nullptr), 0);
        signal(SIGQUIT, SIG_IGN);
        sigaltstack(&stack, nullptr);
        sigemptyset(&set);
        sigaddset(&set, SIGUSR2);
        sigprocmask(SIG_SETMASK, &set, nullptr);

        ckpt_signals_save();
        const ckpt_sigaction standard{};
        for (int signal = 1; signal <= CKPT_SIGNAL_COUNT; signal++) {
            ckpt_sys_sigaction(signal, &standard, nullptr);
        }
        sigaltstack(&none, nullptr);
        sigemptyset(&empty);
        sigprocmask(SIG_SETMASK, &empty, nullptr);
        ckpt_signals_restore();

        stack_t now;
        sigaltstack(nullptr, &now);
        EXPECT_EQ(now.ss_sp, stack.ss_sp);
        EXPECT_EQ(now.ss_size, stack.ss_size);
        sigprocmask(SIG_SETMASK, nullptr, &empty);
        EXPECT_EQ(std::memcmp(&empty, &set, sizeof(std::uint64_t)), 0);
        EXPECT_EQ(asked(SIGUSR1).sa_handler, plain_handler);
        EXPECT_EQ(asked(SIGQUIT).sa_handler, SIG_IGN);
        raise(SIGUSR1);
        EXPECT_EQ(calls, 1);
        notify_self_from_outside();
        EXPECT_EQ(notified, 1);
    });
}

TEST(Signals, the_number_comes_from_the_setting)
{
    EXPECT_EQ(ckpt_signals_number("40"), 40);
    int standard = ckpt_signals_number(nullptr);
    for (const char *text : {"", "0", "65", "-1", "x", "40x"}) {
        EXPECT_EQ(ckpt_signals_number(text), standard) << text;
    }
}

} // namespace
