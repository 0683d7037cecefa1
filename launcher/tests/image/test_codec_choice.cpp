/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_codec_choice.cpp - the codec of a chunk, chosen from measured rates; and a dataset whose
 * chunks have different codecs.
 */
#include "config.h"
#include "image/codec/codec_choice.hpp"

#include "image/nodefile/chunked_dataset.hpp"
#include "image/hdf5/hdf5_filters.hpp"
#include "image/io/write_rate.hpp"
#include "tests/common/child_process.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <vector>

using namespace ckpt;
using namespace ckpt::test;

namespace
{

using Trial = CodecChoice::Trial;

constexpr std::size_t sample = 32768;
constexpr double mega = 1e6; /* bytes per second */

/* A codec of constant rate and constant ratio. */
struct Known {
    double rate; /* bytes per second */
    double left; /* ratio; 1: does not shrink */
};

/* Codecs with constant behaviour; counts how often each is tried. */
struct Codecs {
    Known lz4, zstd;
    int trials = 0;
    double seconds = 0;

    Trial operator()(ChunkCoding coding)
    {
        const Known &known = coding == ChunkCoding::lz4 ? lz4 : zstd;
        trials++;
        seconds += sample / known.rate;
        auto size = static_cast<std::size_t>(sample * known.left);
        return {known.left < 1 ? size : 0, sample / known.rate};
    }
};

ChunkCoding choose(double write_rate, unsigned threads, Codecs codecs)
{
    CodecChoice choice(write_rate, threads);
    return choice.choose(mebibyte, sample, std::ref(codecs));
}

} // namespace

/* The inequality of section 3.5, on both sides of its turning point. */
TEST(CodecChoice, WeighsTimeToCompressAgainstTimeToWrite)
{
    const Codecs typical{{500 * mega, 0.5}, {250 * mega, 0.3}};

    EXPECT_EQ(choose(20 * mega, 1, typical), ChunkCoding::zstd);
    EXPECT_EQ(choose(200 * mega, 1, typical), ChunkCoding::lz4);
    EXPECT_EQ(choose(240 * mega, 1, typical), ChunkCoding::lz4);
    EXPECT_EQ(choose(260 * mega, 1, typical), ChunkCoding::plain);
    EXPECT_EQ(choose(4000 * mega, 1, typical), ChunkCoding::plain);
    /* More threads make codecs more worthwhile. */
    EXPECT_EQ(choose(260 * mega, 2, typical), ChunkCoding::lz4);
    EXPECT_EQ(choose(10000 * mega, 64, typical), ChunkCoding::lz4);
    EXPECT_EQ(choose(2000 * mega, 64, typical), ChunkCoding::zstd);
}

TEST(CodecChoice, LeavesWhatDoesNotShrink)
{
    EXPECT_EQ(choose(mega, 1, {{500 * mega, 1}, {250 * mega, 1}}),
              ChunkCoding::plain);
    EXPECT_EQ(choose(mega, 1, {{500 * mega, 1}, {250 * mega, 0.9}}),
              ChunkCoding::zstd);
}

/* The whole chunk counts, not the first sample. */
TEST(CodecChoice, LearnsFromWhatCompressingTook)
{
    CodecChoice choice(100 * mega, 1);
    Codecs codecs{{500 * mega, 0.5}, {50 * mega, 0.1}};

    EXPECT_EQ(choice.choose(mebibyte, sample, std::ref(codecs)), ChunkCoding::lz4);
    for (int i = 0; i < 100; i++) {
        choice.note(ChunkCoding::lz4, mebibyte, mebibyte / (20 * mega));
    }
    EXPECT_EQ(choice.choose(mebibyte, sample, std::ref(codecs)), ChunkCoding::plain);
}

TEST(CodecChoice, DoesNotTryWhatCannotBeWorthIt)
{
    CodecChoice choice(400 * mega, 1);
    Codecs codecs{{500 * mega, 0.99}, {100 * mega, 0.1}};

    choice.choose(mebibyte, sample, std::ref(codecs));
    EXPECT_EQ(codecs.trials, 2);
    choice.choose(mebibyte, sample, std::ref(codecs));
    EXPECT_EQ(codecs.trials, 3); /* no zstd: it takes longer than writing */
}

/* Unsuccessful trials take a small part of the time for writing. */
TEST(CodecChoice, WastesLittle)
{
    constexpr int chunks = 20000;
    for (double rate : {100 * mega, 1000 * mega, 10000 * mega}) {
        CodecChoice choice(rate, 2);
        Codecs codecs{{5 * mega, 1}, {5 * mega, 1}}; /* slow, and without effect */
        for (int i = 0; i < chunks; i++) {
            EXPECT_EQ(choice.choose(mebibyte, sample, std::ref(codecs)),
                      ChunkCoding::plain);
        }
        double writing = static_cast<double>(chunks) * mebibyte / rate;
        EXPECT_GT(codecs.trials, 1) << rate;
        EXPECT_LT(codecs.seconds / 2, 0.02 * writing + 0.02) << rate;
    }
}

/* The choice detects a compressible region after an incompressible one. */
TEST(CodecChoice, FindsALaterChange)
{
    CodecChoice choice(100 * mega, 1);
    Codecs vain{{100 * mega, 1}, {100 * mega, 1}};
    Codecs good{{500 * mega, 0.2}, {250 * mega, 0.1}};
    int compressed = 0;

    for (int i = 0; i < 1000; i++) {
        choice.choose(mebibyte, sample, std::ref(vain));
    }
    for (int i = 0; i < 100; i++) {
        compressed += choice.choose(mebibyte, sample, std::ref(good)) !=
                      ChunkCoding::plain;
    }
    EXPECT_GT(compressed, 90);
}

TEST(WriteRate, IsProbedWithoutATrace)
{
    ScratchDirectory scratch;
    Fd fd(::open((scratch / "file").c_str(), O_RDWR | O_CREAT, 0600));
    WriteRate rate;
    struct stat status;

    EXPECT_EQ(rate.value(), 0);
    EXPECT_EQ(rate.probe(fd.get()), 0);
    EXPECT_GT(rate.value(), 0);
    ASSERT_EQ(::fstat(fd.get(), &status), 0);
    EXPECT_EQ(status.st_size, 0);
    EXPECT_EQ(WriteRate().probe(-1), EBADF);
}

TEST(WriteRate, IsProbedInADirectory)
{
    ScratchDirectory scratch;
    WriteRate rate;
    EXPECT_EQ(rate.probe_in(scratch.path()), 0);
    EXPECT_GT(rate.value(), 0);
    EXPECT_TRUE(scratch.names().empty());
    EXPECT_EQ(WriteRate().probe_in(scratch / "none"), ENOENT);
}

TEST(WriteRate, FollowsWhatWasWritten)
{
    WriteRate rate;
    constexpr std::uint64_t gigabyte = 1000000000;

    rate.note(1000, 1, 1); /* too small to measure */
    EXPECT_EQ(rate.value(), 0);
    rate.note(gigabyte, 2, 0);
    EXPECT_EQ(rate.value(), 500 * mega);
    rate.note(gigabyte, 10, 0); /* the disk was not the cause */
    EXPECT_EQ(rate.value(), 500 * mega);
    rate.note(gigabyte, 1, 0);
    EXPECT_EQ(rate.value(), 1000 * mega);
    rate.note(gigabyte, 10, 5); /* the disk was the cause */
    EXPECT_EQ(rate.value(), 550 * mega);
}

/* h5py with the usual plugins reads it in this way: through the filters. */
TEST(ChunkedDataset, MayHaveEachChunkCodedInItsOwnWay)
{
    const char *const codecs[] = {"none", "lz4", "zstd", "auto"};
    ScratchDirectory scratch;
    DriverFile driver;
    Fd fd(::open((scratch / "file.h5").c_str(), O_RDWR | O_CREAT, 0600));
    std::vector<std::byte> input(4 * mebibyte), output(mebibyte), back(4 * mebibyte);
    fill_text(input, 3);
    driver.fd = fd.get();
    /* The disk is so slow that any codec helps. */
    CodecChoice choice(mega, 1);

    Hdf5Lock lock;
    register_filters();
    Hdf5Id access = make_driver_access(driver);
    Hdf5Id file(H5Fcreate("file.h5", H5F_ACC_TRUNC, H5P_DEFAULT, access.get()));
    Hdf5Id dataset = create_chunked_dataset(file.get(), "memory", input.size(),
                                            mebibyte, Codec::parse("auto"));
    for (std::size_t i = 0; i < 4; i++) {
        Compressor compressor(Codec::parse(codecs[i]), &choice);
        EncodedChunk chunk = encode_chunk(
            std::span(input).subspan(i * mebibyte, mebibyte), output, compressor);
        EXPECT_EQ(chunk.coding == ChunkCoding::plain, i == 0);
        const ChunkRecord record =
            place_chunk(dataset, i, mebibyte, chunk, Codec::parse("auto"), driver, "it");
        ASSERT_EQ(::pwrite(fd.get(), chunk.bytes.data(), record.size,
                           static_cast<off_t>(record.offset)),
                  static_cast<ssize_t>(record.size));
    }
    ASSERT_GE(H5Dread(dataset.get(), H5T_NATIVE_UINT8, H5S_ALL, H5S_ALL, H5P_DEFAULT,
                      back.data()),
              0);
    EXPECT_EQ(back, input);
}
