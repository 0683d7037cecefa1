/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_threads_recreated.cpp - threads that die and come back. A child process
 * freezes its threads, its parent really ends them, and the child recreates
 * them: a restart without the memory.
 */
extern "C" {
#include "sys/syscall.h"
#include "sys/thread_pointer.h"
#include "task/threads.h"
}

#include "thread_reaper.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <mutex>
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

void ignore(int)
{
}

std::vector<pid_t> threads_of_this_process()
{
    std::vector<pid_t> tids;
    DIR *directory = opendir("/proc/self/task");
    while (dirent *entry = readdir(directory)) {
        if (entry->d_name[0] != '.') {
            tids.push_back(std::stoi(entry->d_name));
        }
    }
    closedir(directory);
    return tids;
}

/* The channel by which the child asks its parent to end threads. */
class Reaper
{
  public:
    Reaper()
    {
        if (pipe(request) != 0 || pipe(answer) != 0) {
            ADD_FAILURE() << strerror(errno);
        }
    }

    /* In the frozen child: uses raw system calls only. */
    bool end(const ckpt_thread *threads, std::size_t count)
    {
        char done = 0;
        for (std::size_t i = 0; i < count; i++) {
            ckpt_sys_write(request[1], &threads[i].tid, sizeof(pid_t));
        }
        pid_t last = 0;
        ckpt_sys_write(request[1], &last, sizeof(last));
        return ckpt_sys_read(answer[0], &done, 1) == 1 && done == 'y';
    }

    /* In the parent: serves until the child is gone. */
    void serve()
    {
        close(request[1]);
        std::vector<pid_t> tids;
        pid_t tid;
        while (read(request[0], &tid, sizeof(tid)) == sizeof(tid)) {
            if (tid != 0) {
                tids.push_back(tid);
                continue;
            }
            std::string error = reap_threads(tids);
            EXPECT_EQ(error, "");
            tids.clear();
            EXPECT_EQ(write(answer[1], error.empty() ? "y" : "n", 1), 1);
        }
    }

  private:
    int request[2];
    int answer[2];
};

/* Runs `body` in a child; its failures count for this test. */
void in_child(Reaper &reaper, std::function<void()> body)
{
    pid_t child = fork();
    if (child == 0) {
        alarm(60);
        body();
        _exit(testing::Test::HasFailure() ? 1 : 0);
    }
    reaper.serve();
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0)
        << "status " << status;
}

/* Does what a checkpoint and a restart do to the threads of this process. */
void die_and_come_back(Reaper &reaper)
{
    ckpt_failure failure{};
    const ckpt_thread *threads;

    ASSERT_EQ(ckpt_threads_freeze(timeout_ms, &failure), 0) << failure.text;
    ckpt_threads_record_leader();
    std::size_t count = ckpt_threads_list(&threads);
    bool ended = reaper.end(threads, count);
    /* The kernel forgets a thread shortly after it has exited. */
    while (ended && threads_of_this_process().size() > 1) {
    }
    int status = ended ? ckpt_threads_recreate(&failure) : -1;
    ckpt_threads_thaw();
    ASSERT_TRUE(ended);
    ASSERT_EQ(status, 0) << failure.text;
}

int current_cpu()
{
    unsigned cpu;
    syscall(SYS_getcpu, &cpu, nullptr, nullptr);
    return static_cast<int>(cpu);
}

extern "C" const std::ptrdiff_t __rseq_offset __attribute__((weak));
extern "C" const unsigned __rseq_size __attribute__((weak));

/* True if the kernel keeps this thread's rseq area up to date. */
bool rseq_is_live()
{
    if (&__rseq_size == nullptr || __rseq_size == 0) {
        return true;
    }
    auto *area = reinterpret_cast<volatile std::int32_t *>(
        ckpt_thread_pointer_get() + __rseq_offset);
    cpu_set_t old;
    sched_getaffinity(0, sizeof(old), &old);
    bool live = true;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        if (CPU_ISSET(cpu, &old) &&
            sched_setaffinity(0, sizeof(one), &one) == 0) {
            live = live && area[1] == cpu && current_cpu() == cpu;
        }
    }
    sched_setaffinity(0, sizeof(old), &old);
    return live;
}

struct KernelSide {
    std::uint64_t mask;
    void *robust_list = nullptr;
    std::size_t robust_list_size = 0;
    void *tid_address = nullptr;
    stack_t stack;
    char name[16] = "";

    KernelSide()
    {
        ckpt_sys_sigprocmask(SIG_SETMASK, nullptr, &mask);
        ckpt_sys_get_robust_list(0, &robust_list, &robust_list_size);
        prctl(PR_GET_TID_ADDRESS, &tid_address, 0, 0, 0);
        sigaltstack(nullptr, &stack);
        prctl(PR_GET_NAME, name, 0, 0, 0);
    }

    bool operator==(const KernelSide &other) const
    {
        return mask == other.mask && robust_list == other.robust_list &&
               robust_list_size == other.robust_list_size &&
               tid_address == other.tid_address &&
               stack.ss_sp == other.stack.ss_sp &&
               stack.ss_size == other.stack.ss_size &&
               std::strcmp(name, other.name) == 0;
    }
};

thread_local int private_value;

/* Holds a recursive mutex across deaths, and compares its state with the one
 * before. */
struct Survivor {
    std::atomic<unsigned long> count{0};
    std::atomic<bool> stop{false};
    std::atomic<bool> checked{false};
    std::atomic<pid_t> tid{0};
    std::string complaint;
    std::recursive_mutex mutex;
    std::thread thread;

    explicit Survivor(int number)
    {
        thread = std::thread([this, number] { live(number); });
        while (tid == 0) {
            std::this_thread::yield();
        }
    }

    void live(int number)
    {
        std::vector<char> alternate(65536);
        stack_t stack{alternate.data(), 0, alternate.size()};
        sigset_t set;

        private_value = number;
        sigaltstack(&stack, nullptr);
        sigemptyset(&set);
        sigaddset(&set, SIGUSR1 + number % 2 * (SIGUSR2 - SIGUSR1));
        pthread_sigmask(SIG_BLOCK, &set, nullptr);
        pthread_setname_np(pthread_self(),
                           ("survivor" + std::to_string(number)).c_str());
        KernelSide before;
        mutex.lock();
        double sum = 0;
        double expected = 0;
        tid = gettid();
        while (!stop) {
            sum += 0.5;
            expected += 0.5;
            count++;
        }
        check(before, sum == expected, number);
        checked = true;
    }

    void check(const KernelSide &before, bool same_sum, int number)
    {
        if (!(KernelSide() == before)) {
            complaint += "kernel side; ";
        }
        if (!same_sum) {
            complaint += "registers; ";
        }
        if (private_value != number) {
            complaint += "thread-local variable; ";
        }
        if (!mutex.try_lock()) {
            complaint += "not the owner of its mutex; ";
        } else {
            mutex.unlock();
        }
        mutex.unlock();
        if (!rseq_is_live()) {
            complaint += "rseq; ";
        }
    }

    void wait_for_progress() const
    {
        for (unsigned long before = count; count == before;) {
            std::this_thread::yield();
        }
    }
};

void survive(Reaper &reaper)
{
    std::vector<std::unique_ptr<Survivor>> survivors;
    int ends[2];
    char byte = 0;
    ASSERT_EQ(pipe(ends), 0);
    ssize_t got = -1;

    ASSERT_EQ(ckpt_threads_open(checkpoint_signal, ignore, nullptr), 0);
    for (int i = 0; i < 5; i++) {
        survivors.push_back(std::make_unique<Survivor>(i));
    }
    std::thread reader([&] { got = read(ends[0], &byte, 1); });

    for (int death = 0; death < 5; death++) {
        die_and_come_back(reaper);
        std::vector<pid_t> now = threads_of_this_process();
        EXPECT_EQ(now.size(), 7u);
        for (auto &survivor : survivors) {
            survivor->wait_for_progress();
            EXPECT_EQ(std::count(now.begin(), now.end(), survivor->tid), 0)
                << "the thread has not died";
            int tid = ckpt_threads_kernel_tid(
                survivor->thread.native_handle(), nullptr);
            EXPECT_EQ(std::count(now.begin(), now.end(), tid), 1);
        }
        std::thread([] {}).join(); /* new threads can still be made */
    }
    for (auto &survivor : survivors) {
        std::atomic<bool> &stop = survivor->stop;
        stop = true;
        survivor->thread.join();
        EXPECT_TRUE(survivor->checked);
        EXPECT_EQ(survivor->complaint, "");
        EXPECT_TRUE(survivor->mutex.try_lock()) << "left locked";
    }
    ASSERT_EQ(write(ends[1], "z", 1), 1);
    reader.join();
    EXPECT_EQ(got, 1);
    EXPECT_EQ(byte, 'z');
    EXPECT_TRUE(rseq_is_live());
}

TEST(Recreate, threads_die_five_times_and_never_notice)
{
    Reaper reaper;
    in_child(reaper, [&] { survive(reaper); });
}

/* Gives this id to the next thread of this process, unless another process
 * takes it. */
bool ask_for_tid(pid_t tid)
{
    int fd = open("/proc/sys/kernel/ns_last_pid", O_WRONLY);
    std::string last = std::to_string(tid - 1);
    bool done = fd >= 0 && write(fd, last.c_str(), last.size()) ==
                               static_cast<ssize_t>(last.size());
    close(fd);
    return done;
}

/* Starts threads until one has the id `tid`; returns the id that the library
 * then remembers. */
std::int32_t remembered_id_of_double(pid_t tid)
{
    std::int32_t remembered = 0;
    for (int attempt = 0; attempt < 1000 && remembered == 0; attempt++) {
        EXPECT_TRUE(ask_for_tid(tid));
        std::thread([&] {
            if (gettid() == tid) {
                std::int32_t *word = nullptr;
                prctl(PR_GET_TID_ADDRESS, &word, 0, 0, 0);
                ckpt_threads_register_self();
                remembered = *word;
                EXPECT_EQ(ckpt_threads_kernel_tid(pthread_self(), nullptr),
                          tid);
            }
        }).join();
    }
    return remembered;
}

void meet_a_double(Reaper &reaper)
{
    ASSERT_EQ(ckpt_threads_open(checkpoint_signal, ignore, nullptr), 0);
    Survivor survivor(0);
    die_and_come_back(reaper);
    std::int32_t id = remembered_id_of_double(survivor.tid);
    EXPECT_NE(id, 0) << "no thread got the id";
    EXPECT_NE(id, survivor.tid) << "two threads go by one id";
    survivor.stop = true;
    survivor.thread.join();
    EXPECT_EQ(survivor.complaint, "");
}

TEST(Recreate, a_new_thread_with_an_old_ones_id_is_renamed)
{
    if (!ask_for_tid(gettid() + 100)) {
        GTEST_SKIP() << "needs CAP_CHECKPOINT_RESTORE to choose an id";
    }
    Reaper reaper;
    in_child(reaper, [&] { meet_a_double(reaper); });
}

void meet_a_stranger(Reaper &reaper)
{
    ASSERT_EQ(ckpt_threads_open(checkpoint_signal, ignore, nullptr), 0);
    Survivor survivor(0);
    die_and_come_back(reaper);
    std::thread([&] {
        std::int32_t *word = nullptr;
        prctl(PR_GET_TID_ADDRESS, &word, 0, 0, 0);
        if (gettid() != survivor.tid) {
            ckpt_threads_register_self();
            EXPECT_EQ(*word, gettid());
            EXPECT_EQ(ckpt_threads_kernel_tid(pthread_self(), nullptr), 0);
        }
    }).join();
    survivor.stop = true;
    survivor.thread.join();
    EXPECT_EQ(survivor.complaint, "");
}

TEST(Recreate, a_new_thread_with_an_id_of_its_own_keeps_it)
{
    Reaper reaper;
    in_child(reaper, [&] { meet_a_stranger(reaper); });
}

} // namespace
