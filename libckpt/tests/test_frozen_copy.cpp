/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_frozen_copy.cpp - a copy of this process, read from outside.
 */
extern "C" {
#include "base/arena.h"
#include "ckpt/snapshot.h"
#include "memory/advice.h"
#include "process/frozen_copy.h"
}

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sched.h>
#include <string>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace
{

constexpr std::size_t page = 4096;
constexpr std::chrono::seconds timeout(10);

class FrozenCopy : public testing::Test
{
  protected:
    void SetUp() override
    {
        void *mapped = mmap(nullptr, pages * page, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        ASSERT_NE(mapped, MAP_FAILED);
        memory = static_cast<char *>(mapped);
        std::memset(memory, 'a', pages * page);
    }

    void TearDown() override
    {
        if (copy.connection >= 0) {
            close(copy.connection);
        }
        munmap(memory, pages * page);
    }

    void make()
    {
        ckpt_failure failure = {};
        ASSERT_EQ(ckpt_frozen_copy_make(&copy, getpid(), &failure), 0)
            << failure.text;
    }

    /* Returns a byte of the copy's memory, or 0 if it cannot be read. */
    char read_byte(const char *address) const
    {
        char byte = 0;
        iovec local = {&byte, 1};
        iovec remote = {const_cast<char *>(address), 1};
        return process_vm_readv(copy.pid, &local, 1, &remote, 1, 0) == 1 ? byte : '\0';
    }

    /* Whether the copy has this page, private or shared with this process. */
    bool has_page(const char *address) const
    {
        std::string path = "/proc/" + std::to_string(copy.pid) + "/pagemap";
        int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
        std::uint64_t entry = 0;
        auto offset = static_cast<off_t>(reinterpret_cast<std::uintptr_t>(address) /
                                         page * sizeof entry);
        EXPECT_EQ(pread(fd, &entry, sizeof entry, offset),
                  static_cast<ssize_t>(sizeof entry));
        close(fd);
        return (entry >> 63) != 0;
    }

    /* Waits until the copy has freed the page. */
    bool gives_back(const char *address) const
    {
        auto end = std::chrono::steady_clock::now() + timeout;
        while (has_page(address)) {
            if (std::chrono::steady_clock::now() > end) {
                return false;
            }
            sched_yield();
        }
        return true;
    }

    void release(const char *from, std::size_t size) const
    {
        auto start = reinterpret_cast<std::uintptr_t>(from);
        ckpt_range range = {start, start + size};
        ASSERT_EQ(send(copy.connection, &range, sizeof range, 0),
                  static_cast<ssize_t>(sizeof range));
    }

    static constexpr std::size_t pages = 16;
    char *memory = nullptr;
    ckpt_frozen_copy copy = {0, -1};
};

/* Waits for the copy's end, which follows the end of the connection. */
bool ends(int pidfd)
{
    pollfd ended = {pidfd, POLLIN, 0};

    return poll(&ended, 1, static_cast<int>(timeout / std::chrono::milliseconds(1))) == 1;
}

} // namespace

TEST_F(FrozenCopy, IsNoChildOfAProgramThatTakesInOrphans)
{
    int takes_in = 0;

    ASSERT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
    make();
    EXPECT_EQ(waitpid(-1, nullptr, WNOHANG | __WALL), -1);
    EXPECT_EQ(errno, ECHILD);
    ASSERT_EQ(prctl(PR_GET_CHILD_SUBREAPER, &takes_in, 0, 0, 0), 0);
    EXPECT_EQ(takes_in, 1); /* still */
    prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0);
}

TEST_F(FrozenCopy, KeepsWhatIsOverwrittenHere)
{
    make();
    std::memset(memory, 'b', pages * page);
    EXPECT_EQ(read_byte(memory), 'a');
    EXPECT_EQ(read_byte(memory + pages * page - 1), 'a');
    munmap(memory + page, page);
    EXPECT_EQ(read_byte(memory + page), 'a');
}

TEST_F(FrozenCopy, IsNobodysChildAndEndsWithItsConnection)
{
    make();
    EXPECT_EQ(waitpid(-1, nullptr, WNOHANG | __WALL), -1);
    EXPECT_EQ(errno, ECHILD);
    int pidfd = static_cast<int>(syscall(SYS_pidfd_open, copy.pid, 0));
    ASSERT_GE(pidfd, 0);
    close(copy.connection);
    copy.connection = -1;
    EXPECT_TRUE(ends(pidfd));
    close(pidfd);
}

TEST_F(FrozenCopy, LivesOnWhenSignalsComeAndTheProgramGoesOn)
{
    make();
    int pidfd = static_cast<int>(syscall(SYS_pidfd_open, copy.pid, 0));
    ASSERT_EQ(kill(copy.pid, SIGTERM), 0);
    ASSERT_EQ(kill(copy.pid, SIGUSR1), 0);
    release(memory, page); /* answered after the signals */
    ASSERT_TRUE(gives_back(memory));
    pollfd ended = {pidfd, POLLIN, 0};
    EXPECT_EQ(poll(&ended, 1, 0), 0);
    close(pidfd);
}

TEST_F(FrozenCopy, GivesPagesBackThatHaveBeenRead)
{
    make();
    EXPECT_TRUE(has_page(memory));
    release(memory, 4 * page);
    ASSERT_TRUE(gives_back(memory + 3 * page));
    EXPECT_FALSE(has_page(memory));
    EXPECT_EQ(read_byte(memory + 4 * page), 'a');
    EXPECT_EQ(memory[0], 'a');
}

TEST_F(FrozenCopy, ReleasesAllItHasButItsStack)
{
    make();
    std::vector<ckpt_range> all;
    FILE *maps = std::fopen("/proc/self/maps", "r");
    char line[512];
    ckpt_range range;
    while (std::fgets(line, sizeof line, maps) != nullptr) {
        if (std::sscanf(line, "%lx-%lx", &range.start, &range.end) == 2 &&
            range.end < UINT64_C(1) << 47) {
            all.push_back(range);
        }
    }
    std::fclose(maps);
    for (const ckpt_range &one : all) {
        for (std::uint64_t at = one.start; at < one.end; at += 4 * page) {
            release(reinterpret_cast<const char *>(at),
                    std::min<std::uint64_t>(4 * page, one.end - at));
        }
    }
    std::memset(memory, 'b', page);
    release(memory, page);
    ASSERT_TRUE(gives_back(memory));
}

TEST_F(FrozenCopy, HoldsNoDescriptorOfTheProgram)
{
    int ends_of_pipe[2];
    char byte;

    ASSERT_EQ(pipe2(ends_of_pipe, O_CLOEXEC | O_NONBLOCK), 0);
    make();
    close(ends_of_pipe[1]);
    /* It ends in any case, whether or not the copy has run yet. */
    EXPECT_EQ(read(ends_of_pipe[0], &byte, 1), 0) << strerror(errno);
    close(ends_of_pipe[0]);
}

TEST_F(FrozenCopy, AdviceIsFoundAmongVeryManyMappings)
{
    constexpr std::size_t pages = 20000; /* their list has more than a MiB */
    void *many = mmap(nullptr, pages * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ckpt_arena arena;
    ckpt_failure failure = {};

    ASSERT_NE(many, MAP_FAILED);
    for (std::size_t i = 0; i < pages; i += 2) {
        ASSERT_EQ(mprotect(static_cast<char *>(many) + i * page, page, PROT_NONE), 0);
    }
    ASSERT_EQ(ckpt_arena_open(&arena), 0);
    ckpt_advice_given();
    ASSERT_EQ(ckpt_advice_save(&arena, nullptr, 0, &failure), 0) << failure.text;
    EXPECT_EQ(ckpt_advice_against_copies(), 0);
    ASSERT_EQ(madvise(static_cast<char *>(many) + pages / 2 * page, page, MADV_WIPEONFORK), 0);
    ASSERT_EQ(ckpt_advice_save(&arena, nullptr, 0, &failure), 0) << failure.text;
    EXPECT_EQ(ckpt_advice_against_copies(), 1);
    ASSERT_EQ(munmap(many, pages * page), 0);
    ckpt_arena_close(&arena);
}

TEST_F(FrozenCopy, IsRefusedForMemoryThatIsNotInherited)
{
    ckpt_arena arena;
    ckpt_failure failure = {};

    ckpt_advice_given();
    ASSERT_EQ(madvise(memory, page, MADV_DONTFORK), 0);
    ASSERT_EQ(ckpt_arena_open(&arena), 0);
    ASSERT_EQ(ckpt_advice_save(&arena, nullptr, 0, &failure), 0);
    EXPECT_EQ(ckpt_frozen_copy_make(&copy, getpid(), &failure), -ENOTSUP);
    EXPECT_NE(std::string(failure.text).find("MADV_DONTFORK"), std::string::npos);
    EXPECT_EQ(copy.connection, -1);
    ASSERT_EQ(madvise(memory, page, MADV_DOFORK), 0);
    ASSERT_EQ(ckpt_advice_save(&arena, nullptr, 0, &failure), 0);
    make();
    ckpt_arena_close(&arena);
}
