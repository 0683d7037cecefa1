/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_damage.cpp - node files that are truncated, changed or foreign are refused, each with a text
 * that says so.
 */
#include "config.h"
#include "image/hdf5/hdf5_file_driver.hpp"
#include "image/nodefile/hdf5_objects.hpp"
#include "image/nodefile/node_file_layout.hpp"
#include "image/nodefile/node_file_reader.hpp"
#include "image/nodefile/page_lookup.hpp"
#include "image/write/node_file_writer.hpp"

#include "common/files/files.hpp"
#include "tests/common/child_process.hpp"
#include "tests/common/logged_messages.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>

using namespace ckpt;
using namespace ckpt::test;

namespace
{

ChunkCoding other_coding(const ChunkRecord &chunk)
{
    return chunk.coding == ChunkCoding::plain ? ChunkCoding::zstd : ChunkCoding::plain;
}

/* A saved process with two content regions and a message log, and the file's
 * bytes. */
class Damage : public testing::Test
{
  protected:
    void SetUp() override
    {
        ChildProcess child([](Description &description) {
            fill_random(description.map(200 * page), 1);
            fill_text(description.map(2 * mebibyte), 2);
            (void)description.map_file("/proc/self/exe", 4 * page);
        });
        NodeFileWriter writer(scratch_.path(), "n1", {});
        writer.capture(child.pid(), child.snapshot());
        std::ofstream(scratch_ / "log", std::ios::binary) << message_log(100);
        writer.add_message_log(0, scratch_ / "log");
        path_ = scratch_ / writer.commit().file;
        std::ifstream file(path_, std::ios::binary);
        bytes_.assign(std::istreambuf_iterator<char>(file), {});
    }

    /* Returns the error of a reader of a file with these bytes. */
    std::string verdict(const std::string &bytes)
    {
        std::ofstream(path_, std::ios::binary | std::ios::trunc) << bytes;
        return error_of([&] { NodeFileReader(path_).verify(); });
    }

    /* Returns the error for a file in which a chunk's record was changed before the file was
     * sealed. */
    std::string
    verdict_with_record(ChunkRecord record,
                        const std::function<void(ChunkRecord &)> &change)
    {
        std::string changed = bytes_;
        std::string_view before(reinterpret_cast<const char *>(&record),
                                sizeof(record));
        std::size_t table = changed.find(before);
        EXPECT_NE(table, std::string::npos);
        change(record);
        std::memcpy(&changed[table], &record, sizeof(record));
        NodeFileHeader header =
            NodeFileHeader::parse(changed.substr(0, header_size), path_);
        std::vector<Extent> extents(header.extent_count);
        std::memcpy(extents.data(), &changed[header.extents_offset()],
                    extents.size() * sizeof(Extent));
        std::ofstream(path_, std::ios::binary | std::ios::trunc) << changed;
        Fd fd = open_file(path_, O_RDONLY, 0, "file");
        header.checksum =
            checksum_outside(fd.get(), header.bytes, extents, path_);
        changed.replace(0, header_size, header.text());
        return verdict(changed);
    }

    ScratchDirectory scratch_;
    std::string path_;
    std::string bytes_;
};

std::string output_of(const std::string &command)
{
    std::string output;
    FILE *pipe = ::popen(command.c_str(), "r");
    std::array<char, 4096> buffer;
    while (std::size_t got =
               std::fread(buffer.data(), 1, buffer.size(), pipe)) {
        output.append(buffer.data(), got);
    }
    int status = ::pclose(pipe);
    return status == 0 ? output : fmt::format("exit status {}\n", status);
}

bool contains(const std::string &text, const std::string &part)
{
    return text.find(part) != std::string::npos;
}

} // namespace

TEST_F(Damage, NoneIsFoundInAWholeFile)
{
    EXPECT_EQ(verdict(bytes_), "");
}

TEST_F(Damage, TruncationIsFoundAtEveryLength)
{
    std::mt19937 generator(1);
    std::vector<std::size_t> lengths = {0, 1, 511, 512, 513,
                                        bytes_.size() - 1};
    for (int i = 0; i < 100; i++) {
        lengths.push_back(generator() % bytes_.size());
    }
    for (std::size_t length : lengths) {
        std::string text = verdict(bytes_.substr(0, length));
        EXPECT_TRUE(contains(text, "truncated")) << length << ": " << text;
        EXPECT_TRUE(contains(text, path_));
    }
    EXPECT_TRUE(contains(verdict(bytes_ + "x"), "too long"));
}

TEST_F(Damage, EveryFlippedBitIsFound)
{
    std::mt19937 generator(2);
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < 512; i++) {
        places.push_back(i); /* the header, whole */
    }
    for (int i = 0; i < 1000; i++) {
        places.push_back(generator() % bytes_.size());
    }
    for (std::size_t i = 0; i < 200; i++) {
        places.push_back(bytes_.size() - 1 - i * 7); /* tables */
    }
    for (std::size_t place : places) {
        std::string changed = bytes_;
        changed[place] ^= static_cast<char>(1 << generator() % 8);
        std::string text = verdict(changed);
        ASSERT_FALSE(text.empty()) << "byte " << place;
        ASSERT_TRUE(contains(text, path_)) << text;
    }
}

TEST_F(Damage, ChunkIsNamed)
{
    NodeFileReader reader(path_);
    const RankImage &image = reader.rank(0);
    const ChunkRecord &chunk = image.chunks.back();
    std::string changed = bytes_;
    changed[chunk.offset + chunk.size / 2] ^= 4;
    EXPECT_EQ(verdict(changed),
              fmt::format("chunk {} of region {:x} of rank 0 in {} is "
                          "damaged: its checksum is wrong",
                          chunk.index, image.regions[chunk.region].start,
                          path_));
}

/* Damage that no checksum detects, because it was made before the checksum. */
TEST_F(Damage, HostileTablesAreRefused)
{
    NodeFileReader reader(path_);
    const ChunkRecord chunk = reader.rank(0).chunks[0];
    auto with_record = [&](const std::function<void(ChunkRecord &)> &change) {
        return verdict_with_record(chunk, change);
    };
    EXPECT_EQ(with_record([](ChunkRecord &) {}), "");
    const std::function<void(ChunkRecord &)> changes[] = {
        [](ChunkRecord &own) { own.region = 99; },
        [](ChunkRecord &own) { own.index = 1ull << 60; },
        [](ChunkRecord &own) { own.offset = ~0ull; },
        [](ChunkRecord &own) { own.size = 0; },
        [](ChunkRecord &own) { own.size = ~0u; },
        [](ChunkRecord &own) { own.coding = ChunkCoding(3); },
        [](ChunkRecord &own) { own.coding = other_coding(own); },
        [](ChunkRecord &own) { own.offset += 8; },
        [](ChunkRecord &own) { own.checksum++; },
    };
    for (const auto &change : changes) {
        EXPECT_NE(with_record(change), "") << &change - changes;
    }
}

TEST_F(Damage, HostileTablesOfLogsAreRefused)
{
    NodeFileReader reader(path_);
    const ChunkRecord chunk = reader.rank(0).message_log.chunks.at(0);
    auto with_record = [&](const std::function<void(ChunkRecord &)> &change) {
        return verdict_with_record(chunk, change);
    };
    EXPECT_EQ(with_record([](ChunkRecord &) {}), "");
    const std::function<void(ChunkRecord &)> changes[] = {
        [](ChunkRecord &own) { own.region = 1; },
        [](ChunkRecord &own) { own.index = 1; },
        [](ChunkRecord &own) { own.offset = ~0ull; },
        [](ChunkRecord &own) { own.size = 0; },
        [](ChunkRecord &own) { own.size = ~0u; },
        [](ChunkRecord &own) { own.coding = other_coding(own); },
        [](ChunkRecord &own) { own.offset += 8; },
        [](ChunkRecord &own) { own.checksum++; },
    };
    for (const auto &change : changes) {
        EXPECT_NE(with_record(change), "") << &change - changes;
    }
}

/* The check comes before memory is allocated for the list. */
TEST(Hdf5Objects, ListThatIsLongerThanItsFileIsRefused)
{
    ScratchDirectory scratch;
    const Hdf5Lock lock;
    const Hdf5Id file(
        H5Fcreate((scratch / "file").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
    const Hdf5Id type(H5Tcopy(H5T_STD_I32LE)), properties(H5Pcreate(H5P_DATASET_CREATE));
    const hsize_t rows = 1ull << 40, chunk = 1u << 16;
    std::size_t count = 0;

    ASSERT_GE(H5Pset_chunk(properties.get(), 1, &chunk), 0);
    const Hdf5Id space(H5Screate_simple(1, &rows, nullptr));
    const Hdf5Id list(H5Dcreate2(file.get(), "list", type.get(), space.get(), H5P_DEFAULT,
                                 properties.get(), H5P_DEFAULT));
    EXPECT_PRED2(contains, error_of([&] {
                     (void)open_table(file.get(), "list", type, ~std::size_t{0}, count);
                 }),
                 "dataset list has 1099511627776 elements, more than fit into the file");
}

TEST_F(Damage, ChunkOfALogIsNamed)
{
    NodeFileReader reader(path_);
    const MessageLog &log = reader.rank(0).message_log;
    std::string changed = bytes_;
    changed[log.chunks.at(0).offset + 5] ^= 4;
    EXPECT_EQ(verdict(changed),
              fmt::format("the message log of rank 0 in {}, chunk 0 is "
                          "damaged: its checksum is wrong",
                          path_));
    std::vector<std::byte> bytes(log.bytes);
    EXPECT_TRUE(contains(error_of([&] { reader.read_message_log(0, bytes); }),
                         "its checksum is wrong"));
}

TEST_F(Damage, OtherVersionsAndFilesAreRefused)
{
    std::string newer = bytes_;
    newer[newer.find("format 2") + 7] = '9';
    EXPECT_TRUE(contains(verdict(newer), "newer version 9"));
    std::string older = bytes_;
    older[older.find("format 2") + 7] = '0';
    EXPECT_TRUE(contains(verdict(older), "older version 0"));
    EXPECT_TRUE(contains(verdict(std::string(2000, 'x')),
                         "is not a node file"));
    EXPECT_TRUE(contains(verdict(bytes_.substr(512)), "is not a node file"));
}

TEST_F(Damage, FileOfAnotherCheckpointIsRefused)
{
    std::uint64_t checksum = NodeFileReader(path_).checksum();
    ReaderOptions options;
    options.checksum = checksum + 1;
    EXPECT_TRUE(contains(
        error_of([&] { NodeFileReader(path_, options); }),
        "is not the file that the manifest names"));
}

TEST_F(Damage, OtherOwnersAreRefused)
{
    if (::geteuid() != 0) {
        GTEST_SKIP() << "needs root, to give the file away";
    }
    ASSERT_EQ(::chown(path_.c_str(), 12345, 12345), 0);
    std::string text = error_of([&] { NodeFileReader reader(path_); });
    EXPECT_TRUE(contains(text, path_ + " belongs to uid 12345")) << text;
}

TEST_F(Damage, UnreadableFilesAreRefused)
{
    EXPECT_TRUE(contains(error_of([&] { NodeFileReader(path_ + "x"); }),
                         "No such file"));
    EXPECT_TRUE(contains(error_of([&] { NodeFileReader(scratch_.path()); }),
                         "not a regular file"));
    if (::geteuid() != 0) {
        GTEST_SKIP() << "needs root, to become someone else";
    }
    ASSERT_EQ(::chmod(scratch_.path().c_str(), 0755), 0);
    auto verdict_as = [&](uid_t owner, mode_t mode, const char *expected) {
        EXPECT_EQ(::chown(path_.c_str(), owner, owner), 0);
        EXPECT_EQ(::chmod(path_.c_str(), mode), 0);
        int status = run_in_child([&] {
            bool is_other = ::setresuid(65534, 65534, 65534) == 0;
            std::string text = error_of([&] { NodeFileReader reader(path_); });
            ::_exit(is_other && contains(text, expected) ? 0 : 1);
        });
        return WIFEXITED(status) && WEXITSTATUS(status) == 0;
    };
    EXPECT_TRUE(verdict_as(65534, 0, "Permission denied"));
    EXPECT_TRUE(verdict_as(0, 0600, "belongs to uid 0"));
    EXPECT_TRUE(verdict_as(0, 0644, "belongs to uid 0"));
}

TEST_F(Damage, Hdf5ReadsTheSameBytes)
{
    NodeFileReader reader(path_);
    const RankImage &image = reader.rank(0);
    Hdf5Lock lock; /* registers the zstd filter */
    Hdf5Id file(H5Fopen(path_.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
    ASSERT_TRUE(file) << take_hdf5_errors();
    std::size_t compared = 0;
    for (std::size_t i = 0; i < image.regions.size(); i++) {
        std::string name =
            "rank0/memory/" +
            node_file_names::memory_dataset(image.regions[i]);
        if (H5Lexists(file.get(), name.c_str(), H5P_DEFAULT) <= 0) {
            continue;
        }
        std::vector<std::byte> ours(image.length(i));
        std::vector<std::byte> theirs(image.length(i));
        reader.read_region(0, i, ours);
        Hdf5Id dataset(H5Dopen2(file.get(), name.c_str(), H5P_DEFAULT));
        ASSERT_GE(H5Dread(dataset.get(), H5T_NATIVE_UINT8, H5S_ALL, H5S_ALL,
                          H5P_DEFAULT, theirs.data()),
                  0)
            << take_hdf5_errors();
        EXPECT_EQ(ours, theirs) << name;
        compared++;
    }
    EXPECT_EQ(compared, 3u);
}

/* A chunk needs a size of its content, to divide by. */
TEST(PageRuns, ChunksOfNoPagesAreRefused)
{
    RankImage image{};
    image.pages.bytes = 0;
    image.pages.chunks.push_back({0, 4096, 0, 0, 100, ChunkCoding::zstd, 0});
    EXPECT_THROW(require_sane_page_runs(image, 2 << 20, {1 << 20, 0}, "rank 0"), Error);
    image.pages.chunks.clear();
    EXPECT_NO_THROW(require_sane_page_runs(image, 2 << 20, {1 << 20, 0}, "rank 0"));
}

TEST_F(Damage, Hdf5ToolsReadTheFile)
{
    if (std::system("command -v h5ls h5dump >/dev/null") != 0) {
        GTEST_SKIP() << "needs the package hdf5-tools";
    }
    std::string listing = output_of("h5ls -r " + path_);
    EXPECT_TRUE(contains(listing, "/rank0/memory")) << listing;
    EXPECT_TRUE(contains(listing, "/rank0/regions")) << listing;
    EXPECT_TRUE(contains(listing, "Dataset {2097152}")) << listing;
    std::string dump = output_of("h5dump -d /rank0/regions " + path_);
    EXPECT_TRUE(contains(dump, "/proc/self/exe") ||
                contains(dump, "\"protection\""))
        << dump;
    EXPECT_TRUE(contains(listing, "/rank0/message_log")) << listing;
    EXPECT_TRUE(contains(output_of("h5dump -A " + path_), "zstd:1"));
}
