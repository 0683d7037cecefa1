/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * codec_comparison.cpp - compares the codecs chunk by chunk, in turn.
 */
#include "codec_comparison.hpp"

#include "common/bytes.hpp"
#include "common/durations.hpp"
#include "common/error.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <new>

namespace ckpt::bench
{

namespace
{

struct Free {
    void operator()(std::byte *memory) const
    {
        std::free(memory);
    }
};

/* Returns zeros that, unlike a vector's, take no memory before they are
 * written. */
std::unique_ptr<std::byte[], Free> zeroed_memory(std::size_t size)
{
    auto *memory = static_cast<std::byte *>(std::calloc(size, 1));
    if (memory == nullptr) {
        throw std::bad_alloc();
    }
    return std::unique_ptr<std::byte[], Free>(memory);
}

bool has_content(const RankImage &image, std::size_t region)
{
    return image.reference(region) == nullptr &&
           image.regions[region].kind != CKPT_REGION_SHARED_ELSEWHERE;
}

/* Whether the region contains the snapshot's tables (libckpt/base/arena.c). */
bool is_of_ckpt(const ckpt_region &region, const ckpt_snapshot &snapshot)
{
    auto has = [&](std::uint64_t address) {
        return region.start <= address && address < region.end;
    };
    return has(snapshot.regions) || has(snapshot.strings);
}

/* Adds another measurement of the same chunk: keeps the least times. */
void keep_least(Tally &tally, const Tally &again)
{
    tally.compress_seconds =
        std::min(tally.compress_seconds, again.compress_seconds);
    tally.decompress_seconds =
        std::min(tally.decompress_seconds, again.decompress_seconds);
}

} // namespace

Tally &Tally::operator+=(const Tally &other)
{
    chunks += other.chunks;
    bytes += other.bytes;
    bytes_left += other.bytes_left;
    compress_seconds += other.compress_seconds;
    decompress_seconds += other.decompress_seconds;
    return *this;
}

CodecComparison::CodecComparison(unsigned rounds)
    : rounds_(rounds), results_(codecs_.size()), back_(chunk_size)
{
}

void CodecComparison::add_rank(const NodeFileReader &reader, int rank)
{
    const RankImage &image = reader.rank(rank);

    for (std::size_t region = 0; region < image.regions.size(); region++) {
        if (has_content(image, region) &&
            !is_of_ckpt(image.regions[region], image.snapshot)) {
            std::size_t length = image.length(region);
            auto memory = zeroed_memory(length);
            std::span content(memory.get(), length);
            reader.read_region(rank, region, content);
            add_region(content, image.regions[region].protection != PROT_NONE);
        }
    }
}

void CodecComparison::add_region(std::span<const std::byte> content,
                                 bool is_accessible)
{
    for (std::size_t at = 0; at < content.size(); at += chunk_size) {
        std::size_t part = std::min(chunk_size, content.size() - at);
        add_chunk(content.subspan(at, part), is_accessible);
    }
}

void CodecComparison::add_chunk(std::span<const std::byte> chunk,
                                bool is_accessible)
{
    bool is_zero = is_all_zero(chunk);
    if (is_zero && !is_accessible) {
        return;
    }
    if (is_zero && !zeros_.contains(chunk.size())) {
        zeros_[chunk.size()] = measure(chunk);
    }
    Tallies found = is_zero ? zeros_[chunk.size()] : measure(chunk);
    for (std::size_t i = 0; i < codecs_.size(); i++) {
        (is_zero ? results_[i].zeros : results_[i].content) += found[i];
    }
}

CodecComparison::Tallies
CodecComparison::measure(std::span<const std::byte> chunk)
{
    Tallies tallies;

    for (unsigned round = 0; round < rounds_; round++) {
        for (std::size_t i = 0; i < codecs_.size(); i++) {
            Tally tally = measure_once(*codecs_[i], chunk);
            if (round == 0) {
                tallies.push_back(tally);
            } else {
                keep_least(tallies[i], tally);
            }
        }
    }
    return tallies;
}

Tally CodecComparison::measure_once(ChunkCodec &codec,
                                    std::span<const std::byte> chunk)
{
    Tally tally{1, chunk.size()};

    Stopwatch compression;
    tally.bytes_left = codec.compress(chunk).size();
    tally.compress_seconds = compression.seconds();

    std::span back = std::span(back_).first(chunk.size());
    std::ranges::fill(back, std::byte{0});
    Stopwatch decompression;
    codec.decompress(back);
    tally.decompress_seconds = decompression.seconds();
    if (!std::ranges::equal(back, chunk)) {
        fail("{} does not give back what it was given", codec.name());
    }
    return tally;
}

} // namespace ckpt::bench
