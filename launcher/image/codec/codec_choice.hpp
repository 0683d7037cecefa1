/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * codec_choice.hpp - chooses the cheapest codec for a chunk from measurements.
 *
 * A chunk of S bytes costs w(S) uncompressed, and c(S) / T + w(cf(S)) with a codec.
 * Here c(S) is the time to compress it on one of T threads, cf(S) its compressed size,
 * and w() the time to write so many bytes, fsync included (Plank 1993, section 3.5).
 *
 * Thread-safe. There is one object per file.
 */
#pragma once

#include "image/codec/codec.hpp"

#include <array>
#include <cstddef>
#include <functional>
#include <mutex>

namespace ckpt
{

class CodecChoice
{
  public:
    /* The result of compressing a sample: its size, or 0 if it hardly shrank; and the
     * time. */
    struct Trial {
        std::size_t size;
        double seconds;
    };

    /* `write_rate`: bytes per second. */
    CodecChoice(double write_rate, unsigned threads);

    /*
     * Chooses how to store a chunk of `size` bytes. Calls `trial` on a sample of
     * `sample_size` bytes for codecs that may pay off. All useless trials together take
     * no more than a small part of the writing time.
     */
    ChunkCoding choose(std::size_t size, std::size_t sample_size,
                       const std::function<Trial(ChunkCoding)> &trial);

    /* Records the time that compressing `size` bytes took. */
    void note(ChunkCoding coding, std::size_t size, double seconds);

  private:
    double writing(double size) const;
    double compressing(ChunkCoding coding, double size);
    bool may_try(std::size_t size);
    void add_waste(double seconds);

    const double write_rate_;
    const double threads_;

    std::mutex mutex_; /* guards the following members */
    /* Seconds per byte on one thread, by ChunkCoding; 0: not measured yet. */
    std::array<double, 3> pace_ = {};
    double written_ = 0; /* seconds to write all chunks so far uncompressed */
    double wasted_ = 0;  /* seconds of useless trials, summed over all threads */
};

} // namespace ckpt
