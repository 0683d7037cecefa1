/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_regions.cpp - the scan of this process: cutting, names, kinds.
 */
extern "C" {
#include "base/arena.h"
#include "memory/layout.h"
#include "memory/maps.h"
#include "memory/regions.h"
#include "sys/cpu.h"
}

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <string>
#include <sys/auxv.h>
#include <linux/io_uring.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace
{

constexpr std::size_t page = 4096;

char *map(std::size_t pages, int protection, int flags, int fd = -1,
          off_t offset = 0)
{
    void *memory = mmap(nullptr, pages * page, protection, flags, fd, offset);
    EXPECT_NE(memory, MAP_FAILED) << strerror(errno);
    return static_cast<char *>(memory);
}

std::uint64_t address(const void *pointer)
{
    return reinterpret_cast<std::uint64_t>(pointer);
}

class Regions : public testing::Test
{
  protected:
    void SetUp() override
    {
        char name[] = "/tmp/ckpt-test-XXXXXX";

        ASSERT_EQ(ckpt_arena_open(&arena), 0);
        ckpt_regions_open();
        ASSERT_NE(mkdtemp(name), nullptr);
        directory = name;
    }

    void TearDown() override
    {
        for (auto [memory, size] : mapped) {
            munmap(memory, size);
        }
        ckpt_arena_close(&arena);
        std::filesystem::remove_all(directory);
    }

    /* Keeps a mapping for the duration of the test. */
    char *hold(char *memory, std::size_t pages)
    {
        mapped.emplace_back(memory, pages * page);
        return memory;
    }

    /* A file of pages filled with 'a', 'b', ... */
    int make_file(const std::string &name, std::size_t pages,
                  int flags = O_RDWR)
    {
        const std::string path = directory + "/" + name;
        int fd = open(path.c_str(), flags | O_CREAT | O_EXCL, 0600);
        EXPECT_GE(fd, 0) << path;
        for (std::size_t i = 0; i < pages; i++) {
            const std::string bytes(page, static_cast<char>('a' + i));
            EXPECT_EQ(write(fd, bytes.data(), page), ssize_t(page));
        }
        return fd;
    }

    int scan(const std::vector<ckpt_range> &excluded = {})
    {
        ckpt_region *list = nullptr;
        std::size_t count = 0;

        ckpt_arena_reset(&arena);
        failure.text[0] = '\0';
        int error = ckpt_regions_scan(&arena, excluded.data(), excluded.size(),
                                      &list, &count, &failure);
        regions.assign(list, list + count);
        return error;
    }

    /* Returns the regions found in [start, start + pages). */
    std::vector<ckpt_region> within(const char *start, std::size_t pages)
    {
        std::vector<ckpt_region> found;

        for (const ckpt_region &region : regions) {
            if (region.start < address(start + pages * page) &&
                region.end > address(start)) {
                found.push_back(region);
            }
        }
        return found;
    }

    const ckpt_region &at(const void *pointer)
    {
        static const ckpt_region none{};

        for (const ckpt_region &region : regions) {
            if (address(pointer) >= region.start &&
                address(pointer) < region.end) {
                return region;
            }
        }
        return none;
    }

    std::string path(const ckpt_region &region)
    {
        return arena.strings + region.path;
    }

    ckpt_arena arena{};
    ckpt_failure failure{};
    std::vector<ckpt_region> regions;
    std::vector<std::pair<char *, std::size_t>> mapped;
    std::string directory;
};

/* Memory without a file, which a restart cannot recreate. */
char *map_ring()
{
    io_uring_params parameters{};
    int fd = static_cast<int>(syscall(SYS_io_uring_setup, 1, &parameters));
    EXPECT_GE(fd, 0);
    void *memory = mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
                        IORING_OFF_SQ_RING);
    close(fd);
    return static_cast<char *>(memory);
}

TEST_F(Regions, SystemVMemoryByItsId)
{
    int id = shmget(IPC_PRIVATE, page + 1, IPC_CREAT | 0640);
    ASSERT_GE(id, 0);
    char *memory = hold(static_cast<char *>(shmat(id, nullptr, 0)), 2);
    shmctl(id, IPC_RMID, nullptr);
    ASSERT_EQ(scan(), 0) << failure.text;
    EXPECT_EQ(at(memory).kind, unsigned(CKPT_REGION_SHARED));
    EXPECT_EQ(at(memory).inode, CKPT_REGION_SYSTEM_V | unsigned(id));
    EXPECT_EQ(at(memory).device, page + 1);
    EXPECT_EQ(at(memory).mode, SHM_DEST | 0640);
}

TEST_F(Regions, KnowsTheKindsOfAnOrdinaryProcess)
{
    static int initialised = 7;
    int on_stack = 0;
    void *on_heap = sbrk(0);

    ASSERT_EQ(scan(), 0) << failure.text;
    EXPECT_EQ(at(&on_stack).kind, unsigned(CKPT_REGION_STACK));
    EXPECT_EQ(at(static_cast<char *>(on_heap) - 1).kind,
              unsigned(CKPT_REGION_HEAP));
    EXPECT_EQ(at(&initialised).kind, unsigned(CKPT_REGION_FILE));
    EXPECT_EQ(path(at(&initialised)),
              std::filesystem::read_symlink("/proc/self/exe"));
    const ckpt_region &vdso =
        at(reinterpret_cast<void *>(getauxval(AT_SYSINFO_EHDR)));
    EXPECT_EQ(vdso.kind, unsigned(CKPT_REGION_VDSO));
    EXPECT_EQ(vdso.start, ckpt_regions_vdso().start);
    EXPECT_EQ(vdso.end, ckpt_regions_vdso().end);
    for (std::size_t i = 0; i < regions.size(); i++) {
        EXPECT_NE(path(regions[i]), "[vvar]");
        EXPECT_NE(path(regions[i]), "[vsyscall]");
        EXPECT_TRUE(i == 0 || regions[i - 1].end <= regions[i].start);
    }
}

TEST_F(Regions, CutsExcludedRangesOutOfOneMapping)
{
    char *memory = hold(map(9, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS),
                        9);
    const auto range = [&](int from, int to) {
        return ckpt_range{address(memory + from * page),
                          address(memory + to * page)};
    };

    /* Out of order, overlapping, empty, and one beyond the end. */
    ASSERT_EQ(scan({range(7, 9), range(2, 4), range(3, 5), range(6, 6)}), 0);
    const auto found = within(memory, 9);
    ASSERT_EQ(found.size(), 2u);
    EXPECT_EQ(found[0].start, address(memory));
    EXPECT_EQ(found[0].end, address(memory + 2 * page));
    EXPECT_EQ(found[1].start, address(memory + 5 * page));
    EXPECT_EQ(found[1].end, address(memory + 7 * page));
}

TEST_F(Regions, CutsWhatTheKernelMerged)
{
    char *memory = hold(map(4, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS), 4);

    /* Two calls, one line in the kernel's list. */
    for (int i : {1, 2}) {
        ASSERT_NE(mmap(memory + i * page, page, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
                  MAP_FAILED);
    }
    ASSERT_EQ(scan(), 0) << failure.text;
    ASSERT_EQ(at(memory + page).end, address(memory + 3 * page));
    ASSERT_EQ(scan({{address(memory + 2 * page), address(memory + 3 * page)}}),
              0);
    EXPECT_EQ(at(memory + page).end, address(memory + 2 * page));
    EXPECT_EQ(at(memory + 2 * page).end, 0u);
}

TEST_F(Regions, KeepsTheFileOffsetRightBehindACut)
{
    int fd = make_file("cut", 6);
    char *memory = hold(map(4, PROT_READ, MAP_PRIVATE, fd, 2 * page), 4);

    close(fd);
    ASSERT_EQ(scan({{address(memory + page), address(memory + 2 * page)}}), 0);
    const auto found = within(memory, 4);
    ASSERT_EQ(found.size(), 2u);
    EXPECT_EQ(found[0].file_offset, 2 * page);
    EXPECT_EQ(found[1].file_offset, 4 * page);
    EXPECT_EQ(found[1].path, found[0].path);
}

TEST_F(Regions, AnExcludedMappingIsNotEvenJudged)
{
    char *memory = hold(map_ring(), 1);

    EXPECT_EQ(scan({{address(memory), address(memory + page)}}), 0)
        << failure.text;
    EXPECT_EQ(scan(), -ENOTSUP);
}

TEST_F(Regions, UndoesEscapesInNames)
{
    for (const std::string name : {"new\nline", "two  blanks ", "back\\slash"}) {
        int fd = make_file(name, 1);
        char *memory = hold(map(1, PROT_READ, MAP_PRIVATE, fd), 1);
        struct stat status;

        ASSERT_EQ(fstat(fd, &status), 0);
        close(fd);
        ASSERT_EQ(scan(), 0) << failure.text;
        EXPECT_EQ(path(at(memory)), directory + "/" + name);
        EXPECT_EQ(at(memory).kind, unsigned(CKPT_REGION_FILE));
        EXPECT_EQ(at(memory).inode, status.st_ino);
        EXPECT_EQ(at(memory).device, status.st_dev);
    }
}

TEST_F(Regions, SavesTheContentOfDeletedAndReplacedFiles)
{
    int deleted = make_file("deleted", 1);
    int replaced = make_file("replaced", 1);
    close(make_file("new", 1));
    char *one = hold(map(1, PROT_READ, MAP_PRIVATE, deleted), 1);
    char *two = hold(map(1, PROT_READ, MAP_PRIVATE, replaced), 1);

    close(deleted);
    close(replaced);
    ASSERT_EQ(unlink((directory + "/deleted").c_str()), 0);
    std::filesystem::rename(directory + "/new", directory + "/replaced");
    ASSERT_EQ(scan(), 0) << failure.text;
    EXPECT_EQ(at(one).kind, unsigned(CKPT_REGION_FILE));
    EXPECT_EQ(at(one).device, 0u);
    EXPECT_EQ(path(at(one)), directory + "/deleted (deleted)");
    EXPECT_EQ(at(two).kind, unsigned(CKPT_REGION_FILE));
    EXPECT_EQ(at(two).device, 0u);
}

TEST_F(Regions, KnowsSharedMemory)
{
    int fd = make_file("shared", 1);
    char *anonymous = hold(map(1, PROT_READ | PROT_WRITE,
                               MAP_SHARED | MAP_ANONYMOUS),
                           1);
    char *file = hold(map(1, PROT_READ, MAP_SHARED, fd), 1);
    int zero = open("/dev/zero", O_RDWR);
    char *zeros = hold(map(1, PROT_READ, MAP_PRIVATE, zero), 1);

    close(fd);
    close(zero);
    ASSERT_EQ(scan(), 0) << failure.text;
    EXPECT_EQ(at(anonymous).kind, unsigned(CKPT_REGION_SHARED));
    EXPECT_EQ(at(file).kind, unsigned(CKPT_REGION_FILE_SHARED));
    EXPECT_EQ(at(zeros).kind, unsigned(CKPT_REGION_ANONYMOUS));
}

TEST_F(Regions, KnowsSharedFilesThatAreWrittenTo)
{
    const int writable = PROT_READ | PROT_WRITE;
    struct stat status;

    int fd = make_file("written", 1);
    char *written = hold(map(1, writable, MAP_SHARED, fd), 1);
    char *read_only = hold(map(1, PROT_READ, MAP_SHARED, fd), 1);
    ASSERT_EQ(fstat(fd, &status), 0);
    close(fd);
    int memory_file = memfd_create("some-name", 0);
    ASSERT_EQ(ftruncate(memory_file, page), 0);
    char *memory = hold(map(1, PROT_READ, MAP_SHARED, memory_file), 1);
    close(memory_file);
    ASSERT_EQ(scan(), 0) << failure.text;
    for (char *mapped : {written, read_only}) {
        EXPECT_EQ(at(mapped).kind, unsigned(CKPT_REGION_SHARED));
        EXPECT_EQ(at(mapped).inode, status.st_ino);
        EXPECT_EQ(at(mapped).device, std::uint64_t(status.st_size));
        EXPECT_EQ(path(at(mapped)), directory + "/written");
    }
    EXPECT_EQ(at(memory).kind, unsigned(CKPT_REGION_SHARED));
    EXPECT_NE(at(memory).inode, 0u);
    EXPECT_EQ(at(memory).device, 0u);
    EXPECT_EQ(path(at(memory)), "/memfd:some-name (deleted)");
}

TEST_F(Regions, RefusesAndNamesWhatCannotBeSaved)
{
    const auto expect_refused = [&](char *memory, const std::string &name) {
        char range[64];

        snprintf(range, sizeof range, "%lx-%lx", address(memory),
                 address(memory + page));
        EXPECT_EQ(scan(), -ENOTSUP) << name;
        EXPECT_NE(std::string(failure.text).find(name), std::string::npos)
            << failure.text;
        EXPECT_NE(std::string(failure.text).find(range), std::string::npos)
            << failure.text;
        munmap(memory, page);
        EXPECT_EQ(scan(), 0) << failure.text;
    };
    expect_refused(map_ring(), "io_uring");
    const auto secret = static_cast<int>(syscall(SYS_memfd_secret, 0));
    if (secret >= 0) { /* else the kernel lacks it */
        ASSERT_EQ(ftruncate(secret, page), 0);
        expect_refused(map(1, PROT_READ | PROT_WRITE, MAP_SHARED, secret), "memfd_secret");
        close(secret);
    }
}

TEST_F(Regions, ReadsAListLongerThanOneRead)
{
    constexpr std::size_t pages = 4000; /* 2000 lines of 40 characters */
    char *memory = hold(map(pages, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS),
                        pages);

    for (std::size_t i = 0; i < pages; i += 2) {
        ASSERT_EQ(mprotect(memory + i * page, page, PROT_NONE), 0);
    }
    ASSERT_EQ(scan(), 0) << failure.text;
    const auto found = within(memory, pages);
    ASSERT_EQ(found.size(), pages);
    for (std::size_t i = 0; i < pages; i++) {
        ASSERT_EQ(found[i].start, address(memory + i * page));
        ASSERT_EQ(found[i].protection, i % 2 == 0 ? PROT_NONE : PROT_READ);
    }
}

/* The list contains its own memory, with the present protection. */
/* Data in a FIFO can be read only once. */
TEST_F(Regions, ALongListIsReadOnlyOnce)
{
    const std::string fifo = directory + "/list";
    std::string content;
    ckpt_failure failure{};
    std::size_t size = 0;
    char *text = nullptr;

    for (int i = 0; content.size() < 200000; i++) {
        content += std::to_string(i) + "\n";
    }
    ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
    std::thread writer([&] { std::ofstream(fifo) << content; });
    const int error = ckpt_proc_read(&arena, fifo.c_str(), &text, &size, &failure);
    writer.join();
    ASSERT_EQ(error, 0) << failure.text;
    EXPECT_EQ(size, content.size());
    EXPECT_STREQ(text, content.c_str());
    EXPECT_EQ(ckpt_proc_read(&arena, (fifo + "?").c_str(), &text, &size, &failure), -ENOENT);
    EXPECT_NE(std::string(failure.text).find(fifo + "?"), std::string::npos);
}

TEST_F(Regions, TheListHasItsOwnMemory)
{
    constexpr std::size_t pages = 20000;
    char *memory = hold(map(pages, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS), pages);
    ckpt_region *list = nullptr;
    std::size_t count = 0;
    ckpt_arena fresh{};

    for (std::size_t i = 0; i < pages; i += 2) {
        ASSERT_EQ(mprotect(memory + i * page, page, PROT_NONE), 0);
    }
    ASSERT_EQ(ckpt_arena_open(&fresh), 0);
    const std::string name(fresh.strings_committed - 10, 'n');
    ASSERT_NE(ckpt_arena_string(&fresh, name.c_str()), 0u);
    ASSERT_EQ(fresh.changes, 0u);
    ASSERT_EQ(ckpt_regions_scan(&fresh, nullptr, 0, &list, &count, &failure), 0);
    ASSERT_GT(fresh.changes, 1u);
    regions.assign(list, list + count);
    EXPECT_EQ(at(list).protection, unsigned(PROT_READ | PROT_WRITE));
    EXPECT_GE(at(list).end, address(list + count));
    EXPECT_EQ(at(fresh.strings + fresh.strings_committed - 1).protection,
              unsigned(PROT_READ | PROT_WRITE));
    EXPECT_EQ(at(fresh.strings + fresh.strings_committed).protection, unsigned(PROT_NONE));
    ckpt_arena_close(&fresh);
}

TEST_F(Regions, LayoutIsWhatTheKernelSays)
{
    ckpt_process_layout layout;

    ASSERT_EQ(ckpt_process_layout_read(&arena, &layout, &failure), 0)
        << failure.text;
    EXPECT_EQ(layout.brk, address(sbrk(0)));
    EXPECT_LE(layout.start_brk, layout.brk);
    EXPECT_STREQ(reinterpret_cast<const char *>(layout.arg_start),
                 program_invocation_name);
    EXPECT_EQ(address(getenv("PATH")) >= layout.env_start, true);
    EXPECT_LT(address(getenv("PATH")), layout.env_end);
    EXPECT_LT(layout.start_code, layout.end_code);
    EXPECT_EQ(layout.vdso_start, getauxval(AT_SYSINFO_EHDR));
    const auto *entry = reinterpret_cast<const unsigned long *>(layout.auxv);
    for (; entry[0] != AT_RANDOM; entry += 2) {
        ASSERT_NE(entry[0], unsigned(AT_NULL));
    }
    EXPECT_EQ(entry[1], getauxval(AT_RANDOM));
}

TEST(Cpu, NamesWhatIsMissing)
{
    std::uint32_t here[CKPT_CPU_FEATURE_WORDS];
    std::uint32_t less[CKPT_CPU_FEATURE_WORDS];
    char text[256];

    ckpt_cpu_read(here);
    EXPECT_EQ(ckpt_cpu_missing(here, here, text, sizeof text), 0);
    EXPECT_STREQ(text, "");
    std::memcpy(less, here, sizeof less);
    less[0] &= ~(1u << 20);
    less[1] &= ~(1u << 26);
    EXPECT_EQ(ckpt_cpu_missing(here, less, text, sizeof text), 2);
    EXPECT_STREQ(text, "sse4_2 sse2");
    EXPECT_EQ(ckpt_cpu_missing(less, here, text, sizeof text), 0);
    EXPECT_EQ(ckpt_cpu_missing(here, less, text, 10), 2);
    EXPECT_STREQ(text, "sse4_2 ss");

    /* A program does not depend on the presence of a hypervisor. */
    std::memcpy(less, here, sizeof less);
    less[0] &= ~(1u << 31);
    EXPECT_EQ(ckpt_cpu_missing(here, less, text, sizeof text), 0);
}

TEST(Cpu, NamesRegistersThatHaveNoRoom)
{
    std::uint32_t recorded[CKPT_CPU_FEATURE_WORDS] = {};
    std::uint32_t here[CKPT_CPU_FEATURE_WORDS] = {};
    char text[256];

    recorded[7] = 0x7;
    here[7] = 0xe7 | 1u << 18;
    EXPECT_EQ(ckpt_cpu_unexpected(recorded, here, text, sizeof text), 3);
    EXPECT_STREQ(text, "avx512-mask-state avx512-upper-state "
                       "avx512-zmm16-state");
    EXPECT_EQ(ckpt_cpu_unexpected(here, recorded, text, sizeof text), 0);
}

} // namespace
