/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_page_server.cpp - a page server on a thread fills missing pages of this process.
 *
 * The content of a saved page is a function of its address; some pages are zero.
 */
#include "config.h"
#include "common/error.hpp"
#include "common/pidfd.hpp"
#include "restart/page_server.hpp"

extern "C" {
#include "memory/lazy_pages.h"
}

#include <gtest/gtest.h>

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <future>

using namespace ckpt;
using namespace ckpt::restart;

namespace
{

constexpr std::uint64_t page = 4096;
constexpr std::uint64_t pages = 256;
constexpr std::uint64_t block = 16 * page;
constexpr std::uint64_t saved = 1ull << 40; /* address in the image */

std::uint64_t word_of(std::uint64_t index)
{
    return index % 5 == 3 ? 0 : (index + 1) * 0x9e3779b97f4a7c15;
}

/* Touches nothing else, so that it may be called in the child of a fork. */
bool has_content(const char *at, std::uint64_t index)
{
    std::uint64_t first = 0, last = 0;
    std::memcpy(&first, at, sizeof first);
    std::memcpy(&last, at + page - sizeof last, sizeof last);
    return first == word_of(index) && last == word_of(index);
}

class PageServerTest : public testing::Test
{
  protected:
    void SetUp() override
    {
        std::string why;
        faults = FaultDescriptor::make(&why);
        if (!faults) {
            GTEST_SKIP() << why;
        }
        memory = static_cast<char *>(map(pages));
        int ends[2];
        ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
        ours = Fd(ends[0]);
        theirs = Fd(ends[1]);
        missing.add({saved, saved + pages * page}, {{saved, saved + pages * page}});
        missing.move(saved, address(0), pages * page);
    }

    static void *map(std::uint64_t count)
    {
        void *place = mmap(nullptr, count * page, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        EXPECT_NE(place, MAP_FAILED);
        return place;
    }

    std::uint64_t address(std::uint64_t index) const
    {
        return reinterpret_cast<std::uint64_t>(memory) + index * page;
    }

    void read(std::uint64_t from, std::span<std::byte> bytes)
    {
        if (is_damaged) {
            fail("chunk 7 is damaged");
        }
        for (std::uint64_t at = 0; at < bytes.size(); at += page) {
            const std::uint64_t word = word_of((from + at - saved) / page);
            for (std::uint64_t i = 0; i < page; i += sizeof word) {
                std::memcpy(&bytes[at + i], &word, sizeof word);
            }
        }
        reads++;
    }

    /* Registers the memory and starts the server. */
    void start(bool on_demand)
    {
        uffdio_register registration{};
        registration.range = {address(0), pages * page};
        registration.mode = UFFDIO_REGISTER_MODE_MISSING;
        ASSERT_EQ(ioctl(faults.get(), UFFDIO_REGISTER, &registration), 0);
        Fd other(fcntl(faults.get(), F_DUPFD_CLOEXEC, 0));
        server = std::make_unique<PageServer>(
            PageServer::Process{getpid(), open_pidfd(getpid()), std::move(theirs), on_demand},
            FaultDescriptor(std::move(other)), missing, block,
            [this](std::uint64_t from, std::span<std::byte> bytes) { read(from, bytes); });
        ended = std::async(std::launch::async, [this] { server->run(); });
        say(CKPT_LAZY_PAGES_REGISTERED);
        say(CKPT_LAZY_PAGES_RUNNING);
    }

    void say(char message) { ASSERT_EQ(send(ours.get(), &message, 1, MSG_NOSIGNAL), 1); }

    /* Waits for the end of the server, which fills the rest. */
    void await()
    {
        char message = 0;
        say(CKPT_LAZY_PAGES_AWAITED);
        ASSERT_EQ(::read(ours.get(), &message, 1), 1);
        EXPECT_EQ(message, CKPT_LAZY_PAGES_COMPLETE);
        ended.get();
    }

    Fd faults, ours, theirs;
    char *memory = nullptr;
    MissingPages missing{block};
    std::atomic<int> reads = 0;
    std::atomic<bool> is_damaged = false;
    std::unique_ptr<PageServer> server;
    std::future<void> ended;
};

TEST_F(PageServerTest, FillsWhatIsTouchedOneBlockAtATime)
{
    start(true);
    EXPECT_TRUE(has_content(memory + 100 * page, 100));
    EXPECT_EQ(reads, 1);
    EXPECT_TRUE(has_content(memory + 110 * page, 110)); /* the same block */
    EXPECT_EQ(reads, 1);
    EXPECT_TRUE(has_content(memory + 3 * page, 3)); /* zero */
    EXPECT_EQ(reads, 2);
    await();
    EXPECT_EQ(reads, static_cast<int>(pages * page / block));
    for (std::uint64_t i = 0; i < pages; i++) {
        EXPECT_TRUE(has_content(memory + i * page, i)) << i;
    }
}

TEST_F(PageServerTest, FillsTheRestUnasked)
{
    char message = 0;
    start(false);
    ASSERT_EQ(::read(ours.get(), &message, 1), 1);
    EXPECT_EQ(message, CKPT_LAZY_PAGES_COMPLETE);
    ended.get();
    EXPECT_EQ(reads, static_cast<int>(pages * page / block));
    EXPECT_EQ(madvise(memory, page, MADV_DONTNEED), 0);
    EXPECT_EQ(memory[0], 0); /* nothing is registered any more: nobody has to answer */
}

TEST_F(PageServerTest, SystemCallsWaitToo)
{
    int ends[2];
    start(true);
    ASSERT_EQ(pipe(ends), 0);
    ASSERT_EQ(write(ends[1], memory + 20 * page, page), static_cast<ssize_t>(page));
    ASSERT_EQ(::read(ends[0], memory + 40 * page + 1, page), static_cast<ssize_t>(page));
    EXPECT_EQ(std::memcmp(memory + 40 * page + 1, memory + 20 * page, page), 0);
    close(ends[0]);
    close(ends[1]);
    await();
}

TEST_F(PageServerTest, DiscardedPagesAreZero)
{
    start(true);
    ASSERT_EQ(madvise(memory + 8 * page, 20 * page, MADV_DONTNEED), 0);
    EXPECT_EQ(memory[10 * page], 0);
    EXPECT_TRUE(has_content(memory + 30 * page, 30));
    ASSERT_EQ(madvise(memory + 30 * page, page, MADV_DONTNEED), 0); /* filled before */
    EXPECT_EQ(memory[30 * page], 0);
    await();
    EXPECT_EQ(memory[9 * page], 0);
    EXPECT_TRUE(has_content(memory + 7 * page, 7));
    EXPECT_TRUE(has_content(memory + 28 * page, 28));
}

TEST_F(PageServerTest, MovedPagesHaveTheirContent)
{
    start(true);
    void *place = map(32);
    ASSERT_EQ(mremap(memory + 50 * page, 32 * page, 32 * page, MREMAP_MAYMOVE | MREMAP_FIXED,
                     place),
              place);
    EXPECT_TRUE(has_content(static_cast<char *>(place) + 5 * page, 55));
    await();
    for (std::uint64_t i = 0; i < 32; i++) {
        EXPECT_TRUE(has_content(static_cast<char *>(place) + i * page, 50 + i)) << i;
    }
    EXPECT_TRUE(has_content(memory + 49 * page, 49));
    EXPECT_TRUE(has_content(memory + 82 * page, 82));
}

TEST_F(PageServerTest, UnmappedMemoryIsLeftAlone)
{
    start(true);
    ASSERT_EQ(munmap(memory + 10 * page, 3 * page), 0);
    void *place = mmap(memory + 10 * page, page, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    ASSERT_EQ(place, memory + 10 * page);
    EXPECT_EQ(memory[10 * page], 0);
    ASSERT_EQ(mprotect(memory + 40 * page, 3 * page, PROT_READ), 0); /* splits a block */
    await();
    EXPECT_EQ(memory[10 * page], 0);
    EXPECT_TRUE(has_content(memory + 9 * page, 9));
    EXPECT_TRUE(has_content(memory + 13 * page, 13));
    EXPECT_TRUE(has_content(memory + 41 * page, 41));
    EXPECT_TRUE(has_content(memory + 44 * page, 44));
}

TEST_F(PageServerTest, CopiesOfTheProcessHaveTheContentOfTheirMoment)
{
    start(true);
    memory[60 * page] = 1; /* filled and changed before */
    const pid_t child = fork();
    if (child == 0) {
        bool right = memory[60 * page] == 1;
        for (std::uint64_t i = 0; i < pages; i++) {
            right = right && (i == 60 || has_content(memory + i * page, i));
        }
        _exit(right ? 0 : 1);
    }
    ASSERT_EQ(madvise(memory, 60 * page, MADV_DONTNEED), 0); /* only here */
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(memory[0], 0);
    await();
    EXPECT_TRUE(has_content(memory + 200 * page, 200));
}

TEST_F(PageServerTest, DamageEndsTheServerBeforeAPageIsGiven)
{
    is_damaged = true;
    start(false);
    try {
        ended.get();
        ADD_FAILURE() << "it went on";
    } catch (const Error &error) {
        EXPECT_STREQ(error.what(), "chunk 7 is damaged");
    }
    unsigned char present[pages];
    ASSERT_EQ(mincore(memory, pages * page, present), 0);
    for (const unsigned char one : present) {
        EXPECT_EQ(one & 1, 0);
    }
}

TEST_F(PageServerTest, EndsIfTheRestartFailsBefore)
{
    server = std::make_unique<PageServer>(
        PageServer::Process{getpid(), open_pidfd(getpid()), std::move(theirs), false},
        FaultDescriptor(Fd(fcntl(faults.get(), F_DUPFD_CLOEXEC, 0))), missing, block,
        [this](std::uint64_t from, std::span<std::byte> bytes) { read(from, bytes); });
    ended = std::async(std::launch::async, [this] { server->run(); });
    ours.reset();
    ended.get();
    EXPECT_EQ(reads, 0);
}

} // namespace
