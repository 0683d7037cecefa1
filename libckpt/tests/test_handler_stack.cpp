/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_handler_stack.cpp - threads on very small stacks, like goroutines, with other data just
 * below: a checkpoint leaves these data alone.
 */
extern "C" {
#include "sys/syscall.h"
#include "sys/thread_pointer.h"
#include "task/threads.h"
}

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <gtest/gtest.h>
#include <memory>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <thread>
#include <ucontext.h>
#include <unistd.h>
#include <vector>

#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51
#endif

namespace
{

constexpr int checkpoint_signal = 63;
constexpr int timeout_ms = 10000;
constexpr int rounds = 20;
constexpr std::size_t red_zone = 128;
constexpr std::size_t promised = CKPT_HANDLER_ROOM;
constexpr std::size_t deep = 100 << 10; /* stack that a checkpoint needs */

std::size_t frame()
{
    return std::max<std::size_t>(getauxval(AT_MINSIGSTKSZ), 2048);
}

/* A stack with foreign data below. */
class Block
{
  public:
    explicit Block(std::size_t room)
        : room_(room)
    {
        std::memset(bytes_.get(), filling, total());
    }

    char *stack() const { return bytes_.get() + below; }
    std::size_t room() const { return room_; }
    bool has(const void *address) const
    {
        const auto *at = static_cast<const char *>(address);
        return at >= bytes_.get() && at < bytes_.get() + total();
    }
    /* Returns the bytes from the end of the stack down to the lowest byte that was ever changed. */
    std::size_t used() const
    {
        const char *end = bytes_.get() + total();
        return static_cast<std::size_t>(
            end - std::find_if(bytes_.get(), bytes_.get() + total(),
                               [](char byte) { return byte != filling; }));
    }

  private:
    static constexpr char filling = 0x5a;
    static constexpr std::size_t below = 4 * deep;

    std::size_t total() const { return below + room_; }

    std::size_t room_;
    std::unique_ptr<char[]> bytes_{new char[below + room_]};
};

std::atomic<int> notified, handled, handled_on_alternate;
/* The program raises its own signal while a checkpoint is answered. */
std::atomic<bool> raises;
const Block *alternate_of_thread;

void use_much()
{
    char bytes[deep];

    std::memset(bytes, 1, deep);
    __asm__ volatile(""
                     :
                     : "r"(bytes)
                     : "memory");
}

void notify(int)
{
    const std::uint64_t own = CKPT_SIGNAL_BIT(SIGUSR1);

    use_much();
    if (raises) {
        ckpt_sys_sigprocmask(1 /* SIG_UNBLOCK */, &own, nullptr);
        ckpt_sys_tgkill(ckpt_sys_getpid(), ckpt_sys_gettid(), SIGUSR1);
        ckpt_sys_sigprocmask(0 /* SIG_BLOCK */, &own, nullptr);
    }
    notified++;
}

void on_own_signal(int)
{
    char bytes[4096];

    std::memset(bytes, 0, sizeof(bytes));
    __asm__ volatile(""
                     :
                     : "r"(bytes)
                     : "memory");
    handled_on_alternate += alternate_of_thread->has(bytes);
    handled++;
}

/* A thread that counts, on the stack of a block. */
class Counting
{
  public:
    Counting(const Block &own, const Block *alternate)
        : own_(own), alternate_(alternate)
    {
        thread_ = std::thread([this] { live(); });
        wait_for_progress();
    }
    ~Counting() { end(); }

    void end()
    {
        if (thread_.joinable()) {
            stop_ = true;
            thread_.join();
        }
    }
    void wait_for_progress() const
    {
        for (unsigned long before = count_; count_ == before;) {
            std::this_thread::yield();
        }
    }
    /* Sends the signal as the agent does for a checkpoint. */
    void ask() const
    {
        const int before = notified;
        siginfo_t info{};
        info.si_signo = checkpoint_signal;
        info.si_code = SI_QUEUE;
        ASSERT_EQ(syscall(SYS_rt_tgsigqueueinfo, getpid(), tid_.load(), checkpoint_signal,
                          &info),
                  0);
        while (notified == before) {
            std::this_thread::yield();
        }
    }
    bool stack_is_its_own() const { return stack_is_its_own_; }

  private:
    static void count(unsigned high, unsigned low)
    {
        auto *self = reinterpret_cast<Counting *>(static_cast<std::uintptr_t>(high) << 32 |
                                                  low);
        while (!self->stop_) {
            self->count_++;
        }
    }

    void live()
    {
        stack_t stack{nullptr, SS_DISABLE, 0}, before{}, after{};
        ucontext_t here, there;
        const auto self = reinterpret_cast<std::uintptr_t>(this);

        if (alternate_ != nullptr) {
            stack = {alternate_->stack(), 0, alternate_->room()};
        }
        sigaltstack(&stack, nullptr);
        sigaltstack(nullptr, &before);
        tid_ = gettid();
        getcontext(&there);
        there.uc_stack = {own_.stack(), 0, own_.room()};
        there.uc_link = &here;
        makecontext(&there, reinterpret_cast<void (*)()>(count), 2,
                    static_cast<unsigned>(self >> 32), static_cast<unsigned>(self));
        swapcontext(&here, &there);
        sigaltstack(nullptr, &after);
        stack_is_its_own_ = after.ss_sp == before.ss_sp &&
                            after.ss_size == before.ss_size &&
                            after.ss_flags == before.ss_flags;
    }

    const Block &own_;
    const Block *alternate_;
    std::atomic<bool> stop_{false};
    std::atomic<unsigned long> count_{0};
    std::atomic<pid_t> tid_{0};
    bool stack_is_its_own_ = false;
    std::thread thread_;
};

class HandlerStack : public testing::Test
{
  protected:
    void SetUp() override
    {
        ckpt_thread_pointer_open();
        notified = handled = handled_on_alternate = 0;
        raises = false;
        ASSERT_EQ(ckpt_threads_open(checkpoint_signal, notify, nullptr), 0);
    }

    /* Signals both threads. Afterwards, the thread is in no handler. */
    static void checkpoint(const Counting &thread)
    {
        for (int round = 0; round < rounds; round++) {
            ckpt_failure failure{};
            thread.ask();
            ASSERT_EQ(ckpt_threads_freeze(timeout_ms, &failure), 0) << failure.text;
            ckpt_threads_thaw();
            thread.wait_for_progress();
        }
    }
};

TEST_F(HandlerStack, OfAThreadWithAnAlternateOneNothingIsUsed)
{
    const Block own(2048), alternate(frame() + promised);
    Counting thread(own, &alternate);
    const std::size_t before = own.used();

    checkpoint(thread);
    EXPECT_EQ(own.used(), before);
    EXPECT_LE(alternate.used(), alternate.room());
    EXPECT_GT(alternate.used(), 0u);
    thread.end();
    EXPECT_TRUE(thread.stack_is_its_own());
}

TEST_F(HandlerStack, OfAThreadWithoutAnAlternateOneTheFrameIsUsed)
{
    const Block own(2048 + red_zone + frame() + promised);
    Counting thread(own, nullptr);
    const std::size_t before = own.used();

    checkpoint(thread);
    EXPECT_LE(own.used(), before + red_zone + frame() + promised);
    thread.end();
    EXPECT_TRUE(thread.stack_is_its_own());
}

/* Otherwise the kernel would overwrite the frame of the checkpoint signal. */
TEST_F(HandlerStack, IsNotUsedByAHandlerMeanwhile)
{
    const Block own(2048), alternate(64 << 10);
    struct sigaction action {
    }, before{};
    Counting thread(own, &alternate);

    action.sa_handler = on_own_signal;
    action.sa_flags = SA_ONSTACK;
    alternate_of_thread = &alternate;
    ASSERT_EQ(sigaction(SIGUSR1, &action, &before), 0);
    raises = true;
    checkpoint(thread);
    raises = false;
    EXPECT_EQ(handled, rounds);
    EXPECT_EQ(handled_on_alternate, 0);
    thread.end();
    EXPECT_TRUE(thread.stack_is_its_own());
    sigaction(SIGUSR1, &before, nullptr);
}

std::atomic<bool> jumps;
ckpt_context entered;

void jump(int)
{
    if (jumps) {
        ckpt_context_resume(&entered);
    }
}

/* The leader enters a collective again, more often than there are stacks. */
TEST_F(HandlerStack, IsLeftByWhoGoesOnElsewhere)
{
    const Block alternate(frame() + promised);
    const stack_t stack{alternate.stack(), 0, alternate.room()};
    const stack_t none{nullptr, SS_DISABLE, 0};
    volatile int again = 0;
    stack_t now{};
    std::uint64_t before, after;

    ASSERT_EQ(ckpt_threads_open(checkpoint_signal, jump, nullptr), 0);
    ASSERT_EQ(sigaltstack(&stack, nullptr), 0);
    ckpt_sys_sigprocmask(0, nullptr, &before);
    jumps = true;
    while (again < 3000) {
        if (ckpt_context_capture(&entered) != 0) {
            ckpt_threads_leave_handler();
            again = again + 1;
            ckpt_sys_sigprocmask(0, nullptr, &after);
            ASSERT_EQ(after, before);
            ASSERT_EQ(sigaltstack(nullptr, &now), 0);
            ASSERT_EQ(now.ss_sp, stack.ss_sp);
            ASSERT_EQ(now.ss_size, stack.ss_size);
            continue;
        }
        ckpt_threads_notify_again();
    }
    jumps = false;
    sigaltstack(&none, nullptr);
}

} // namespace
