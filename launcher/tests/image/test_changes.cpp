/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_changes.cpp - which pages of this process have changed: sets of pages, the kernel's write
 * tracking, and comparison of content.
 */
#include "config.h"
#include "image/memory/change_tracker.hpp"
#include "image/model/page_ranges.hpp"
#include "image/memory/page_watch.hpp"
#include "tests/common/child_process.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bitset>
#include <cstring>
#include <memory>
#include <random>

namespace ckpt
{

void PrintTo(const ckpt_range &range, std::ostream *stream)
{
    *stream << std::hex << range.start << "-" << range.end;
}

} // namespace ckpt

bool operator==(const ckpt_range &left, const ckpt_range &right)
{
    return left.start == right.start && left.end == right.end;
}

using namespace ckpt;
using namespace ckpt::test;

namespace
{

constexpr std::size_t pages = 64;

/* A set as bits, for comparison. */
using Bits = std::bitset<200>;

PageRanges ranges_of(const Bits &bits)
{
    PageRanges ranges;
    for (std::size_t i = 0; i < bits.size(); i++) {
        if (bits[i]) {
            append_range(ranges, {i, i + 1});
        }
    }
    return ranges;
}

Bits random_bits(std::mt19937 &chance)
{
    Bits bits;
    unsigned part = chance() % 10;
    for (std::size_t i = 0; i < bits.size(); i++) {
        bits[i] = chance() % 10 < part;
    }
    return bits;
}

/* Memory of this process with numbered pages. */
class Memory
{
  public:
    explicit Memory(std::size_t count = pages)
        : bytes_(static_cast<char *>(::mmap(nullptr, count * page, PROT_READ | PROT_WRITE,
                                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))),
          count_(count)
    {
    }
    ~Memory() { ::munmap(bytes_, count_ * page); }

    char *at(std::size_t number) { return bytes_ + number * page; }
    ckpt_range range() const
    {
        auto start = reinterpret_cast<std::uintptr_t>(bytes_);
        return {start, start + count_ * page};
    }
    void fill(std::size_t first, std::size_t end)
    {
        std::memset(at(first), 'a', (end - first) * page);
    }
    /* Numbers of pages in the ranges, in order: "3 4 7". */
    std::string numbers(const PageRanges &ranges) const
    {
        std::string text;
        for (const ckpt_range &range : ranges) {
            for (auto at = range.start; at < range.end; at += page) {
                text += fmt::format("{} ", (at - this->range().start) / page);
            }
        }
        return text;
    }

  private:
    char *bytes_;
    std::size_t count_;
};

PageWatch watch_this_process()
{
    Fd descriptor(static_cast<int>(
        ::syscall(SYS_userfaultfd, PageWatch::descriptor_flags())));
    return {::getpid(), std::move(descriptor)};
}

std::string all_numbers()
{
    std::string text;
    for (std::size_t i = 0; i < pages; i++) {
        text += fmt::format("{} ", i);
    }
    return text;
}

} // namespace

TEST(PageRanges, AreSets)
{
    std::mt19937 chance(3);
    for (int round = 0; round < 2000; round++) {
        Bits left = random_bits(chance), right = random_bits(chance);
        PageRanges a = ranges_of(left), b = ranges_of(right);
        ASSERT_EQ(unite(a, b), ranges_of(left | right));
        ASSERT_EQ(intersect(a, b), ranges_of(left & right));
        ASSERT_EQ(subtract(a, b), ranges_of(left & ~right));
        ASSERT_EQ(length_of(a), left.count());
    }
}

TEST(PageWatch, SeesWhatHasBeenWrittenTo)
{
    Memory memory;
    PageWatch watch = watch_this_process();
    EXPECT_EQ(memory.numbers(watch.look(memory.range())), "");
    memory.fill(0, pages);
    EXPECT_EQ(memory.numbers(watch.look(memory.range())), all_numbers());
    EXPECT_EQ(memory.numbers(watch.look(memory.range())), "");
    *memory.at(3) = 'b';
    volatile char *same = memory.at(9);
    *same = *same; /* a write without a change */
    EXPECT_EQ(memory.numbers(watch.look(memory.range())), "3 9 ");
    EXPECT_EQ(memory.numbers(watch.look(memory.range())), "");
}

TEST(PageWatch, SeesWhatTheKernelWrites)
{
    Memory memory;
    memory.fill(0, pages);
    PageWatch watch = watch_this_process();
    watch.look(memory.range());
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    ASSERT_EQ(::write(ends[1], "word", 4), 4);
    EXPECT_EQ(::read(ends[0], memory.at(7), 4), 4);
    EXPECT_STREQ(std::string(memory.at(7), 4).c_str(), "word");
    EXPECT_EQ(memory.numbers(watch.look(memory.range())), "7 ");
    ::close(ends[0]);
    ::close(ends[1]);
}

TEST(PageWatch, SeesNewPagesInOldPlaces)
{
    Memory memory;
    memory.fill(0, pages);
    PageWatch watch = watch_this_process();
    watch.look(memory.range());
    ASSERT_EQ(::madvise(memory.at(1), page, MADV_DONTNEED), 0);
    ASSERT_EQ(::madvise(memory.at(2), page, MADV_DONTNEED), 0);
    *memory.at(2) = 'b';
    ASSERT_EQ(::mmap(memory.at(10), 2 * page, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
              memory.at(10));
    *memory.at(11) = 'b';
    EXPECT_EQ(memory.numbers(watch.look(memory.range())), "2 11 ");
    *memory.at(10) = 'c';
    EXPECT_EQ(memory.numbers(watch.look(memory.range())), "10 ");
}

TEST(PageWatch, SeesPagesBesideNewMappings)
{
    Memory memory;
    memory.fill(0, pages);
    PageWatch watch = watch_this_process();
    watch.look(memory.range());
    *memory.at(3) = 'b';
    *memory.at(60) = 'b';
    ASSERT_EQ(::mmap(memory.at(30), page, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
              memory.at(30)); /* has no data */
    EXPECT_EQ(memory.numbers(watch.look(memory.range())), "3 60 ");
    EXPECT_EQ(memory.numbers(watch.look(memory.range())), "");
}

TEST(PageWatch, SeesPagesThatWereMovedThere)
{
    Memory memory, other;
    memory.fill(0, pages);
    other.fill(0, pages);
    PageWatch watch = watch_this_process();
    watch.look(memory.range());
    watch.look(other.range());
    ASSERT_EQ(::mremap(other.at(5), 2 * page, 2 * page, MREMAP_MAYMOVE | MREMAP_FIXED,
                       memory.at(20)),
              memory.at(20));
    EXPECT_EQ(memory.numbers(watch.look(memory.range())), "20 21 ");
    EXPECT_EQ(memory.numbers(watch.look(memory.range())), "");
}

TEST(PageWatch, IsNotDisturbedByProtectionAndChildren)
{
    Memory memory;
    memory.fill(0, pages);
    PageWatch watch = watch_this_process();
    watch.look(memory.range());
    ASSERT_EQ(::mprotect(memory.at(4), page, PROT_READ), 0);
    ASSERT_EQ(::mprotect(memory.at(4), page, PROT_READ | PROT_WRITE), 0);
    EXPECT_EQ(run_in_child([&] { memory.fill(0, pages); }), 0);
    EXPECT_EQ(memory.numbers(watch.look(memory.range())), "");
    *memory.at(4) = 'b';
    EXPECT_EQ(memory.numbers(watch.look(memory.range())), "4 ");
}

TEST(PageWatch, LeavesNothingBehind)
{
    Memory memory;
    {
        PageWatch watch = watch_this_process();
        memory.fill(0, pages);
        watch.look(memory.range());
    }
    memory.fill(0, pages);
    PageWatch next = watch_this_process(); /* no other watch is active */
    EXPECT_EQ(memory.numbers(next.look(memory.range())), all_numbers());
}

TEST(PageWatch, TellsOfDevicesThatMightWrite)
{
    EXPECT_EQ(PageWatch::obstacle(::getpid()), "");
    Fd harmless(::open("/dev/zero", O_RDWR | O_CLOEXEC));
    EXPECT_EQ(PageWatch::obstacle(::getpid()), "");
    Fd device;
    for (const char *path : {"/dev/autofs", "/dev/loop-control", "/dev/fuse"}) {
        device = Fd(::open(path, O_RDONLY | O_CLOEXEC));
        if (device) {
            EXPECT_EQ(PageWatch::obstacle(::getpid()), fmt::format("it has {} open", path));
            return;
        }
    }
    GTEST_SKIP() << "there is no device that could be opened";
}

/* ---- Trackers ----------------------------------------------------------------- */

class Trackers : public testing::TestWithParam<const char *>
{
  protected:
    void SetUp() override
    {
        if (std::string(GetParam()) == "kernel") {
            tracker = std::make_unique<WatchedChanges>(::getpid(), watch_this_process());
        } else {
            tracker = std::make_unique<ContentChanges>(2);
        }
        memory.fill(0, pages);
    }

    /* Returns the pages that a checkpoint would save now. */
    std::string changed()
    {
        RemoteMemory reader(::getpid());
        PageRanges data;
        tracker->mark({memory.range()}, {});
        reader.scan(memory.range(), PageSelection::data, data);
        return memory.numbers(tracker->changed(reader, data));
    }

    Memory memory;
    std::unique_ptr<ChangeTracker> tracker;
};

INSTANTIATE_TEST_SUITE_P(By, Trackers, testing::Values("kernel", "content"),
                         [](const auto &info) { return std::string(info.param); });

TEST_P(Trackers, CountFromTheLastCommittedCheckpoint)
{
    EXPECT_EQ(changed(), all_numbers());
    *memory.at(1) = 'b';
    EXPECT_EQ(changed(), all_numbers()); /* the first checkpoint has failed */
    tracker->committed();
    *memory.at(2) = 'b';
    EXPECT_EQ(changed(), "2 ");
    *memory.at(3) = 'b';
    EXPECT_EQ(changed(), "2 3 ");
    tracker->committed();
    EXPECT_EQ(changed(), "");
    tracker->committed();
    *memory.at(4) = 'b';
    EXPECT_EQ(changed(), "4 ");
}

TEST_P(Trackers, LeaveOutWhatIsGone)
{
    changed();
    tracker->committed();
    *memory.at(5) = 'b';
    *memory.at(6) = 'b';
    ASSERT_EQ(::madvise(memory.at(5), page, MADV_DONTNEED), 0);
    EXPECT_EQ(changed(), "6 ");
}
