/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_restore.cpp - the parts of restore/, and whole processes that die and are restored
 * (restore_subject, restore_loader).
 */
extern "C" {
#include "memory/regions.h"
#include "restore/restore.h"
#include "restore/space.h"
#include "process/vdso.h"
#include "sys/cpu.h"
#include "process/xsave.h"
}

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <elf.h>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sched.h>
#include <string>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace
{

/* ------------------------------------------------------------------ space */

TEST(Space, PlacesWhereNothingIsAndKeepsAlignment)
{
    constexpr std::uint64_t mega = 1 << 20;
    std::vector<ckpt_range> taken = {{0x400000, 0x500000},
                                     {0x550000000000, 0x560000000000},
                                     {0x555000000000, 0x557000000000},
                                     {0x7f0000000000, 0x7ffff0000000}};
    ckpt_space space{};

    for (const ckpt_range &range : taken) {
        ASSERT_EQ(ckpt_space_use(&space, range.start, range.end), 0);
    }
    /* More than fits in the upper half of the largest hole. */
    for (std::uint64_t i = 0; i < 40; i++) {
        const std::uint64_t size = (1 + i % 3) * 1024 * 1024 * mega;
        const std::uint64_t wanted = i * 0x1000;
        const std::uint64_t start = ckpt_space_place(&space, size, wanted);

        ASSERT_NE(start, 0u);
        EXPECT_EQ(start % (2 * mega), wanted % (2 * mega));
        EXPECT_LE(start + size, std::uint64_t(CKPT_SPACE_END));
        for (const ckpt_range &range : taken) {
            EXPECT_TRUE(start >= range.end || start + size <= range.start);
        }
        taken.push_back({start, start + size});
    }
    EXPECT_EQ(ckpt_space_place(&space, CKPT_SPACE_END, 0), 0u);
    ckpt_space_close(&space);
}

/* ------------------------------------------------------------------- vDSO */

using ClockGettime = int (*)(clockid_t, timespec *);

/* A copy of this process's vDSO that can be changed and executed. */
class Vdso : public testing::Test
{
  protected:
    void SetUp() override
    {
        ckpt_regions_open();
        range = ckpt_regions_vdso();
        size = range.end - range.start;
        ASSERT_GT(size, 0u);
        own = reinterpret_cast<unsigned char *>(range.start);
        copy = make_copy();
    }

    unsigned char *make_copy()
    {
        void *memory = mmap(nullptr, size, PROT_READ | PROT_WRITE | PROT_EXEC,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        EXPECT_NE(memory, MAP_FAILED);
        return static_cast<unsigned char *>(std::memcpy(memory, own, size));
    }

    /* Every occurrence of a name in the image. */
    static std::vector<unsigned char *> find_names(unsigned char *image,
                                                   std::size_t size,
                                                   const std::string &name)
    {
        std::vector<unsigned char *> found;
        const unsigned char *wanted =
            reinterpret_cast<const unsigned char *>(name.c_str());

        for (auto *at = image;; at++) {
            at = std::search(at, image + size, wanted,
                             wanted + name.size() + 1);
            if (at == image + size) {
                return found;
            }
            found.push_back(at);
        }
    }

    static std::uint64_t symbol(unsigned char *image, const std::string &name)
    {
        const auto *header = reinterpret_cast<Elf64_Ehdr *>(image);
        const auto *sections =
            reinterpret_cast<Elf64_Shdr *>(image + header->e_shoff);

        for (int i = 0; i < header->e_shnum; i++) {
            if (sections[i].sh_type != SHT_DYNSYM) {
                continue;
            }
            const auto *symbols =
                reinterpret_cast<Elf64_Sym *>(image + sections[i].sh_offset);
            const char *strings = reinterpret_cast<char *>(
                image + sections[sections[i].sh_link].sh_offset);
            for (std::size_t k = 0;
                 k < sections[i].sh_size / sizeof *symbols; k++) {
                if (name == strings + symbols[k].st_name) {
                    return symbols[k].st_value;
                }
            }
        }
        return 0;
    }

    static void expect_works(unsigned char *image)
    {
        const std::uint64_t offset = symbol(image, "__vdso_clock_gettime");
        timespec before{};
        timespec now{};

        ASSERT_NE(offset, 0u);
        clock_gettime(CLOCK_MONOTONIC, &before);
        ASSERT_EQ(reinterpret_cast<ClockGettime>(image + offset)(
                      CLOCK_MONOTONIC, &now),
                  0);
        EXPECT_GE(now.tv_sec, before.tv_sec);
        EXPECT_LE(now.tv_sec, before.tv_sec + 10);
        EXPECT_NE(std::memcmp(image + offset,
                              reinterpret_cast<void *>(
                                  ckpt_regions_vdso().start + offset),
                              8),
                  0)
            << "nothing was redirected";
    }

    ckpt_range range{};
    std::size_t size = 0;
    unsigned char *own = nullptr;
    unsigned char *copy = nullptr;
    ckpt_failure failure{};
};

TEST_F(Vdso, RedirectedFunctionsRun)
{
    ASSERT_EQ(ckpt_vdso_redirect(copy, size, own, size, range.start, &failure),
              0)
        << failure.text;
    expect_works(copy);
    /* As after a second restart: a copy of the copy, from another kernel. */
    ASSERT_EQ(ckpt_vdso_redirect(copy, size, own, size, range.start, &failure),
              0);
    expect_works(copy);
}

TEST_F(Vdso, AFunctionThisKernelLacksBecomesASystemCall)
{
    unsigned char *older = make_copy();

    for (auto *name : find_names(older, size, "clock_gettime")) {
        name[0] = '-'; /* part of "__vdso_clock_gettime" too */
    }
    ASSERT_EQ(
        ckpt_vdso_redirect(copy, size, older, size, range.start, &failure), 0)
        << failure.text;
    expect_works(copy);
    const std::uint64_t offset = symbol(copy, "__vdso_clock_gettime");
    const unsigned char call[] = {0xb8, 228, 0, 0, 0, 0x0f, 0x05, 0xc3};
    EXPECT_EQ(std::memcmp(copy + offset, call, sizeof call), 0);
}

ClockGettime diverted_to;

int add_a_day(clockid_t clock, timespec *time)
{
    const int error = diverted_to(clock, time);

    time->tv_sec += 86400;
    return error;
}

TEST_F(Vdso, AFunctionIsLedElsewhereAfterEachRestart)
{
    const auto target = reinterpret_cast<std::uint64_t>(add_a_day);
    const std::uint64_t offset = symbol(copy, "__vdso_clock_gettime");
    std::uint64_t before = 1;

    EXPECT_EQ(ckpt_vdso_divert(copy, size, "__vdso_clock_gettime", target, &before),
              -EINVAL)
        << "it was not redirected";
    for (int restart = 0; restart < 2; restart++) {
        timespec now{};
        timespec later{};

        ASSERT_EQ(ckpt_vdso_redirect(copy, size, own, size, range.start, &failure),
                  0);
        ASSERT_EQ(ckpt_vdso_divert(copy, size, "__vdso_clock_gettime", target,
                                   &before),
                  0);
        EXPECT_EQ(before, range.start + offset);
        diverted_to = reinterpret_cast<ClockGettime>(before);
        clock_gettime(CLOCK_MONOTONIC, &now);
        ASSERT_EQ(reinterpret_cast<ClockGettime>(copy + offset)(CLOCK_MONOTONIC,
                                                                &later),
                  0);
        EXPECT_NEAR(static_cast<double>(later.tv_sec - now.tv_sec), 86400, 10);
    }
    EXPECT_EQ(ckpt_vdso_divert(copy, size, "__vdso_wonder", target, &before),
              -ENOENT);
    EXPECT_EQ(ckpt_vdso_divert(copy, 100, "__vdso_clock_gettime", target, &before),
              -EINVAL);
}

TEST_F(Vdso, ASystemCallIsLedElsewhereAndHasNoAddress)
{
    unsigned char *older = make_copy();
    std::uint64_t before = 1;

    for (auto *name : find_names(older, size, "clock_gettime")) {
        name[0] = '-'; /* part of "__vdso_clock_gettime" too */
    }
    ASSERT_EQ(
        ckpt_vdso_redirect(copy, size, older, size, range.start, &failure), 0);
    ASSERT_EQ(ckpt_vdso_divert(copy, size, "__vdso_clock_gettime", 1, &before), 0);
    EXPECT_EQ(before, 0u);
}

TEST_F(Vdso, AnUnknownFunctionIsNamed)
{
    for (auto *name : find_names(copy, size, "clock_gettime")) {
        std::memcpy(name, "wonder", 7);
    }
    EXPECT_EQ(ckpt_vdso_redirect(copy, size, own, size, range.start, &failure),
              -ENOTSUP);
    EXPECT_NE(std::string(failure.text).find("wonder"), std::string::npos)
        << failure.text;
}

TEST_F(Vdso, GarbageIsNoVdso)
{
    std::vector<unsigned char> zeros(size);

    EXPECT_EQ(ckpt_vdso_redirect(zeros.data(), size, own, size, range.start,
                                 &failure),
              -EINVAL);
    EXPECT_EQ(ckpt_vdso_redirect(copy, size, zeros.data(), size, range.start,
                                 &failure),
              -EINVAL);
    for (std::size_t cut : {0, 10, 64, 100, 300}) {
        EXPECT_EQ(ckpt_vdso_redirect(copy, cut, own, size, range.start,
                                     &failure),
                  -EINVAL);
    }
}

/* --------------------------------------------------------------- refusals */

class Refusal : public testing::Test
{
  protected:
    Refusal()
    {
        snapshot.magic = CKPT_SNAPSHOT_MAGIC;
        snapshot.version = CKPT_SNAPSHOT_VERSION;
        snapshot.strings_size = sizeof strings;
        ckpt_cpu_read(snapshot.cpu_features);
        ckpt_xsave_read(&snapshot.xsave);
    }

    int open()
    {
        ckpt_restore *restore = nullptr;

        snapshot.region_count = static_cast<std::uint32_t>(regions.size());
        const int error = ckpt_restore_open(&snapshot, regions.data(), strings,
                                            &restore, &failure);
        ckpt_restore_close(restore);
        return error;
    }

    bool says(const char *text)
    {
        return std::strstr(failure.text, text) != nullptr;
    }

    static constexpr char strings[] = "\0/no/such/file";
    ckpt_snapshot snapshot{};
    std::vector<ckpt_region> regions;
    ckpt_failure failure{};
};

TEST_F(Refusal, NamesTheMissingCpuFeature)
{
    EXPECT_EQ(open(), 0) << failure.text;
    snapshot.cpu_features[2] |= 1u << 26; /* Knights Landing only */
    EXPECT_EQ(open(), -ENOTSUP);
    EXPECT_TRUE(says("avx512pf")) << failure.text;
}

TEST_F(Refusal, NamesTheRegistersThatStandElsewhere)
{
    snapshot.xsave.size[2] = 256;
    snapshot.xsave.offset[2] = 640;
    EXPECT_EQ(open(), -ENOTSUP);
    EXPECT_TRUE(says("avx-state")) << failure.text;
}

TEST_F(Refusal, OfWrongImages)
{
    const ckpt_region good = {.start = 0x10000000,
                              .end = 0x10002000,
                              .file_offset = 0,
                              .device = 0,
                              .inode = 0,
                              .protection = PROT_READ,
                              .kind = CKPT_REGION_ANONYMOUS,
                              .path = 0,
                              .mode = 0,
                              .sharers = 0};
    const auto expect_wrong = [&](ckpt_region region, int error) {
        regions = {good, region};
        EXPECT_EQ(open(), error) << failure.text;
    };
    ckpt_region next = good;

    next.start = 0x10002000;
    next.end = 0x10003000;
    expect_wrong(next, 0);
    expect_wrong(good, -EINVAL); /* twice the same */
    ckpt_region wrong = next;
    wrong.end = wrong.start;
    expect_wrong(wrong, -EINVAL);
    wrong = next;
    wrong.end += 1;
    expect_wrong(wrong, -EINVAL);
    wrong = next;
    wrong.kind = 99;
    expect_wrong(wrong, -EINVAL);
    wrong = next;
    wrong.path = 1000;
    expect_wrong(wrong, -EINVAL);
    wrong = next;
    wrong.end = 0x800000000000;
    expect_wrong(wrong, -ENOTSUP);
    regions.clear();
    snapshot.version++;
    EXPECT_EQ(open(), -EINVAL);
}

TEST_F(Refusal, NamesTheMissingFile)
{
    ckpt_restore *restore = nullptr;
    void *memory = nullptr;

    regions = {{.start = 0x10000000,
                .end = 0x10002000,
                .file_offset = 0,
                .device = 0,
                .inode = 0,
                .protection = PROT_READ,
                .kind = CKPT_REGION_FILE,
                .path = 1,
                .mode = 0,
                .sharers = 0}};
    snapshot.region_count = 1;
    ASSERT_EQ(ckpt_restore_open(&snapshot, regions.data(), strings, &restore,
                                &failure),
              0);
    EXPECT_EQ(ckpt_restore_stage(restore, 0, 0, &memory, &failure), -ENOENT);
    EXPECT_TRUE(says("/no/such/file")) << failure.text;
    EXPECT_EQ(ckpt_restore_stage(restore, 0, 1, &memory, &failure), 0);
    ckpt_restore_close(restore);
}

/* -------------------------------------------------------- whole processes */

/* How a program ended, and its output. */
struct Ending {
    int status;
    std::string output;
};

class Processes : public testing::Test
{
  protected:
    void SetUp() override
    {
        char name[] = "/tmp/ckpt-test-XXXXXX";

        ASSERT_NE(mkdtemp(name), nullptr);
        directory = name;
        image = directory + "/image";
        data = directory + "/data";
        std::ofstream(data) << std::string(4096, 'a') << std::string(4096, 'b')
                            << std::string(8192, 'c');
    }

    void TearDown() override { std::filesystem::remove_all(directory); }

    /* Runs a program with its output in a pipe, at most 60 s. */
    Ending run(std::vector<std::string> words, bool random_addresses)
    {
        std::vector<char *> arguments;
        int ends[2];

        for (std::string &word : words) {
            arguments.push_back(word.data());
        }
        arguments.push_back(nullptr);
        EXPECT_EQ(pipe(ends), 0);
        const pid_t child = fork();
        if (child == 0) {
            dup2(ends[1], 1);
            dup2(ends[1], 2);
            close(ends[0]);
            close(ends[1]);
            alarm(60);
            personality(random_addresses ? 0 : ADDR_NO_RANDOMIZE);
            execv(arguments[0], arguments.data());
            _exit(126);
        }
        close(ends[1]);
        Ending ending{};
        char buffer[4096];
        for (ssize_t size; (size = read(ends[0], buffer, sizeof buffer)) > 0;) {
            ending.output.append(buffer, static_cast<std::size_t>(size));
        }
        close(ends[0]);
        EXPECT_EQ(waitpid(child, &ending.status, 0), child);
        return ending;
    }

    /* Kills and restores the program `rounds` times. */
    void survive(int rounds, const std::vector<std::string> &options,
                 bool random_addresses, const std::string &more = "")
    {
        const std::string count = std::to_string(rounds);
        Ending ending =
            run({"./restore_subject", image, data, count}, random_addresses);

        for (int i = 0; i < rounds; i++) {
            std::vector<std::string> words = {"./restore_loader", image};

            ASSERT_TRUE(WIFSIGNALED(ending.status) &&
                        WTERMSIG(ending.status) == SIGKILL)
                << "round " << i << ", status " << ending.status << ": "
                << ending.output;
            words.insert(words.end(), options.begin(), options.end());
            ending = run(words, random_addresses);
        }
        ASSERT_EQ(ending.status, 0) << ending.output;
        ASSERT_EQ(ending.output, "survived " + count + "\n" + more);
    }

    std::string directory;
    std::string image;
    std::string data;
};

TEST_F(Processes, ThreeRestartsInARow)
{
    survive(3, {}, true);
}

TEST_F(Processes, ThreeRestartsUnderAnotherVdso)
{
    survive(3, {"foreign-vdso"}, true);
}

TEST_F(Processes, EveryAddressCollides)
{
    survive(2, {}, false);
    survive(2, {"foreign-vdso"}, false);
}

/* Kernels may seal the mappings that they make themselves: those cannot be moved. */
TEST_F(Processes, ASealedVdsoStaysWhereItIs)
{
    if (syscall(462, nullptr, 0, 0) != 0) { /* mseal() */
        GTEST_SKIP() << "memory cannot be sealed here";
    }
    for (int i = 0; i < 5; i++) {
        survive(2, {"sealed-vdso"}, true);
    }
    survive(2, {"sealed-vdso", "foreign-vdso"}, true);
    /* At the saved one's place: executed once more. */
    survive(1, {"sealed-vdso"}, false);
}

TEST_F(Processes, AMessageLogComesAlong)
{
    survive(2, {"log", "1"}, true, "logged 2\n");
    survive(3, {"log", "100"}, true, "logged 300\n");
    survive(2, {"foreign-vdso", "log", "100"}, false, "logged 200\n");
}

TEST_F(Processes, TwentyLayouts)
{
    for (int i = 0; i < 20; i++) {
        survive(1, {}, true);
    }
}

TEST_F(Processes, AShorterFileIsRefused)
{
    Ending ending = run({"./restore_subject", image, data, "1"}, true);
    ASSERT_TRUE(WIFSIGNALED(ending.status)) << ending.output;
    std::filesystem::resize_file(data, 12288);
    ending = run({"./restore_loader", image}, true);
    EXPECT_EQ(ending.status, 1 << 8);
    EXPECT_NE(ending.output.find(data), std::string::npos) << ending.output;
    EXPECT_NE(ending.output.find("shorter"), std::string::npos)
        << ending.output;
}

} // namespace
