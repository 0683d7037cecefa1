/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_protection.cpp - memory of this process, write-protected and read while other threads write
 * to it, and unmap it.
 */
#include "config.h"
#include "image/model/fault_summary.hpp"
#include "image/memory/granule_map.hpp"
#include "image/memory/page_pool.hpp"
#include "image/memory/protected_source.hpp"
#include "tests/common/child_process.hpp"

extern "C" {
#include "memory/protection.h"
}

#include <gtest/gtest.h>

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <thread>
#include <vector>

using namespace ckpt;
using namespace ckpt::test;

namespace
{

constexpr std::size_t chunk_pages = 16;
constexpr std::size_t chunk_size = chunk_pages * page;

/* A plan for private memory at `start`; `has_data` selects the pages with data. */
ChunkPlan plan_of(std::uint64_t start, const std::vector<bool> &has_data)
{
    ChunkPlan plan;
    for (std::size_t first = 0; first < has_data.size(); first += chunk_pages) {
        ChunkJob job{start + first * page, first / chunk_pages, 0, chunk_size,
                     plan.runs.size(), 0, false};
        std::size_t end = std::min(first + chunk_pages, has_data.size());
        for (std::size_t i = first; i < end; i++) {
            if (!has_data[i]) {
                continue;
            }
            if (i == first || !has_data[i - 1]) {
                plan.runs.push_back({start + i * page, start + i * page});
                job.run_count++;
            }
            plan.runs.back().end += page;
        }
        if (job.run_count > 0) {
            plan.jobs.push_back(job);
        }
    }
    return plan;
}

/* The same pages in packed chunks, with one in four left out. */
ChunkPlan packed_plan_of(std::uint64_t start, std::size_t pages)
{
    ChunkPlan plan;
    std::size_t packed = 0;
    for (std::size_t i = 0; i < pages; i++) {
        const std::uint64_t address = start + i * page;
        if (i % 4 == 3) {
            continue;
        }
        if (packed++ % chunk_pages == 0) {
            plan.jobs.push_back({address, plan.jobs.size(), 0, chunk_size, plan.runs.size(),
                                 0, false, true});
        }
        plan.runs.push_back({address, address + page});
        plan.jobs.back().run_count++;
    }
    return plan;
}

/* Mapped memory, and its source. */
class Protection : public testing::Test
{
  protected:
    static constexpr std::size_t chunks = 8;
    static constexpr std::size_t pages = chunks * chunk_pages;

    void SetUp() override
    {
        auto fd = static_cast<int>(
            ::syscall(SYS_userfaultfd, WriteProtection::descriptor_flags()));
        if (fd < 0) {
            GTEST_SKIP() << "no userfaultfd here: " << std::strerror(errno);
        }
        protection_ = std::make_shared<WriteProtection>(::getpid(), Fd(fd));
        void *mapped = ::mmap(nullptr, pages * page, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        ASSERT_NE(mapped, MAP_FAILED);
        memory_ = static_cast<char *>(mapped);
        for (std::size_t i = 0; i < pages; i++) {
            std::memset(memory_ + i * page, old_byte(i), page);
        }
    }

    void TearDown() override
    {
        source_.reset();
        if (memory_ != nullptr) {
            ::munmap(memory_, pages * page);
        }
    }

    void protect(std::size_t pool, std::size_t granule)
    {
        pool_.emplace(pool, granule);
        auto start = reinterpret_cast<std::uint64_t>(memory_);
        source_ = std::make_unique<ProtectedSource>(
            protection_, remote_, plan_of(start, std::vector<bool>(pages, true)),
            PageRanges{{start, start + pages * page}}, *pool_, 2);
    }

    void protect_packed(std::size_t pool, std::size_t granule)
    {
        pool_.emplace(pool, granule);
        auto start = reinterpret_cast<std::uint64_t>(memory_);
        source_ = std::make_unique<ProtectedSource>(
            protection_, remote_, packed_plan_of(start, pages),
            PageRanges{{start, start + pages * page}}, *pool_, 2);
    }

    static char old_byte(std::size_t i) { return static_cast<char>('a' + i % 26); }
    char *at(std::size_t i) const { return memory_ + i * page; }
    /* While another thread waits to write there, of which ThreadSanitizer knows nothing. */
    __attribute__((no_sanitize("thread"), noinline)) char now_at(std::size_t i) const
    {
        return *at(i);
    }

    /* Reads a chunk; returns the differences from its content at protection. */
    std::string read(std::size_t number)
    {
        std::vector<std::byte> chunk(chunk_size);
        const ChunkPlan &plan = source_->plan();
        std::string error =
            error_of([&] { source_->read(plan, plan.jobs[number], chunk); });
        for (std::size_t i = 0; i < chunk_size && error.empty(); i++) {
            std::size_t number_of_page = number * chunk_pages + i / page;
            if (static_cast<char>(chunk[i]) != old_byte(number_of_page)) {
                error = "page " + std::to_string(number_of_page) + " is new";
            }
        }
        return error;
    }

    /* Does the same with a packed chunk. */
    std::string read_packed(std::size_t number)
    {
        std::vector<std::byte> chunk(chunk_size);
        const ChunkPlan &plan = source_->plan();
        const ChunkJob &job = plan.jobs[number];
        std::string error = error_of([&] { source_->read(plan, job, chunk); });
        for (std::size_t i = 0; i < chunk_pages && error.empty(); i++) {
            char expected = '\0'; /* after the last one */
            if (i < job.run_count) {
                const std::uint64_t address = plan.runs[job.first_run + i].start;
                expected = old_byte((address - reinterpret_cast<std::uint64_t>(memory_)) / page);
            }
            std::span part = std::span(chunk).subspan(i * page, page);
            if (!std::ranges::all_of(part, [expected](std::byte byte) {
                    return static_cast<char>(byte) == expected;
                })) {
                error = "packed page " + std::to_string(i) + " is wrong";
            }
        }
        return error;
    }

    RemoteMemory remote_{::getpid()};
    std::shared_ptr<WriteProtection> protection_;
    std::optional<PagePool> pool_;
    std::unique_ptr<ProtectedSource> source_;
    char *memory_ = nullptr;
};

/* While it exists, no thread can be created: a stack would need the whole address space. */
class NoThreads
{
  public:
    NoThreads()
    {
        pthread_attr_t attributes;
        EXPECT_EQ(::pthread_getattr_default_np(&attributes), 0);
        EXPECT_EQ(::pthread_attr_getstacksize(&attributes, &before_), 0);
        EXPECT_EQ(::pthread_attr_destroy(&attributes), 0);
        set_stack_size(std::size_t(1) << 47);
    }
    ~NoThreads() { set_stack_size(before_); }

  private:
    static void set_stack_size(std::size_t size)
    {
        pthread_attr_t attributes;
        EXPECT_EQ(::pthread_getattr_default_np(&attributes), 0);
        EXPECT_EQ(::pthread_attr_setstacksize(&attributes, size), 0);
        EXPECT_EQ(::pthread_setattr_default_np(&attributes), 0);
        EXPECT_EQ(::pthread_attr_destroy(&attributes), 0);
    }

    std::size_t before_ = 0;
};

/* With pools that hold all, some, and one granule. */
class ProtectionPools
    : public Protection,
      public testing::WithParamInterface<std::pair<std::size_t, std::size_t>>
{
};

} // namespace

/* ---- Granules ------------------------------------------------------------------ */

TEST(GranuleMap, CutsChunksAtTheirOwnStart)
{
    std::vector<bool> data(40, true);
    data[4] = data[5] = data[39] = false;
    std::fill_n(data.begin() + 16, 16, false); /* a chunk without data: no job */
    ChunkPlan plan = plan_of(0x100000, data);
    GranuleMap map(plan, 4 * page);

    ASSERT_EQ(plan.jobs.size(), 2u);
    EXPECT_EQ(map.count(), 8u);
    EXPECT_EQ(map.of(plan.jobs[1]), std::pair(GranuleMap::Index(4), GranuleMap::Index(8)));
    EXPECT_EQ(map.find(0x100000), 0u);
    EXPECT_EQ(map.find(0x100000 + 5 * page), 1u); /* between two with data */
    EXPECT_EQ(map.find(0x100000 + 20 * page), std::nullopt);
    EXPECT_EQ(map.find(0x100000 + 38 * page), 5u);
    EXPECT_EQ(map.find(0x100000 + 39 * page), std::nullopt);
    EXPECT_EQ(map.find(0xff000), std::nullopt);
    EXPECT_EQ(map.content(5, 6).back().end, 0x100000 + 39 * page);
    EXPECT_EQ(map.start(5), 0x100000 + 36 * page);
    EXPECT_EQ(map.offset(5), 4 * page);
}

TEST(GranuleMap, KnowsWhatLiesInARange)
{
    std::vector<bool> data(48, true);
    data[4] = data[5] = false;
    ChunkPlan plan = plan_of(0x100000, data);
    GranuleMap map(plan, 4 * page);
    auto range = [](std::size_t from, std::size_t to) {
        return ckpt_range{0x100000 + from * page, 0x100000 + to * page};
    };

    for (std::size_t from = 0; from <= 48; from++) {
        for (std::size_t to = from + 1; to <= 48; to++) {
            auto [first, end] = map.within(range(from, to));
            EXPECT_EQ(first, from / 4) << from << " " << to;
            EXPECT_EQ(end, (to + 3) / 4) << from << " " << to;
        }
    }
    EXPECT_FALSE(map.has_wanted(1, range(4, 6)));
    EXPECT_TRUE(map.has_wanted(1, range(4, 7)));
    EXPECT_FALSE(map.has_wanted(1, range(8, 12)));
    EXPECT_EQ(map.within({0x1000, 0x2000}).first, map.within({0x1000, 0x2000}).second);
}

TEST(GranuleMap, OfPackedChunksHasPagesOfSeveralRegions)
{
    ChunkPlan plan = packed_plan_of(0x100000, 48); /* 36 pages: two chunks and a quarter */
    GranuleMap map(plan, 4 * page);
    auto at = [](std::size_t number) { return 0x100000 + number * page; };

    ASSERT_EQ(plan.jobs.size(), 3u);
    EXPECT_EQ(map.count(), 12u);
    EXPECT_EQ(map.find(at(0)), 0u);
    EXPECT_EQ(map.find(at(2)), 0u);
    EXPECT_EQ(map.find(at(3)), std::nullopt); /* left out */
    EXPECT_EQ(map.find(at(4)), 0u);
    EXPECT_EQ(map.find(at(5)), 1u);
    EXPECT_EQ(map.find(at(46)), 8u);
    EXPECT_EQ(map.find(at(48)), std::nullopt);
    EXPECT_EQ(map.start(1), at(5));
    EXPECT_EQ(map.start(4), at(21)); /* the second chunk */
    EXPECT_EQ(map.offset(4), 0u);
    PageRanges content = map.content(0, 1);
    ASSERT_EQ(content.size(), 2u);
    EXPECT_EQ(content[0].end, at(3));
    EXPECT_EQ(content[1].start, at(4));
    EXPECT_TRUE(map.content(9, 12).empty());
    EXPECT_EQ(map.within({at(3), at(5)}), std::pair(GranuleMap::Index(0), GranuleMap::Index(1)));
    EXPECT_EQ(map.within({at(4), at(6)}), std::pair(GranuleMap::Index(0), GranuleMap::Index(2)));
    EXPECT_EQ(map.within({at(0), at(48)}), std::pair(GranuleMap::Index(0), GranuleMap::Index(9)));
    EXPECT_EQ(map.within({at(3), at(4)}).first, map.within({at(3), at(4)}).second);
    EXPECT_TRUE(map.has_wanted(0, {at(4), at(5)}));
    EXPECT_FALSE(map.has_wanted(1, {at(4), at(5)}));
}

/* ---- The pool ------------------------------------------------------------------- */

TEST(PagePool, IsBoundedAndTellsWhenThereIsRoom)
{
    PagePool pool(3 * page, page);
    Fd waiting(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    eventfd_t count;
    std::array<std::byte *, 3> places{};
    for (std::byte *&place : places) {
        place = pool.take(waiting.get());
        ASSERT_NE(place, nullptr);
        std::memset(place, 1, page);
    }
    EXPECT_EQ(pool.take(waiting.get()), nullptr);
    EXPECT_EQ(pool.take(waiting.get()), nullptr);
    EXPECT_NE(::eventfd_read(waiting.get(), &count), 0);
    pool.give_back(places[1]);
    ASSERT_EQ(::eventfd_read(waiting.get(), &count), 0);
    EXPECT_EQ(count, 1u);
    EXPECT_EQ(pool.take(waiting.get()), places[1]);
    pool.give_back(places[0]); /* no thread waits any more */
    EXPECT_NE(::eventfd_read(waiting.get(), &count), 0);
}

TEST(PagePool, ForgetsWhoWaitedAndHasOnePlaceAtLeast)
{
    PagePool pool(1, page);
    Fd waiting(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    eventfd_t count;
    std::byte *place = pool.take(waiting.get());
    ASSERT_NE(place, nullptr);
    EXPECT_EQ(pool.take(waiting.get()), nullptr);
    pool.forget(waiting.get());
    pool.give_back(place);
    EXPECT_NE(::eventfd_read(waiting.get(), &count), 0);
}

TEST(PagePool, GrowsToAQuarterOfWhatThereIs)
{
    constexpr std::size_t granule = 1u << 20, least = least_pool / granule;
    constexpr std::size_t step = 64; /* MiB: 320 are a quarter of 1024 and 256 */
    PagePool pool(0, granule, [] { return std::uint64_t{1} << 30; });
    /* The second round comes after all have been given back. */
    for (int round = 0; round < 2; round++) {
        std::vector<std::byte *> places;
        while (std::byte *place = pool.take(-1)) {
            places.push_back(place);
            EXPECT_EQ(*place, std::byte{0}) << "the system has not got its memory";
            *place = std::byte{places.size() > least};
        }
        EXPECT_EQ(places.size(), least + step);
        pool.forget(-1);
        for (std::byte *place : places) {
            pool.give_back(place);
        }
    }
}

TEST(PagePool, DoesNotGrowWithoutMemory)
{
    PagePool pool(0, 1u << 20, [] { return std::uint64_t{1} << 28; });
    std::size_t count = 0;
    while (pool.take(-1) != nullptr) {
        count++;
    }
    EXPECT_EQ(count, least_pool >> 20);
}

TEST(PagePool, TakesWhatALimitOfAddressSpaceLeaves)
{
    int status = run_in_child([] {
        std::ifstream statm("/proc/self/statm");
        std::size_t pages = 0;
        statm >> pages;
        const rlim_t limit = pages * page + 40 * mebibyte; /* room for two pieces */
        const struct rlimit limits = {limit, limit};
        if (::setrlimit(RLIMIT_AS, &limits) != 0) {
            ::_exit(2);
        }
        PagePool pool(0, mebibyte);
        std::vector<std::byte *> places;
        places.reserve(64);
        for (int round = 0; round < 2; round++) {
            while (std::byte *place = pool.take(-1)) {
                *place = std::byte{1};
                places.push_back(place);
            }
            if (places.size() != 32) {
                ::_exit(3);
            }
            pool.forget(-1);
            while (!places.empty()) {
                pool.give_back(places.back());
                places.pop_back();
            }
        }
    });
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(PagePool, GranulesArePowersOfTwo)
{
    EXPECT_EQ(require_granule(4096), 4096u);
    EXPECT_EQ(require_granule(1u << 20), 1u << 20);
    for (std::size_t wrong : {0u, 2048u, 12288u, 2u << 20}) {
        EXPECT_NE(error_of([wrong] { require_granule(wrong); }), "") << wrong;
    }
}

/* ---- Reading and writing ----------------------------------------------------------- */

TEST_P(ProtectionPools, WhatIsReadIsAsItWas)
{
    auto [pool, granule] = GetParam();
    protect(pool, granule);
    std::jthread writer([this] {
        std::vector<std::size_t> order(pages);
        std::iota(order.begin(), order.end(), 0u);
        std::ranges::shuffle(order, std::mt19937(1));
        for (std::size_t i : order) {
            std::memset(at(i), 'X', page);
        }
    });
    for (std::size_t number = 0; number < chunks; number++) {
        EXPECT_EQ(read(number), "");
    }
    writer.join();
    EXPECT_EQ(std::count(memory_, memory_ + pages * page, 'X'),
              static_cast<std::ptrdiff_t>(pages * page));
}

TEST_P(ProtectionPools, WhatIsReadOfPackedChunksIsAsItWas)
{
    auto [pool, granule] = GetParam();
    protect_packed(pool, granule);
    std::jthread writer([this] {
        std::vector<std::size_t> order(pages);
        std::iota(order.begin(), order.end(), 0u);
        std::ranges::shuffle(order, std::mt19937(2));
        for (std::size_t i : order) {
            std::memset(at(i), 'X', page);
        }
    });
    for (std::size_t number = 0; number < source_->plan().jobs.size(); number++) {
        EXPECT_EQ(read_packed(number), "");
    }
    writer.join();
}

INSTANTIATE_TEST_SUITE_P(Sizes, ProtectionPools,
                         testing::Values(std::pair(mebibyte, page),
                                         std::pair(8 * page, 4 * page),
                                         std::pair(page, page),
                                         std::pair(chunk_size, chunk_size),
                                         std::pair(mebibyte, mebibyte)));

TEST_F(Protection, WritesOfTheKernelWaitToo)
{
    int ends[2];
    std::vector<char> fresh(2 * page, 'Y');
    ASSERT_EQ(::pipe(ends), 0);
    ASSERT_EQ(::write(ends[1], fresh.data(), fresh.size()),
              static_cast<ssize_t>(fresh.size()));
    protect(mebibyte, page);
    EXPECT_EQ(::read(ends[0], at(3), 2 * page), static_cast<ssize_t>(2 * page));
    EXPECT_EQ(read(0), "");
    EXPECT_EQ(*at(4), 'Y');
    EXPECT_EQ(source_->faults().seconds.size(), 2u);
    ::close(ends[0]);
    ::close(ends[1]);
}

TEST_F(Protection, WhoWaitsForThePoolIsCounted)
{
    protect(page, page);
    *at(0) = 'X'; /* takes the only place */
    std::jthread writer([this] { *at(pages - 1) = 'X'; });
    while (source_->faults().pool_waits == 0) {
        std::this_thread::yield();
    }
    EXPECT_EQ(now_at(pages - 1), old_byte(pages - 1));
    EXPECT_EQ(read(0), ""); /* makes room */
    writer.join();
    EXPECT_EQ(*at(pages - 1), 'X');
    EXPECT_EQ(read(chunks - 1), "");
    EXPECT_EQ(source_->faults().pool_waits, 1u);
    EXPECT_EQ(source_->faults().seconds.size(), 2u);
}

TEST_F(Protection, WhatSomebodyWaitsForIsUrgent)
{
    protect(page, page);
    EXPECT_EQ(source_->urgent(), std::nullopt);
    *at(0) = 'X';
    EXPECT_EQ(source_->urgent(), std::nullopt);
    std::jthread writer([this] { *at(5 * chunk_pages + 1) = 'X'; });
    while (source_->faults().pool_waits == 0) {
        std::this_thread::yield();
    }
    EXPECT_EQ(source_->urgent(), 5u);
    EXPECT_EQ(read(5), "");
    writer.join();
    while (source_->urgent()) { /* the serving thread looks again */
        std::this_thread::yield();
    }
}

TEST_F(Protection, TheLastWriteIsFollowed)
{
    protect(4 * page, page);
    EXPECT_EQ(source_->following(), 0u);
    *at(5 * chunk_pages + 1) = 'X';
    EXPECT_EQ(source_->following(), 5u);
    *at(3 * chunk_pages) = 'X';
    EXPECT_EQ(source_->following(), 3u);
}

TEST_F(Protection, EndLetsAllGoOn)
{
    protect(page, page);
    *at(0) = 'X';
    std::jthread writer([this] { std::memset(at(1), 'X', (pages - 1) * page); });
    while (source_->faults().pool_waits == 0) {
        std::this_thread::yield();
    }
    source_.reset();
    writer.join();
    EXPECT_EQ(*at(pages - 1), 'X');
}

TEST_F(Protection, AChildOfTheProcessIsNotProtected)
{
    protect(page, page);
    *at(0) = 'X';
    int status = run_in_child([this] {
        std::memset(memory_, 'Z', pages * page); /* no thread would serve a second */
    });
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    for (std::size_t number = 0; number < chunks; number++) {
        EXPECT_EQ(read(number), "");
    }
}

/* ---- Memory that is unmapped -------------------------------------------------------- */

TEST_F(Protection, WhatWasGivenBackIsMissed)
{
    protect(mebibyte, page);
    *at(2 * chunk_pages) = 'X';
    ASSERT_EQ(::munmap(at(chunk_pages + 3), page), 0);
    ASSERT_EQ(::madvise(at(3 * chunk_pages), page, MADV_DONTNEED), 0);
    void *moved = ::mremap(at(5 * chunk_pages), chunk_size, chunk_size + page,
                           MREMAP_MAYMOVE);
    ASSERT_NE(moved, MAP_FAILED);
    EXPECT_EQ(read(0), "");
    EXPECT_NE(read(1).find("given back memory"), std::string::npos);
    EXPECT_EQ(read(2), "");
    EXPECT_NE(read(3).find("given back memory"), std::string::npos);
    EXPECT_EQ(read(4), "");
    EXPECT_NE(read(5).find("given back memory"), std::string::npos);
    ::munmap(moved, chunk_size + page);
}

/* The pool belongs to the agent and outlives the failed checkpoint. */
TEST_F(Protection, AFailedReadReturnsItsBuffersToThePool)
{
    constexpr std::size_t buffers = 3;
    protect(buffers * page, page);
    *at(chunk_pages) = 'X';
    *at(chunk_pages + 1) = 'X';
    *at(chunk_pages + 5) = 'X';
    ASSERT_EQ(::munmap(at(chunk_pages + 3), page), 0);
    EXPECT_NE(read(1).find("given back memory"), std::string::npos);
    source_.reset();

    Fd waiting(::eventfd(0, EFD_CLOEXEC));
    for (std::size_t i = 0; i < buffers; i++) {
        EXPECT_NE(pool_->take(waiting.get()), nullptr) << "buffer " << i;
    }
}

TEST_F(Protection, WithoutAThreadNothingIsProtected)
{
    pool_.emplace(mebibyte, page);
    auto start = reinterpret_cast<std::uint64_t>(memory_);
    const NoThreads none;
    EXPECT_THROW(ProtectedSource(protection_, remote_,
                                 plan_of(start, std::vector<bool>(pages, true)),
                                 PageRanges{{start, start + pages * page}}, *pool_, 1),
                 Error);
    ASSERT_EQ(protection_->descriptor(), -1); /* else the next line would wait for ever */
    *at(0) = 'X';
}

TEST_F(Protection, WhatWasGivenBackOfPackedChunksIsMissed)
{
    protect_packed(mebibyte, page);
    ASSERT_EQ(::madvise(at(23), page, MADV_DONTNEED), 0); /* left out */
    ASSERT_EQ(::madvise(at(22), page, MADV_DONTNEED), 0); /* of the second chunk */
    EXPECT_EQ(read_packed(0), "");
    EXPECT_NE(read_packed(1).find("given back memory"), std::string::npos);
    EXPECT_EQ(read_packed(2), "");
}

TEST_F(Protection, WhatHasBeenReadMayGo)
{
    protect(mebibyte, page);
    EXPECT_EQ(read(1), "");
    *at(2 * chunk_pages) = 'X'; /* pooled: one page */
    ASSERT_EQ(::madvise(at(1 * chunk_pages), chunk_size + page, MADV_DONTNEED), 0);
    EXPECT_EQ(*at(chunk_pages), '\0');
    EXPECT_EQ(read(2), "");
}

TEST_F(Protection, WhatIsSavedFirstIsNotMissed)
{
    protect(mebibyte, page);
    ckpt_protection_save(at(chunk_pages), 3 * chunk_size);
    ASSERT_EQ(::madvise(at(chunk_pages), 3 * chunk_size, MADV_DONTNEED), 0);
    for (std::size_t number = 0; number < chunks; number++) {
        EXPECT_EQ(read(number), "");
    }
    EXPECT_EQ(*at(chunk_pages), '\0');
}

TEST_F(Protection, FreshMemoryInItsPlaceIsNotTakenForIt)
{
    protect(mebibyte, page);
    void *fresh = ::mmap(at(chunk_pages), chunk_size, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    ASSERT_NE(fresh, MAP_FAILED);
    std::memset(fresh, 'X', chunk_size);
    EXPECT_NE(read(1).find("given back memory"), std::string::npos);
    EXPECT_EQ(read(0), "");
    EXPECT_EQ(read(2), "");
}

/* ---- Reports --------------------------------------------------------------------------- */

TEST(FaultSummary, IsOfTheTimesThatWereMeasured)
{
    FaultTimes times;
    for (int i = 1; i <= 1000; i++) {
        times.seconds.push_back(static_cast<float>(1001 - i));
    }
    times.pool_waits = 7;
    FaultSummary summary = summarize(times);
    EXPECT_EQ(summary.count, 1000u);
    EXPECT_EQ(summary.pool_waits, 7u);
    EXPECT_EQ(summary.p50, 500);
    EXPECT_EQ(summary.p99, 990);
    EXPECT_EQ(summary.p999, 999);
    EXPECT_EQ(summary.most, 1000);
    FaultSummary both = summary;
    both.add(summarize(FaultTimes{1, {2000}}));
    EXPECT_EQ(both.count, 1001u);
    EXPECT_EQ(both.pool_waits, 8u);
    EXPECT_EQ(both.p50, 2000);
    EXPECT_EQ(summarize({}).most, 0);
}
