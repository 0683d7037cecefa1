/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_write_watch.cpp - which pages of a memory file this process has written to.
 */
extern "C" {
#include "memory/write_watch.h"
}

#include <cstddef>
#include <cstdint>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <string>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace
{

constexpr std::size_t page = 4096;
constexpr std::size_t pages = 8;

class WriteWatch : public testing::Test
{
  protected:
    void SetUp() override
    {
        file_ = memfd_create("watched", MFD_CLOEXEC);
        ASSERT_GE(file_, 0);
        ASSERT_EQ(ftruncate(file_, pages * page), 0);
        memory_ = map();
        if (int error = ckpt_write_watch_open(&watch_)) {
            GTEST_SKIP() << "no asynchronous write protection here: " << -error;
        }
    }

    void TearDown() override
    {
        ckpt_write_watch_close(&watch_);
        munmap(memory_, pages * page);
        close(file_);
    }

    char *map() const
    {
        void *at = mmap(nullptr, pages * page, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
        EXPECT_NE(at, MAP_FAILED);
        return static_cast<char *>(at);
    }

    void begin() { ASSERT_EQ(ckpt_write_watch_begin(&watch_, memory_, pages * page), 0); }

    /* Returns the numbers of the written pages. */
    std::string look()
    {
        std::vector<std::uint8_t> written(pages);
        std::string numbers;
        EXPECT_EQ(ckpt_write_watch_look(&watch_, memory_, pages * page, written.data()), 0);
        for (std::size_t i = 0; i < pages; i++) {
            numbers += written[i] ? std::to_string(i) : "";
        }
        return numbers;
    }

    int file_ = -1;
    char *memory_ = nullptr;
    ckpt_write_watch watch_{-1, -1};
};

TEST_F(WriteWatch, WritesAreNotedOnce)
{
    memory_[page] = 1;
    begin();
    EXPECT_EQ(look(), "");
    memory_[page] = 2;
    memory_[7 * page + 5] = 1;
    EXPECT_EQ(look(), "17");
    EXPECT_EQ(look(), "");
    memory_[7 * page] = 1;
    EXPECT_EQ(look(), "7");
}

TEST_F(WriteWatch, ReadsAreNotNoted)
{
    begin();
    volatile char *seen = memory_;
    EXPECT_EQ(seen[2 * page], 0);
    EXPECT_EQ(look(), "");
}

TEST_F(WriteWatch, WritesThroughAnotherMappingAreNotNoted)
{
    begin();
    char *other = map();
    other[3 * page] = 9;
    volatile char *seen = memory_;
    EXPECT_EQ(seen[3 * page], 9);
    EXPECT_EQ(look(), "");
    munmap(other, pages * page);
}

TEST_F(WriteWatch, WritesOfAnotherProcessAreNotNoted)
{
    memory_[4 * page] = 1; /* the page is in both page tables */
    begin();
    pid_t child = fork();
    if (child == 0) {
        memory_[4 * page] = 2;
        memory_[5 * page] = 2;
        _exit(0);
    }
    ASSERT_EQ(waitpid(child, nullptr, 0), child);
    EXPECT_EQ(memory_[4 * page] + memory_[5 * page], 4);
    EXPECT_EQ(look(), "");
    memory_[5 * page] = 3;
    EXPECT_EQ(look(), "5");
}

TEST_F(WriteWatch, SystemCallsWriteToo)
{
    begin();
    int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
    ASSERT_EQ(read(zero, memory_ + 6 * page, 10), 10);
    close(zero);
    EXPECT_EQ(look(), "6");
}

/* Imitates a kernel that reclaims the page when memory is short. */
TEST_F(WriteWatch, AWrittenPageThatIsNotThereAnyMoreIsNoted)
{
    begin();
    memory_[2 * page] = 1;
    ASSERT_EQ(madvise(memory_ + 2 * page, page, MADV_DONTNEED), 0);
    EXPECT_EQ(look(), "2");
    EXPECT_EQ(memory_[2 * page], 1);
    EXPECT_EQ(look(), "");
}

TEST_F(WriteWatch, MemoryThatIsNotWatchedIsAnError)
{
    std::vector<std::uint8_t> written(pages);
    EXPECT_LT(ckpt_write_watch_look(&watch_, memory_, pages * page, written.data()), 0);
}

} // namespace
