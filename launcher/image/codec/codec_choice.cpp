/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * codec_choice.cpp - compares the cost of writing with the savings of compression.
 */
#include "config.h"
#include "image/codec/codec_choice.hpp"

#include "common/invariant.hpp"

namespace ckpt
{

namespace
{

/* waste_part: the part of the uncompressed writing time that useless trials may take.
 * early_credit: the seconds that count as writing time before the first chunk. */
constexpr double waste_part = 0.02;
constexpr double early_credit = 0.1;

/* Weight of the newest measurement. */
constexpr double newest_part = 0.125;

} // namespace

CodecChoice::CodecChoice(double write_rate, unsigned threads)
    : write_rate_(write_rate), threads_(threads)
{
    CKPT_EXPECT(write_rate_ > 0 && threads_ > 0);
}

double CodecChoice::writing(double size) const
{
    return size / write_rate_;
}

/* Returns 0 for a codec that was not measured yet, so that it gets a trial. */
double CodecChoice::compressing(ChunkCoding coding, double size)
{
    CKPT_EXPECT(static_cast<std::size_t>(coding) < std::size(pace_));
    std::lock_guard lock(mutex_);
    return size * pace_[static_cast<std::size_t>(coding)] / threads_;
}

bool CodecChoice::may_try(std::size_t size)
{
    std::lock_guard lock(mutex_);
    written_ += writing(static_cast<double>(size));
    return wasted_ / threads_ <= waste_part * (written_ + early_credit);
}

void CodecChoice::add_waste(double seconds)
{
    std::lock_guard lock(mutex_);
    wasted_ += seconds;
}

ChunkCoding CodecChoice::choose(std::size_t size, std::size_t sample_size,
                                const std::function<Trial(ChunkCoding)> &trial)
{
    CKPT_EXPECT(sample_size > 0 && sample_size <= size);
    const auto bytes = static_cast<double>(size);
    ChunkCoding best = ChunkCoding::plain;
    double least = writing(bytes);
    double spent = 0;

    if (!may_try(size)) {
        return best;
    }
    for (ChunkCoding coding : {ChunkCoding::lz4, ChunkCoding::zstd}) {
        if (compressing(coding, bytes) >= least) {
            continue; /* no gain even with a compressed size of 0 */
        }
        Trial tried = trial(coding);
        spent += tried.seconds;
        if (tried.size == 0) {
            continue;
        }
        CKPT_INVARIANT(tried.size <= sample_size);
        if (compressing(coding, bytes) == 0) {
            note(coding, sample_size, tried.seconds);
        }
        double left = static_cast<double>(tried.size) /
                      static_cast<double>(sample_size);
        double cost = compressing(coding, bytes) + writing(bytes * left);
        if (cost < least) {
            best = coding;
            least = cost;
        }
    }
    if (best == ChunkCoding::plain) {
        add_waste(spent);
    }
    return best;
}

void CodecChoice::note(ChunkCoding coding, std::size_t size, double seconds)
{
    CKPT_EXPECT(size > 0 && coding != ChunkCoding::plain);
    std::lock_guard lock(mutex_);
    double &pace = pace_[static_cast<std::size_t>(coding)];
    double seen = seconds / static_cast<double>(size);
    pace = pace == 0 ? seen : pace + newest_part * (seen - pace);
}

} // namespace ckpt
