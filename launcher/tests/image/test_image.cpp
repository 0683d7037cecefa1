/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_image.cpp - memory of a process is saved to a node file and restored from it.
 */
#include "config.h"
#include "image/nodefile/node_file_reader.hpp"
#include "image/write/node_file_writer.hpp"
#include "image/memory/page_sharing.hpp"
#include "image/memory/remote_memory.hpp"

#include "common/files/files.hpp"
#include "tests/common/child_process.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

using namespace ckpt;
using namespace ckpt::test;

namespace
{

constexpr std::uint64_t tebibyte = 1ull << 40;

Piece save(const ChildProcess &child, const std::string &directory,
           const WriterOptions &options = {}, CaptureStats *stats = nullptr)
{
    NodeFileWriter writer(directory, "n1", options);
    CaptureStats own = writer.capture(child.pid(), child.snapshot());
    if (stats != nullptr) {
        *stats = own;
    }
    return writer.commit();
}

/* Reads a region into fresh memory. */
std::vector<std::byte> load(const NodeFileReader &reader, std::size_t region,
                            int rank = 0)
{
    std::vector<std::byte> bytes(reader.rank(rank).length(region));
    reader.read_region(rank, region, bytes);
    return bytes;
}

/* Returns the region with content of this size that the child mapped. */
std::size_t region_of_size(const NodeFileReader &reader, std::size_t size)
{
    const auto &regions = reader.rank(0).regions;
    auto found = std::ranges::find_if(regions, [&](const ckpt_region &region) {
        return region.end - region.start == size;
    });
    EXPECT_NE(found, regions.end());
    return static_cast<std::size_t>(found - regions.begin());
}

std::vector<std::byte> memory_of(const ChildProcess &child,
                                 const ckpt_region &region)
{
    std::vector<std::byte> bytes(region.end - region.start);
    RemoteMemory(child.pid()).read_file_mapping(region.start, bytes, 0);
    return bytes;
}

void write_file(const std::string &path, std::size_t size, std::uint64_t seed)
{
    std::vector<std::byte> bytes(size);
    fill_random(bytes, seed);
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char *>(bytes.data()),
               static_cast<std::streamsize>(size));
}

/* A process with one region of each kind. */
void prepare_everything(Description &description, const std::string &file)
{
    fill_random(description.map(5 * mebibyte + 3 * page), 1);
    fill_text(description.map(4 * mebibyte), 2);
    description.map(3 * mebibyte);
    auto sparse = description.map(64 * mebibyte);
    sparse[20 * mebibyte + 5] = std::byte{7};
    fill_random(sparse.subspan(63 * mebibyte, mebibyte), 4);
    auto hidden = description.map(2 * mebibyte + page);
    fill_text(hidden.first(mebibyte), 5);
    ::mprotect(hidden.data(), hidden.size(), PROT_NONE);
    fill_random(description.map(7 * page, 3, CKPT_REGION_SHARED), 6);
    fill_random(description.map(9 * page, 3, CKPT_REGION_STACK), 7);
    (void)description.map_file(file, 16 * page);
    auto written = description.map_file(file, 17 * page);
    written[page] = std::byte{1};
    (void)description.map_file(file, 5 * page, 2 * page, true);

    ckpt_thread thread = {};
    thread.context = description.saved_address() + 64;
    thread.tid = 4711;
    std::strcpy(thread.name, "worker");
    description.threads = {thread, thread};
    ckpt_file open_file = {};
    open_file.descriptor = 5;
    open_file.offset = 99;
    open_file.kind = CKPT_FILE_REGULAR;
    open_file.same_as = -1;
    open_file.path = description.add_string("/data/input");
    description.files = {open_file};
    description.summary = R"({"communicators": 3})";
    description.snapshot.umask = 022;
    description.snapshot.cpu_features[3] = 0xabcd;
    description.snapshot.xsave.permitted = 1u << 18;
    description.snapshot.xsave.dynamic = 3u << 18;
    description.snapshot.xsave.offset[9] = 2688;
    description.snapshot.xsave.size[31] = 8;
}

class Codecs : public testing::TestWithParam<const char *>
{
};

} // namespace

TEST_P(Codecs, EveryRegionComesBack)
{
    ScratchDirectory scratch;
    /* 16 pages are 15 and a bit: the mapping reaches the last page's end. */
    write_file(scratch / "data", 15 * page + 100, 8);
    ChildProcess child([&](Description &description) {
        prepare_everything(description, scratch / "data");
    });
    for (std::size_t chunk : {mebibyte, 64 * std::size_t{1024}}) {
        WriterOptions options;
        options.codec = Codec::parse(GetParam());
        options.chunk_size = chunk;
        CaptureStats stats;
        Piece piece = save(child, scratch.path(), options, &stats);
        EXPECT_EQ(piece.file, "node-n1.h5");
        EXPECT_EQ(piece.ranks, std::vector<int>{0});
        EXPECT_GE(stats.seconds, stats.captured_seconds);

        NodeFileReader reader(scratch / piece.file,
                              {.threads = 0, .checksum = piece.checksum});
        EXPECT_EQ(reader.bytes(), piece.bytes);
        EXPECT_EQ(reader.codec(), options.codec.text());
        const RankImage &image = reader.rank(0);
        ASSERT_EQ(image.regions.size(), 11u);
        std::size_t references = 0;
        for (std::size_t i = 0; i < image.regions.size(); i++) {
            if (image.reference(i) != nullptr) {
                references++;
                continue;
            }
            EXPECT_EQ(load(reader, i), memory_of(child, image.regions[i]))
                << i;
        }
        EXPECT_EQ(references, 2u);
        reader.verify();
    }
}

INSTANTIATE_TEST_SUITE_P(All, Codecs,
                         testing::Values("none", "lz4", "zstd", "zstd:-5", "zstd:5",
                                         "auto"));

TEST(Image, KeepsTheDescription)
{
    ScratchDirectory scratch;
    write_file(scratch / "data", 40 * page, 8);
    ChildProcess child([&](Description &description) {
        prepare_everything(description, scratch / "data");
    });
    Piece piece = save(child, scratch.path());
    NodeFileReader reader(scratch / piece.file);
    const RankImage &image = reader.rank(0);
    ckpt_snapshot original =
        RemoteMemory(child.pid()).read_object<ckpt_snapshot>(child.snapshot());
    EXPECT_EQ(std::memcmp(&image.snapshot, &original, sizeof(original)), 0);
    EXPECT_EQ(image.threads.size(), 2u);
    EXPECT_EQ(image.threads[1].tid, 4711);
    EXPECT_STREQ(image.threads[1].name, "worker");
    ASSERT_EQ(image.files.size(), 1u);
    EXPECT_EQ(image.files[0].offset, 99u);
    EXPECT_STREQ(image.text(image.files[0].path), "/data/input");
    EXPECT_STREQ(image.text(image.snapshot.working_directory), "/tmp");
    EXPECT_EQ(image.summary, R"({"communicators": 3})");

    struct stat status;
    ASSERT_EQ(::stat((scratch / piece.file).c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, 0600u);
    EXPECT_EQ(scratch.names(), (std::vector<std::string>{"data", piece.file}));
}

TEST(Image, StoresNoChunkOfZeros)
{
    ScratchDirectory scratch;
    ChildProcess child([](Description &description) {
        auto zeros = description.map(32 * mebibyte);
        std::memset(zeros.data(), 0, zeros.size()); /* touched, yet zero */
        description.map(16 * mebibyte)[9 * mebibyte] = std::byte{1};
    });
    CaptureStats stats;
    Piece piece = save(child, scratch.path(), {}, &stats);
    NodeFileReader reader(scratch / piece.file);
    std::size_t zeros = region_of_size(reader, 32 * mebibyte);
    std::size_t one = region_of_size(reader, 16 * mebibyte);
    const auto &chunks = reader.rank(0).chunks;
    EXPECT_EQ(std::ranges::count(chunks, zeros, &ChunkRecord::region), 0);
    EXPECT_EQ(std::ranges::count(chunks, one, &ChunkRecord::region), 1);
    EXPECT_EQ(load(reader, one)[9 * mebibyte], std::byte{1});
    EXPECT_LT(piece.bytes, 256u << 10);
    EXPECT_LT(stats.bytes_read, 33 * mebibyte);
}

namespace
{

/* Gives each page different content. */
void number_pages(std::span<std::byte> memory)
{
    for (std::size_t at = 0; at < memory.size(); at += page) {
        std::size_t number = at / page + 1;
        std::memcpy(&memory[at], &number, sizeof number);
    }
}

/* Reads all private memory at once, as a restart does; it must equal the child's. */
void expect_private_memory(const NodeFileReader &reader, const ChildProcess &child)
{
    const RankImage &image = reader.rank(0);
    std::vector<std::vector<std::byte>> contents;
    std::vector<MemoryPlace> places;
    contents.reserve(image.regions.size());
    for (const ckpt_region &region : image.regions) {
        if (may_be_packed(region)) {
            places.push_back({region.start,
                              contents.emplace_back(region.end - region.start)});
        }
    }
    reader.read_pages(0, places);
    std::size_t differing = 0;
    RemoteMemory memory(child.pid());
    std::vector<std::byte> original;
    for (const MemoryPlace &place : places) {
        original.resize(place.bytes.size());
        memory.read(place.address, original);
        differing += !std::ranges::equal(place.bytes, original);
    }
    EXPECT_EQ(differing, 0u);
    reader.verify();
}

/* Returns the version in the header. */
std::string version_of(const std::string &path)
{
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    std::getline(file, line);
    return line;
}

} // namespace

TEST(Image, MemoryThatCannotBeReadIsToldByName)
{
    ScratchDirectory scratch;
    const auto secret = static_cast<int>(::syscall(SYS_memfd_secret, 0));
    if (secret < 0) {
        GTEST_SKIP() << "no secret memory here: " << std::strerror(errno);
    }
    ASSERT_EQ(::ftruncate(secret, 2 * page), 0);
    ckpt_region region = {};
    void *memory = ::mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_SHARED, secret, 0);
    ASSERT_NE(memory, MAP_FAILED);
    region.start = reinterpret_cast<std::uintptr_t>(memory);
    region.end = region.start + 2 * page;
    region.kind = CKPT_REGION_SHARED;
    region.inode = 1;
    region.mode = 0600; /* a file of that size */
    region.device = 2 * page;
    ChildProcess child([&](Description &description) {
        region.path = description.add_string("/the/secret");
        description.add_region(region);
    });
    const std::string name =
        fmt::format("memory {:x}-{:x} (/the/secret)", region.start, region.end);
    EXPECT_NE(error_of([&] { save(child, scratch.path()); }).find(name), std::string::npos);
    EXPECT_TRUE(scratch.names().empty());
    ::munmap(memory, 2 * page);
    ::close(secret);
}

TEST(Image, BeyondTheEndOfADeletedFileThereAreZeros)
{
    ScratchDirectory scratch;
    const std::string path = scratch / "data";
    write_file(path, 2 * page, 8);
    ChildProcess child([&](Description &description) {
        ckpt_file file = {};
        struct stat status;
        file.descriptor = ::open(path.c_str(), O_RDONLY);
        file.kind = CKPT_FILE_UNNAMED;
        file.same_as = -1;
        file.path = description.add_string(path);
        ASSERT_EQ(::fstat(file.descriptor, &status), 0);
        file.inode = status.st_ino;
        description.files = {file};
        description.map_file(path, 4 * page)[0] = std::byte{1};
        ::unlink(path.c_str());
    });
    NodeFileReader reader(scratch / save(child, scratch.path()).file);
    const std::size_t region = region_of_size(reader, 4 * page);
    const std::vector<std::byte> content = load(reader, region);
    EXPECT_EQ(content, memory_of(child, reader.rank(0).regions[region]));
    EXPECT_EQ(content[0], std::byte{1});
    EXPECT_NE(content[page], content[3 * page]);
}

TEST(Image, AHundredThousandRegionsAreStoredTogether)
{
    constexpr std::size_t count = 100000;
    ScratchDirectory scratch;
    ChildProcess child([](Description &description) {
        number_pages(description.map_pages(count));
    });
    Piece piece = save(child, scratch.path());
    NodeFileReader reader(scratch / piece.file);
    const RankImage &image = reader.rank(0);
    EXPECT_GT(image.regions.size(), count);
    EXPECT_TRUE(image.chunks.empty());
    EXPECT_LT(image.pages.chunks.size(), 500u);
    EXPECT_EQ(version_of(scratch / piece.file), "format 4");
    expect_private_memory(reader, child);
    const std::size_t last = region_of_size(reader, page) + count - 1;
    EXPECT_EQ(load(reader, last), memory_of(child, image.regions[last]));

    NodeFileWriter writer(scratch.path(), "n2", {});
    writer.copy(reader, 0);
    NodeFileReader copied(scratch / writer.commit().file);
    EXPECT_TRUE(copied.rank(0).chunks.empty());
    expect_private_memory(copied, child);
}

TEST(Image, PagesOfManyRegionsAreShared)
{
    ScratchDirectory scratch;
    write_file(scratch / "data", 16 * mebibyte, 8);
    ChildProcess child([&](Description &description) {
        std::span<std::byte> pages = description.map_pages(1500);
        for (std::size_t i = 0; i < 1500; i++) {
            fill_random(pages.subspan(i * page, page), 1 + i % 500); /* each three times */
        }
        /* It is mapped below them, so it comes first. */
        (void)description.map_file(scratch / "data", 16 * mebibyte);
    });
    SharingChoice sharing{Switch::on};
    WriterOptions options;
    options.codec = Codec::parse("none");
    /* Chunks that are under way at the same time share nothing. */
    options.threads = 1;
    options.sharing = &sharing;
    CaptureStats stats;
    Piece piece = save(child, scratch.path(), options, &stats);
    NodeFileReader reader(scratch / piece.file);
    EXPECT_EQ(reader.rank(0).regions.front().kind, CKPT_REGION_FILE);
    EXPECT_GE(length_of(shared_ranges(reader.rank(0))), 1000 * page);
    /* Chunks of 256 pages are stored whole: 500 pages lie in up to 3 chunks, depending on their
     * address. */
    EXPECT_LT(stats.bytes_stored, 1200 * page);
    expect_private_memory(reader, child);
}

TEST(Image, ManyRegionsThatAreNotPrivateHaveDatasets)
{
    constexpr std::size_t count = 3000;
    ScratchDirectory scratch;
    ChildProcess child([](Description &description) {
        number_pages(description.map_pages(count, CKPT_REGION_SHARED));
    });
    Piece piece = save(child, scratch.path());
    NodeFileReader reader(scratch / piece.file);
    const RankImage &image = reader.rank(0);
    EXPECT_GE(image.chunks.size(), count);
    const std::size_t first = region_of_size(reader, page);
    for (std::size_t i : {first, first + count / 2, first + count - 1}) {
        EXPECT_EQ(load(reader, i), memory_of(child, image.regions[i]));
    }
    reader.verify();
}

TEST(Image, SparseTebibyteIsNotTouched)
{
#ifdef __SANITIZE_THREAD__
    GTEST_SKIP() << "ThreadSanitizer leaves no room for so much memory";
#endif
    ScratchDirectory scratch;
    ChildProcess child([](Description &description) {
        description.map(tebibyte, PROT_NONE);
        auto sparse = description.map(2 * tebibyte);
        sparse[0] = std::byte{1};
        sparse[tebibyte] = std::byte{2};
        sparse[2 * tebibyte - 1] = std::byte{3};
    });
    std::uint64_t before = child.resident();
    Piece piece = save(child, scratch.path());
    EXPECT_EQ(child.resident(), before);
    EXPECT_LT(piece.bytes, 512u << 10);

    NodeFileReader reader(scratch / piece.file);
    std::size_t index = region_of_size(reader, 2 * tebibyte);
    void *memory = ::mmap(nullptr, 2 * tebibyte, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    auto *bytes = static_cast<std::byte *>(memory);
    reader.read_region(0, index, {bytes, 2 * tebibyte});
    EXPECT_EQ(bytes[0], std::byte{1});
    EXPECT_EQ(bytes[tebibyte], std::byte{2});
    EXPECT_EQ(bytes[2 * tebibyte - 1], std::byte{3});
    /* Only the pages with data were created. */
    std::vector<ckpt_range> runs;
    auto start = reinterpret_cast<std::uintptr_t>(memory);
    RemoteMemory(::getpid()).scan({start + page, start + tebibyte}, PageSelection::data, runs);
    EXPECT_TRUE(runs.empty());
    ::munmap(memory, 2 * tebibyte);
}

TEST(Image, BetweenRunsThereAreZeros)
{
    const std::vector<char> memory(6 * page, 'm');
    const auto start = reinterpret_cast<std::uintptr_t>(memory.data());
    const PageRanges runs{{start, start + page},
                          {start + 2 * page, start + 3 * page},
                          {start + 4 * page, start + 6 * page}};
    std::vector<char> read(4 * page, 'r');
    RemoteMemory(::getpid()).read_runs(start + page, runs, std::as_writable_bytes(std::span(read)));
    std::vector<char> expected(4 * page, 0);
    std::fill_n(expected.begin() + page, page, 'm');
    std::fill_n(expected.begin() + 3 * page, page, 'm');
    EXPECT_EQ(read, expected);
}

/* As a frozen copy, which must not get pages of its own by being read. */
TEST(Image, MemoryThatAProcessSharesWithItsCopyStaysShared)
{
    constexpr std::uint64_t exclusive = 1ull << 56; /* in an entry of the page map */
    constexpr std::size_t pages = 16;
    void *mapped = ::mmap(nullptr, pages * page, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(mapped, MAP_FAILED);
    std::memset(mapped, 'x', pages * page);
    const pid_t copy = ::fork();
    if (copy == 0) {
        ::pause();
        ::_exit(0);
    }
    const auto address = reinterpret_cast<std::uint64_t>(mapped);
    std::vector<std::byte> read(pages * page);
    std::vector<std::uint64_t> entries(pages);
    RemoteMemory(copy, RemoteMemory::ScanMethod::best, RemoteMemory::Reading::shared)
        .read_packed(std::vector<ckpt_range>{{address, address + pages * page}}, read);
    const Fd map(::open(fmt::format("/proc/{}/pagemap", copy).c_str(), O_RDONLY));
    EXPECT_EQ(::pread(map.get(), entries.data(), 8 * pages,
                      static_cast<off_t>(address / page * 8)),
              static_cast<ssize_t>(8 * pages));
    EXPECT_TRUE(std::ranges::all_of(read, [](std::byte one) { return one == std::byte{'x'}; }));
    EXPECT_TRUE(std::ranges::none_of(
        entries, [](std::uint64_t entry) { return (entry & exclusive) != 0; }));
    ::kill(copy, SIGKILL);
    ::waitpid(copy, nullptr, 0);
    ::munmap(mapped, pages * page);
}

TEST(Image, BothPageMapMethodsAgree)
{
    ScratchDirectory scratch;
    write_file(scratch / "data", 40 * page, 8);
    ChildProcess child([&](Description &description) {
        auto memory = description.map(64 * mebibyte);
        for (std::size_t at = 0; at < memory.size(); at += 37 * page) {
            memory[at] = std::byte{1};
        }
        auto file = description.map_file(scratch / "data", 40 * page);
        volatile std::byte seen = file[5 * page];
        (void)seen;
        file[7 * page] = std::byte{1};
        file[8 * page] = std::byte{1};
    });
    RemoteMemory best(child.pid());
    RemoteMemory entries(child.pid(), RemoteMemory::ScanMethod::entries);
    auto snapshot = best.read_object<ckpt_snapshot>(child.snapshot());
    auto regions = best.read_array<ckpt_region>(snapshot.regions,
                                                snapshot.region_count);
    for (const ckpt_region &region : regions) {
        for (auto selection : {PageSelection::data, PageSelection::written}) {
            std::vector<ckpt_range> left;
            std::vector<ckpt_range> right;
            best.scan({region.start, region.end}, selection, left);
            entries.scan({region.start, region.end}, selection, right);
            ASSERT_EQ(left.size(), right.size());
            for (std::size_t i = 0; i < left.size(); i++) {
                EXPECT_EQ(left[i].start, right[i].start);
                EXPECT_EQ(left[i].end, right[i].end);
            }
            if (region.kind == CKPT_REGION_FILE &&
                selection == PageSelection::written) {
                ASSERT_EQ(left.size(), 1u);
                EXPECT_EQ(left[0].start, region.start + 7 * page);
                EXPECT_EQ(left[0].end, region.start + 9 * page);
            }
        }
    }
}

TEST(Image, HoldsSeveralRanks)
{
    ScratchDirectory scratch;
    auto prepare = [](int rank) {
        return [rank](Description &description) {
            fill_random(description.map(mebibyte), 100 + rank);
            description.snapshot.rank = rank;
            description.snapshot.rank_count = 8;
        };
    };
    ChildProcess five(prepare(5));
    ChildProcess two(prepare(2));
    NodeFileWriter writer(scratch.path(), "n1", {});
    int captured = 0;
    writer.capture(five.pid(), five.snapshot(), [&] { captured++; });
    writer.capture(two.pid(), two.snapshot(), [&] { captured++; });
    EXPECT_EQ(captured, 2);
    EXPECT_NE(error_of([&] {
                  writer.capture(two.pid(), two.snapshot());
              }).find("rank 2 was saved already"),
              std::string::npos);
    Piece piece = writer.commit();
    EXPECT_EQ(piece.ranks, (std::vector<int>{2, 5}));
    NodeFileReader reader(scratch / piece.file);
    EXPECT_EQ(reader.ranks(), (std::vector<int>{2, 5}));
    for (int rank : reader.ranks()) {
        std::vector<std::byte> expected(mebibyte);
        fill_random(expected, 100 + rank);
        const auto &regions = reader.rank(rank).regions;
        auto found = std::ranges::find_if(regions, [](auto &region) {
            return region.end - region.start == mebibyte;
        });
        EXPECT_EQ(load(reader, found - regions.begin(), rank), expected);
    }
    EXPECT_NE(error_of([&] { reader.rank(3); }).find("no rank 3"),
              std::string::npos);
}

TEST(Image, MappedFileThatWasReplacedIsSavedByContent)
{
    ScratchDirectory scratch;
    write_file(scratch / "data", 16 * page, 8);
    ChildProcess child([&](Description &description) {
        (void)description.map_file(scratch / "data", 16 * page);
    });
    write_file(scratch / "new", 16 * page, 9);
    std::filesystem::rename(scratch / "new", scratch / "data");
    Piece piece = save(child, scratch.path());
    NodeFileReader reader(scratch / piece.file);
    std::size_t index = region_of_size(reader, 16 * page);
    EXPECT_EQ(reader.rank(0).reference(index), nullptr);
    std::vector<std::byte> expected(16 * page);
    fill_random(expected, 8);
    EXPECT_EQ(load(reader, index), expected);
}

TEST(Image, ReferenceKnowsAChangedFile)
{
    ScratchDirectory scratch;
    std::string path = scratch / "data";
    write_file(path, 16 * page, 8);
    ChildProcess child([&](Description &description) {
        (void)description.map_file(path, 8 * page, 2 * page);
    });
    FileIdentities identities;
    WriterOptions options;
    options.identities = &identities;
    Piece piece = save(child, scratch.path(), options);
    NodeFileReader reader(scratch / piece.file);
    std::size_t index = region_of_size(reader, 8 * page);
    const ckpt_region &region = reader.rank(0).regions[index];
    const FileReference *reference = reader.rank(0).reference(index);
    ASSERT_NE(reference, nullptr);
    auto check = [&] { require_same_file(path, region, *reference); };
    EXPECT_EQ(error_of(check), "");

    write_file(path, 16 * page, 8); /* the same bytes at another time */
    EXPECT_EQ(error_of(check), "");
    write_file(path, 16 * page, 9);
    EXPECT_NE(error_of(check).find("content differs"), std::string::npos);
    write_file(path, 17 * page, 8);
    EXPECT_NE(error_of(check).find(path), std::string::npos);
    std::filesystem::remove(path);
    EXPECT_NE(error_of(check).find(path), std::string::npos);
    EXPECT_NE(error_of([&] { load(reader, index); }).find(path),
              std::string::npos);
}

TEST(Image, RefusesWhatIsNoSnapshot)
{
    ScratchDirectory scratch;
    ChildProcess child([](Description &) {});
    auto attempt = [&](pid_t pid, std::uint64_t address) {
        return error_of([&] {
            NodeFileWriter(scratch.path(), "n1", {}).capture(pid, address);
        });
    };
    EXPECT_NE(attempt(child.pid(), child.snapshot() - 16).find("not a snapshot"),
              std::string::npos);
    EXPECT_NE(attempt(child.pid(), 0x1000).find("cannot read memory"),
              std::string::npos);
    pid_t pid = child.pid();
    child.kill();
    EXPECT_NE(attempt(pid, child.snapshot()).find("is gone"),
              std::string::npos);
    EXPECT_TRUE(scratch.names().empty());
}

TEST(Image, RefusesAnImpossibleDescription)
{
    ScratchDirectory scratch;
    auto attempt = [&](const std::function<void(Description &)> &prepare) {
        ChildProcess child(prepare);
        return error_of([&] { save(child, scratch.path()); });
    };
    EXPECT_NE(attempt([](Description &description) {
                  description.snapshot.rank = 3;
              }).find("rank 3 of"),
              std::string::npos);
    EXPECT_NE(attempt([](Description &description) {
                  ckpt_thread thread = {};
                  thread.context = 0x1000;
                  description.threads.push_back(thread);
              }).find("not in saved memory"),
              std::string::npos);
    EXPECT_NE(attempt([](Description &description) {
                  ckpt_file file = {};
                  file.path = 1u << 20;
                  description.files.push_back(file);
              }).find("path of a file"),
              std::string::npos);
    EXPECT_TRUE(scratch.names().empty());
}

TEST(Image, SaysThatPtracePermissionIsMissing)
{
    if (::geteuid() != 0) {
        GTEST_SKIP() << "needs root, to become someone else";
    }
    pid_t parent = ::getpid();
    int status = run_in_child([parent] {
        if (::setresuid(65534, 65534, 65534) != 0) {
            ::_exit(2);
        }
        std::string text = error_of([parent] { RemoteMemory memory(parent); });
        ::_exit(text.find("ptrace permission") == std::string::npos);
    });
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

TEST(Image, CanBeCancelled)
{
    ScratchDirectory scratch;
    ChildProcess child([](Description &description) {
        fill_random(description.map(8 * mebibyte), 1);
    });
    NodeFileWriter writer(scratch.path(), "n1", {});
    writer.cancel();
    EXPECT_NE(error_of([&] {
                  writer.capture(child.pid(), child.snapshot());
              }).find("cancelled"),
              std::string::npos);
    writer.abandon();
    EXPECT_TRUE(scratch.names().empty());
}

TEST(Image, ProcessThatDiesWhileItIsReadIsAnError)
{
    for (auto method : {RemoteMemory::ScanMethod::best,
                        RemoteMemory::ScanMethod::entries}) {
        ChildProcess victim([](Description &description) {
            fill_text(description.map(mebibyte), 1);
        });
        RemoteMemory memory(victim.pid(), method);
        std::uint64_t address = victim.snapshot();
        victim.kill();
        EXPECT_NE(error_of([&] {
                      memory.read_object<ckpt_snapshot>(address);
                  }).find("is gone"),
                  std::string::npos);
    }
}

/* In the child: changes its snapshot for ever, once the snapshot exists. It reads the snapshot
 * while the snapshot is made. */
__attribute__((no_sanitize("thread"))) static void keep_changing_the_snapshot(std::uint64_t home)
{
    auto *snapshot = reinterpret_cast<volatile ckpt_snapshot *>(home);
    while (snapshot->magic != CKPT_SNAPSHOT_MAGIC) {
        snapshot = reinterpret_cast<volatile ckpt_snapshot *>(
            reinterpret_cast<std::uintptr_t>(snapshot) + 16);
        if (reinterpret_cast<std::uintptr_t>(snapshot) > home + 8 * page) {
            snapshot = reinterpret_cast<volatile ckpt_snapshot *>(home);
        }
    }
    for (;;) {
        snapshot->umask = snapshot->umask + 1;
    }
}

/* While all processors are busy it may not have gone on in the time that one reading takes. */
TEST(Image, ProcessThatGoesOnWhileItIsReadIsAnError)
{
    ChildProcess child([](Description &description) {
        fill_random(description.map(32 * mebibyte), 1);
        std::thread(keep_changing_the_snapshot, description.saved_address())
            .detach();
    });
    bool released = true;
    std::string text;

    for (int i = 0; i < 100 && released; i++) {
        const ScratchDirectory scratch;
        NodeFileWriter writer(scratch.path(), "n1", {});
        released = false;
        text = error_of([&] {
            writer.capture(child.pid(), child.snapshot(), [&] { released = true; });
        });
    }
    EXPECT_FALSE(released);
    EXPECT_NE(text.find("went on while it was being saved"), text.npos) << text;
}

/* The process has gone on by then, so its memory no longer has the saved state. */
TEST(Image, CopyThatEndsWhileItIsReadIsAnError)
{
    ScratchDirectory scratch;
    ChildProcess child([](Description &description) {
        fill_random(description.map(8 * mebibyte), 1);
    });
    WriterOptions options;
    options.snapshot = SnapshotMethod::cow;
    NodeFileWriter writer(scratch.path(), "n1", options);
    bool released = false;
    StoppedProcess process{child.pid(), child.snapshot(),
                           std::make_shared<FrozenCopy>(child.pid(), Fd())};
    Beginning begun = writer.begin(process, [&] { released = true; });
    EXPECT_EQ(begun.remark, "");
    EXPECT_TRUE(released);
    pid_t pid = child.pid();
    child.kill();
    EXPECT_EQ(error_of([&] { writer.finish(begun.rank); }),
              fmt::format("process {} is gone", pid));
}

/* As under vm.overcommit_memory=2: enough memory is free, but the kernel does not commit it. */
TEST(Image, WithoutMemoryForACopyTheProcessItselfIsRead)
{
    ScratchDirectory scratch;
    ChildProcess child([](Description &description) {
        std::span<std::byte> memory = description.map(1024 * mebibyte);
        for (std::size_t at = 0; at < memory.size(); at += mebibyte / 4) {
            memory[at] = std::byte{1}; /* data in each chunk */
        }
    });
    WriterOptions options;
    options.snapshot = SnapshotMethod::memory;
    NodeFileWriter writer(scratch.path(), "n1", options);
    rlimit limit{};
    ASSERT_EQ(::getrlimit(RLIMIT_AS, &limit), 0);
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const rlimit low{pages * page + 512 * mebibyte, limit.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_AS, &low), 0);
    Beginning begun;
    const std::string text = error_of([&] {
        begun = writer.begin({child.pid(), child.snapshot()});
    });
    ASSERT_EQ(::setrlimit(RLIMIT_AS, &limit), 0);
    EXPECT_EQ(text, "");
    EXPECT_NE(begun.remark.find("not enough memory for its copy"), std::string::npos)
        << begun.remark;
    EXPECT_GT(writer.finish(begun.rank).bytes_stored, 0u);
}

TEST(Image, CopyWithoutSomeMemoryIsNotRead)
{
    ScratchDirectory scratch;
    auto describe = [](Description &description) {
        fill_random(description.map(8 * mebibyte), 1);
    };
    ChildProcess child(describe);
    ChildProcess other([](Description &) {});
    WriterOptions options;
    options.snapshot = SnapshotMethod::cow;
    NodeFileWriter writer(scratch.path(), "n1", options);
    StoppedProcess process{child.pid(), child.snapshot(),
                           std::make_shared<FrozenCopy>(other.pid(), Fd())};
    Beginning begun = writer.begin(process);
    EXPECT_NE(begun.remark.find("does not have the memory"), std::string::npos);
    CaptureStats stats = writer.finish(begun.rank);
    EXPECT_GE(stats.bytes_stored, 8 * mebibyte);
}

namespace
{

/* A small tmpfs, which only root can mount. */
class SmallDisk
{
  public:
    explicit SmallDisk(const std::string &options)
    {
        mounted_ = ::mount("tmpfs", directory_.path().c_str(), "tmpfs", 0,
                           options.c_str()) == 0;
    }
    ~SmallDisk()
    {
        if (mounted_) {
            ::umount(directory_.path().c_str());
        }
    }
    bool is_mounted() const { return mounted_; }
    const ScratchDirectory &directory() const { return directory_; }

  private:
    ScratchDirectory directory_;
    bool mounted_ = false;
};

} // namespace

TEST(FullDisk, IsReportedAndLeavesNothing)
{
    SmallDisk disk("size=4m,mode=700");
    if (!disk.is_mounted()) {
        GTEST_SKIP() << "needs root, to mount a small file system";
    }
    const ScratchDirectory &directory = disk.directory();
    for (std::size_t size : {2 * mebibyte, 4 * mebibyte - 256 * 1024,
                             4 * mebibyte, 16 * mebibyte}) {
        ChildProcess child([size](Description &description) {
            fill_random(description.map(size), 1);
        });
        std::string text = error_of([&] { save(child, directory.path()); });
        if (size < 4 * mebibyte) {
            EXPECT_EQ(text, "");
            std::filesystem::remove(directory / "node-n1.h5");
        } else {
            EXPECT_EQ(text, "no space left in " + directory.path());
        }
        EXPECT_TRUE(directory.names().empty()) << size;
    }
}

TEST(FullDisk, IsReportedWhereverItStrikes)
{
    ScratchDirectory scratch;
    ChildProcess child([](Description &description) {
        for (int i = 0; i < 12; i++) {
            fill_text(description.map(mebibyte), i);
        }
    });
    for (const char *fault : {"image-write-enospc", "image-close-enospc"}) {
        int strikes = 0;
        for (int count = 1; count < 500; count++) {
            ::setenv("CKPT_FAULT", fmt::format("{}:{}", fault, count).c_str(),
                     1);
            std::string text = error_of([&] { save(child, scratch.path()); });
            if (text.empty()) {
                break; /* there are fewer writes than that */
            }
            strikes++;
            ASSERT_EQ(text, "no space left in " + scratch.path());
            ASSERT_TRUE(scratch.names().empty()) << fault << count;
        }
        ::unsetenv("CKPT_FAULT");
        EXPECT_GT(strikes, 0) << fault;
        EXPECT_EQ(scratch.names(), std::vector<std::string>{"node-n1.h5"});
        NodeFileReader(scratch / "node-n1.h5").verify();
        std::filesystem::remove(scratch / "node-n1.h5");
    }
}

TEST(Writer, LeftoverOfADeadOneIsReplaced)
{
    ScratchDirectory scratch;
    ChildProcess child([](Description &description) {
        fill_text(description.map(mebibyte), 1);
    });
    auto die_at = [&](const char *fault) {
        return run_in_child([&] {
            ::setenv("CKPT_FAULT", fault, 1);
            save(child, scratch.path());
        });
    };
    int status = die_at("image-before-rename");
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    EXPECT_EQ(scratch.names(), std::vector<std::string>{"node-n1.h5.tmp"});
    Piece piece = save(child, scratch.path());
    EXPECT_EQ(scratch.names(), std::vector<std::string>{"node-n1.h5"});
    NodeFileReader(scratch / piece.file).verify();
    std::filesystem::remove(scratch / piece.file);

    status = die_at("image-after-rename");
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    NodeFileReader(scratch / "node-n1.h5").verify();

    status = die_at("image-during-capture:2");
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    NodeFileReader(scratch / "node-n1.h5").verify();
}

TEST(Writer, UnknownFaultIsRefused)
{
    ScratchDirectory scratch;
    ::setenv("CKPT_FAULT", "image-no-such-place", 1);
    std::string text =
        error_of([&] { NodeFileWriter(scratch.path(), "n1", {}); });
    ::unsetenv("CKPT_FAULT");
    EXPECT_NE(text.find("unknown fault"), std::string::npos);
}

TEST(Writer, NeedsItsDirectory)
{
    std::string text =
        error_of([] { NodeFileWriter("/no/such/place", "n1", {}); });
    EXPECT_NE(text.find("/no/such/place"), std::string::npos);
}
