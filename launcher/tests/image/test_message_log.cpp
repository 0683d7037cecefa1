/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_message_log.cpp - the log of a rank is checked, saved to a node file and
 * restored.
 */
#include "config.h"
#include "common/files/files.hpp"
#include "image/nodefile/hdf5_objects.hpp"
#include "image/nodefile/message_log_content.hpp"
#include "image/nodefile/message_log_file.hpp"
#include "image/nodefile/node_file_reader.hpp"
#include "image/write/node_file_writer.hpp"

#include "tests/common/child_process.hpp"
#include "tests/common/logged_messages.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <vector>

using namespace ckpt;
using namespace ckpt::test;

namespace
{

constexpr std::size_t header = sizeof(ckpt_logged_message);

std::span<const std::byte> bytes_of(const std::string &text)
{
    return std::as_bytes(std::span(text));
}

std::string text_of(std::span<const std::byte> bytes)
{
    return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

/* Returns the verdict of the check on a log that comes in parts of this
 * size. */
std::string verdict(const std::string &log, std::size_t part = SIZE_MAX,
                    std::uint64_t *messages = nullptr)
{
    return error_of([&] {
        MessageLogCheck check(log.size(), "the log");
        std::span left = bytes_of(log);
        while (!left.empty()) {
            std::size_t size = std::min(part, left.size());
            check.add(left.first(size));
            left = left.subspan(size);
        }
        std::uint64_t count = check.finish();
        if (messages != nullptr) {
            *messages = count;
        }
    });
}

bool contains(const std::string &text, const std::string &part)
{
    return text.find(part) != std::string::npos;
}

void write_file(const std::string &path, const std::string &text)
{
    std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

} // namespace

/* ---- The rules -------------------------------------------------------------
 */

TEST(MessageLog, PartsMayHaveAnySize)
{
    const std::string log = message_log(30);
    for (std::size_t part : {1u, 7u, 47u, 48u, 49u, 4096u, 1u << 20}) {
        std::uint64_t messages = 0;
        EXPECT_EQ(verdict(log, part, &messages), "");
        EXPECT_EQ(messages, 30u);
    }
    std::uint64_t none = 1;
    EXPECT_EQ(verdict("", 1, &none), "");
    EXPECT_EQ(none, 0u);
}

TEST(MessageLog, MessagesMayArriveInAnyOrder)
{
    EXPECT_EQ(verdict(logged_message(5, "five") + logged_message(2, "") +
                      logged_message(3, "three")),
              "");
    EXPECT_EQ(verdict(logged_message(5, "five") + logged_message(2, "two") +
                      logged_message(5, "again")),
              "the log is damaged: two messages are number 5");
}

TEST(MessageLog, TruncationIsFoundAtEveryLength)
{
    const std::string first = logged_message(0, "of 12 bytes.");
    const std::string log = first + logged_message(1, "x");
    ASSERT_EQ(first.size(), header + 16);
    for (std::size_t length = 1; length < log.size(); length++) {
        for (std::size_t part : {std::size_t{5}, SIZE_MAX}) {
            std::string text = verdict(log.substr(0, length), part);
            if (length == first.size()) {
                EXPECT_EQ(text, "");
                continue;
            }
            EXPECT_EQ(text,
                      fmt::format("the log is truncated: it ends within "
                                  "the message at byte {}",
                                  length < first.size() ? 0 : first.size()))
                << length;
        }
    }
}

TEST(MessageLog, DamagedRecordsAreRefused)
{
    const std::string log = message_log(3) + logged_message(3, "odd");
    const std::size_t last = log.size() - header - 8;
    auto with = [&](std::size_t offset, auto value) {
        std::string changed = log;
        std::memcpy(&changed[last + offset], &value, sizeof value);
        return verdict(changed, 100);
    };
    const std::string no_message =
        fmt::format("the log is damaged: there is no message at byte {}", last);
    EXPECT_EQ(with(offsetof(ckpt_logged_message, magic), 1), no_message);
    EXPECT_EQ(with(offsetof(ckpt_logged_message, reserved), 1), no_message);
    EXPECT_EQ(with(offsetof(ckpt_logged_message, source), -1), no_message);
    for (std::uint64_t size :
         {std::uint64_t{9}, ~std::uint64_t{0}, ~std::uint64_t{0} - header}) {
        EXPECT_TRUE(contains(with(offsetof(ckpt_logged_message, size), size),
                             "truncated"))
            << size;
    }
    EXPECT_EQ(with(offsetof(ckpt_logged_message, size), std::uint64_t{2}),
              fmt::format("the log is damaged: there is something between the "
                          "messages before byte {}",
                          log.size()));
    EXPECT_TRUE(contains(verdict(log + std::string(header, '\0')),
                         "no message at byte"));
}

/* ---- The rank's file
 * --------------------------------------------------------- */

TEST(MessageLogFile, IsReadInChunksWithZerosBehindItsEnd)
{
    ScratchDirectory scratch;
    const std::string log = message_log(4);
    write_file(scratch / "log", log);
    MessageLogFile file(scratch / "log");
    ASSERT_EQ(file.bytes(), log.size());
    std::string read;
    while (read.size() < log.size()) {
        std::vector<std::byte> chunk(1000, std::byte{1});
        file.read(chunk);
        read += text_of(chunk);
    }
    EXPECT_EQ(file.finish(), 4u);
    EXPECT_EQ(read.substr(0, log.size()), log);
    EXPECT_EQ(read.find_first_not_of('\0', log.size()), std::string::npos);
}

TEST(MessageLogFile, OneThatIsNotThereIsEmpty)
{
    ScratchDirectory scratch;
    MessageLogFile file(scratch / "no-log");
    EXPECT_EQ(file.bytes(), 0u);
    EXPECT_EQ(file.finish(), 0u);
}

TEST(MessageLogFile, WhatIsNoFileOfOursIsRefused)
{
    ScratchDirectory scratch;
    auto opening = [&](const char *name) {
        return error_of([&] { MessageLogFile file(scratch / name); });
    };
    EXPECT_TRUE(contains(opening("."), "is not a file of ours"));
    ASSERT_EQ(::mkfifo((scratch / "pipe").c_str(), 0600), 0);
    EXPECT_TRUE(contains(opening("pipe"), "is not a file of ours"));
    write_file(scratch / "log", message_log(1));
    std::filesystem::create_symlink("log", scratch / "link");
    EXPECT_TRUE(contains(opening("link"), "link"));
    EXPECT_EQ(opening("log"), "");
}

TEST(MessageLogFile, OneThatGrowsIsRefused)
{
    ScratchDirectory scratch;
    const std::string log = message_log(2);
    write_file(scratch / "log", log);
    MessageLogFile file(scratch / "log");
    std::vector<std::byte> chunk(log.size());
    file.read(chunk);
    std::ofstream(scratch / "log", std::ios::app) << logged_message(2, "");
    EXPECT_TRUE(contains(error_of([&] { file.finish(); }), "being written"));
}

/* ---- The image
 * --------------------------------------------------------------- */

namespace
{

/* Two saved ranks, and a file for the log of each. */
class LogInImage : public testing::Test
{
  protected:
    LogInImage()
    {
        for (int rank = 0; rank < 2; rank++) {
            children_.push_back(
                std::make_unique<ChildProcess>([rank](Description &own) {
                    own.snapshot.rank = rank;
                    own.snapshot.rank_count = 2;
                    fill_text(own.map(3 * page), 1);
                }));
        }
    }

    std::unique_ptr<NodeFileWriter> writer(const WriterOptions &options = {})
    {
        auto writer =
            std::make_unique<NodeFileWriter>(scratch_.path(), "n1", options);
        for (const auto &child : children_) {
            writer->capture(child->pid(), child->snapshot());
        }
        return writer;
    }

    std::string log_path(int rank) const
    {
        return message_log_path(scratch_.path(), rank);
    }

    std::string read_log(const NodeFileReader &reader, int rank) const
    {
        std::vector<std::byte> bytes(reader.rank(rank).message_log.bytes);
        reader.read_message_log(rank, bytes);
        return text_of(bytes);
    }

    ScratchDirectory scratch_;
    std::vector<std::unique_ptr<ChildProcess>> children_;
};

class LogsInImages : public LogInImage,
                     public testing::WithParamInterface<const char *>
{
};

} // namespace

TEST_P(LogsInImages, ComeBack)
{
    std::vector<std::byte> noise(300000);
    fill_random(noise, 3);
    const std::string log =
        message_log(200) + logged_message(1000, std::string(500000, '\0')) +
        logged_message(1001, text_of(noise)) + logged_message(1002, "");
    for (std::size_t chunk_size : {4 * page, mebibyte, 64 * mebibyte}) {
        WriterOptions options;
        options.codec = Codec::parse(GetParam());
        options.chunk_size = chunk_size;
        write_file(log_path(1), log);
        auto writer = this->writer(options);
        writer->add_message_log(0, log_path(0));
        writer->add_message_log(1, log_path(1));
        Piece piece = writer->commit();

        NodeFileReader reader(scratch_ / piece.file);
        EXPECT_EQ(reader.rank(0).message_log.messages, 0u);
        EXPECT_EQ(reader.rank(0).message_log.bytes, 0u);
        const MessageLog &own = reader.rank(1).message_log;
        EXPECT_EQ(own.messages, 203u);
        EXPECT_EQ(own.bytes, log.size());
        if (chunk_size == 4 * page) { /* zero chunks are not stored */
            EXPECT_LT(own.chunks.size(), log.size() / chunk_size - 25);
        }
        EXPECT_EQ(read_log(reader, 0), "");
        EXPECT_TRUE(read_log(reader, 1) == log);
        std::uint64_t last = 0, total = 0;
        reader.verify([&](std::uint64_t done, std::uint64_t all) {
            last = std::max(last, done);
            total = all;
        });
        EXPECT_EQ(last, total);
    }
}

INSTANTIATE_TEST_SUITE_P(Codecs, LogsInImages,
                         testing::Values("none", "zstd:1", "zstd:3"));

TEST_F(LogInImage, AnEmptyLogLeavesNoTrace)
{
    write_file(log_path(0), "");
    auto writer = this->writer();
    writer->add_message_log(0, log_path(0));
    writer->add_message_log(1, log_path(1)); /* does not exist */
    NodeFileReader reader(scratch_ / writer->commit().file);
    reader.verify();
    std::ifstream file(scratch_ / "node-n1.h5");
    std::string line;
    std::getline(file, line);
    std::getline(file, line);
    EXPECT_EQ(line, "format 1"); /* older programs read it, too */
}

TEST_F(LogInImage, ALogMakesItVersion2)
{
    write_file(log_path(0), message_log(1));
    auto writer = this->writer();
    writer->add_message_log(0, log_path(0));
    std::string path = scratch_ / writer->commit().file;
    NodeFileReader(path).verify();
    std::fstream file(path, std::ios::in | std::ios::out);
    file.seekp(static_cast<long>(std::strlen("ckpt node file\nformat ")));
    ASSERT_EQ(file.peek(), '2');
    file << '1';
    file.close();
    EXPECT_TRUE(contains(error_of([&] { NodeFileReader reader(path); }),
                         "is damaged: it is not of version 1 inside"));
}

TEST_F(LogInImage, ADamagedLogIsRefusedAndNothingStays)
{
    for (const std::string &log :
         {message_log(9).substr(0, 30000), logged_message(1, "") + "x",
          logged_message(1, "a") + logged_message(1, "b")}) {
        write_file(log_path(1), log);
        auto writer = this->writer();
        std::string text =
            error_of([&] { writer->add_message_log(1, log_path(1)); });
        EXPECT_TRUE(contains(text, log_path(1))) << text;
        writer.reset();
        EXPECT_EQ(scratch_.names(), std::vector<std::string>{"rank-1.log"});
    }
}

TEST_F(LogInImage, EachSavedRankHasOneLog)
{
    write_file(log_path(0), message_log(1));
    auto writer = this->writer();
    EXPECT_TRUE(
        contains(error_of([&] { writer->add_message_log(2, log_path(0)); }),
                 "rank 2 has a message log but was not saved"));
    writer->add_message_log(0, log_path(0));
    EXPECT_NE(error_of([&] { writer->add_message_log(0, log_path(0)); }), "");
}

TEST_F(LogInImage, ACancelledWriterTakesNone)
{
    write_file(log_path(0), message_log(1));
    auto writer = this->writer();
    writer->cancel();
    EXPECT_TRUE(
        contains(error_of([&] { writer->add_message_log(0, log_path(0)); }),
                 "cancelled"));
}

TEST_F(LogInImage, AFullDiskIsReported)
{
    write_file(log_path(0), message_log(100));
    auto writer = this->writer();
    ::setenv("CKPT_FAULT", "image-write-enospc", 1);
    std::string text =
        error_of([&] { writer->add_message_log(0, log_path(0)); });
    ::unsetenv("CKPT_FAULT");
    EXPECT_EQ(text, "no space left in " + scratch_.path());
}

/* Errors that no checksum detects, because the file was written with them. */
TEST_F(LogInImage, AWrongDescriptionIsRefused)
{
    write_file(log_path(0), message_log(100));
    WriterOptions options;
    options.chunk_size = 16 * page;
    auto writer = this->writer(options);
    writer->add_message_log(0, log_path(0));
    std::string path = scratch_ / writer->commit().file;
    Fd fd = open_file(path, O_RDONLY, 0, "node file");
    const std::uint64_t file_bytes = std::filesystem::file_size(path);
    const MessageLog right = NodeFileReader(path).rank(0).message_log;
    ASSERT_GT(right.chunks.size(), 3u);

    auto verdict = [&](const std::function<void(MessageLog &)> &change) {
        MessageLog log = right;
        change(log);
        std::vector<std::byte> bytes(right.bytes);
        std::string when_read, when_verified;
        std::string when_opened = error_of([&] {
            MessageLogContent content(fd.get(), {file_bytes, 0}, log,
                                      options.chunk_size, "the log");
            when_read = error_of([&] { content.read(bytes, 2); });
            when_verified = error_of([&] { content.verify([](auto) {}); });
        });
        EXPECT_EQ(when_read, when_verified);
        return when_opened + when_verified;
    };
    EXPECT_EQ(verdict([](MessageLog &) {}), "");
    EXPECT_EQ(verdict([](MessageLog &log) { log.messages++; }),
              "the log is damaged: it has 100 messages, not 101");
    EXPECT_TRUE(contains(verdict([](MessageLog &log) { log.messages = 0; }),
                         "impossible number"));
    EXPECT_TRUE(contains(
        verdict([](MessageLog &log) { log.messages = log.bytes / header + 1; }),
        "impossible number"));
    EXPECT_TRUE(contains(
        verdict([](MessageLog &log) { log.chunks.erase(log.chunks.begin()); }),
        "no message at byte 0"));
    for (const std::function<void(MessageLog &)> &change :
         std::initializer_list<std::function<void(MessageLog &)>>{
             [](MessageLog &log) { std::swap(log.chunks[0], log.chunks[1]); },
             [](MessageLog &log) { log.chunks[1] = log.chunks[0]; },
             [](MessageLog &log) { log.chunks.back().index++; },
             [](MessageLog &log) { log.chunks[2].region = 1; },
             [](MessageLog &log) { log.chunks[2].offset = ~0ull; }}) {
        EXPECT_TRUE(contains(verdict(change), "impossible record"));
    }
}

TEST_F(LogInImage, Hdf5ReadsTheSameBytes)
{
    const std::string log = message_log(50);
    write_file(log_path(1), log);
    WriterOptions options;
    options.chunk_size = 4 * page;
    auto writer = this->writer(options);
    writer->add_message_log(1, log_path(1));
    std::string path = scratch_ / writer->commit().file;

    Hdf5Lock lock; /* registers the zstd filter */
    Hdf5Id file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
    ASSERT_TRUE(file) << take_hdf5_errors();
    Hdf5Id dataset(H5Dopen2(file.get(), "rank1/message_log", H5P_DEFAULT));
    ASSERT_TRUE(dataset) << take_hdf5_errors();
    EXPECT_EQ(read_number_attribute(dataset.get(), "messages"), 50u);
    EXPECT_EQ(read_number_attribute(dataset.get(), "bytes"), log.size());
    std::string theirs(log.size(), '\1');
    ASSERT_GE(H5Dread(dataset.get(), H5T_NATIVE_UINT8, H5S_ALL, H5S_ALL,
                      H5P_DEFAULT, theirs.data()),
              0)
        << take_hdf5_errors();
    EXPECT_TRUE(theirs == log);
}
