/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_memory_holder.cpp - a process with a holder of its memory ends, or executes a program.
 */
extern "C" {
#include "process/memory_holder.h"
}

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <poll.h>
#include <string>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace
{

namespace fs = std::filesystem;

constexpr int limit_ms = 60000;
constexpr std::size_t page = 4096;
constexpr std::size_t pages = 4096; /* that a program writes */

fs::path place_of(pid_t process)
{
    return "/proc/" + std::to_string(process);
}

/* Returns the holders among the children of this process, which adopts orphans. */
std::vector<pid_t> holders()
{
    std::vector<pid_t> found;
    std::ifstream children(place_of(getpid()) / "task" / std::to_string(getpid()) / "children");

    for (pid_t child = 0; children >> child;) {
        std::ifstream file(place_of(child) / "comm");
        std::string name;
        if (std::getline(file, name) && name == CKPT_MEMORY_HOLDER_NAME) {
            found.push_back(child);
        }
    }
    return found;
}

std::size_t resident_pages(pid_t process)
{
    std::ifstream file(place_of(process) / "statm");
    std::size_t all = 0, resident = 0;

    file >> all >> resident;
    return resident;
}

/* Waits for the end of a child. Returns its status. */
int await_end(pid_t process)
{
    const int descriptor = static_cast<int>(syscall(SYS_pidfd_open, process, 0));
    pollfd ended = {descriptor, POLLIN, 0};
    int status = -1;

    EXPECT_EQ(1, poll(&ended, 1, limit_ms)) << "process " << process << " does not end";
    close(descriptor);
    EXPECT_EQ(process, waitpid(process, &status, WNOHANG));
    return status;
}

/* A child with a holder. At a word from the test it does something, and ends with its result. */
class Program
{
  public:
    explicit Program(const std::function<int()> &work)
    {
        std::array<int, 2> said{};
        int result = -1;
        EXPECT_EQ(0, prctl(PR_SET_CHILD_SUBREAPER, 1));
        alarm(limit_ms / 1000);
        EXPECT_EQ(0, pipe2(said.data(), O_CLOEXEC));
        EXPECT_EQ(0, pipe2(go_.data(), O_CLOEXEC));
        pid_ = fork();
        if (pid_ == 0) {
            run(said[1], work);
        }
        close(said[1]);
        EXPECT_EQ(static_cast<ssize_t>(sizeof result), read(said[0], &result, sizeof result));
        close(said[0]);
        EXPECT_EQ(0, result);
        while (holders().empty() && kill(pid_, 0) == 0) { /* it has not taken its name yet */
            std::this_thread::yield();
        }
        holder_ = holders().at(0);
    }
    ~Program()
    {
        for (const int descriptor : go_) {
            close(descriptor);
        }
        while (waitpid(-1, nullptr, 0) > 0) { /* ends with the test's time limit at last */
        }
    }
    Program(const Program &) = delete;
    Program &operator=(const Program &) = delete;

    pid_t pid() const { return pid_; }
    pid_t holder() const { return holder_; }
    void go() const { EXPECT_EQ(1, write(go_[1], "", 1)); }

  private:
    [[noreturn]] void run(int said, const std::function<int()> &work) const
    {
        void *memory = mmap(nullptr, pages * page, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        char byte = 0;

        std::memset(memory, 'a', pages * page);
        const int result = ckpt_memory_holder_start();
        (void)!write(said, &result, sizeof result);
        _exit(read(go_[0], &byte, 1) == 1 ? work() : EXIT_FAILURE);
    }

    pid_t pid_ = -1;
    pid_t holder_ = -1;
    std::array<int, 2> go_{};
};

int nothing()
{
    return 0;
}

TEST(MemoryHolder, IsHarmless)
{
    const Program program([] {
        siginfo_t info;
        const bool has_child = waitid(P_ALL, 0, &info, WEXITED | WNOHANG | __WALL) == 0;
        return has_child || errno != ECHILD ? 1 : 0;
    });

    EXPECT_TRUE(fs::is_empty(place_of(program.holder()) / "fd"));
    EXPECT_GT(getpriority(PRIO_PROCESS, static_cast<id_t>(program.holder())),
              getpriority(PRIO_PROCESS, static_cast<id_t>(program.pid())));
    program.go();
    EXPECT_EQ(0, await_end(program.pid())) << "the program has a child";
    EXPECT_EQ(0, await_end(program.holder()));
}

/* The holder stands still. So the kernel can free the memory only later. */
TEST(MemoryHolder, ProcessEndsBeforeItsMemory)
{
    const Program program(nothing);
    int status = 0;

    ASSERT_EQ(0, kill(program.holder(), SIGSTOP));
    ASSERT_EQ(program.holder(), waitpid(program.holder(), &status, WUNTRACED));
    ASSERT_EQ(0, kill(program.pid(), SIGKILL));
    status = await_end(program.pid());
    EXPECT_TRUE(WIFSIGNALED(status));
    EXPECT_GE(resident_pages(program.holder()), pages);
    ASSERT_EQ(0, kill(program.holder(), SIGCONT));
    EXPECT_EQ(0, await_end(program.holder()));
}

TEST(MemoryHolder, EndsIfAnotherProgramIsExecuted)
{
    const Program program([] { return execl("/bin/sleep", "sleep", "60", nullptr); });

    program.go();
    EXPECT_EQ(0, await_end(program.holder()));
    EXPECT_EQ(0, kill(program.pid(), SIGKILL));
    EXPECT_TRUE(WIFSIGNALED(await_end(program.pid())));
}

/* A process has one holder, which ends with the leader. */
TEST(MemoryHolder, IsStartedOnce)
{
    const Program program([] {
        int by_thread = 0;
        const int again = ckpt_memory_holder_start();
        ckpt_memory_holder_gone();
        std::thread([&] { by_thread = ckpt_memory_holder_start(); }).join();
        return again == 0 && by_thread == -ESRCH ? 0 : 1;
    });

    program.go();
    EXPECT_EQ(0, await_end(program.pid()));
    EXPECT_EQ(0, await_end(program.holder()));
}

TEST(MemoryHolder, CopyOfTheMemoryHasNone)
{
    const Program program([] {
        const pid_t copy = fork();
        if (copy == 0) {
            ckpt_memory_holder_gone();
            _exit(ckpt_memory_holder_start() == 0 ? 0 : 1);
        }
        int status = -1;
        waitpid(copy, &status, 0);
        return status;
    });

    program.go();
    EXPECT_EQ(0, await_end(program.pid()));
    EXPECT_EQ(0, await_end(program.holder()));
}

} // namespace
