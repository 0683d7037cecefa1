/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * codec_choice.hpp - which codec makes a chunk cost least, from what was measured.
 *
 * A chunk of S bytes costs w(S) as it is, and c(S) / T + w(cf(S)) with a codec: c(S) is
 * the time to compress it on one of T threads, cf(S) its compressed size, w() the time
 * to write so much, fsync included (Plank 1993, section 3.5).
 *
 * Thread-safe. One for each file.
 */
#pragma once

#include "image/codec.hpp"

#include <array>
#include <cstddef>
#include <functional>
#include <mutex>

namespace ckpt
{

class CodecChoice
{
  public:
    /* What a codec has made of a sample: its size, 0 if it hardly shrank. */
    struct Trial {
        std::size_t size;
        double seconds;
    };

    /* `write_rate` in bytes per second. */
    CodecChoice(double write_rate, unsigned threads);

    /*
     * How a chunk of `size` bytes is to be stored. Codecs that may be worth it are
     * tried on a sample of `sample_size` bytes; all trials in vain together take no
     * more than a small part of the time that writing takes.
     */
    ChunkCoding choose(std::size_t size, std::size_t sample_size,
                       const std::function<Trial(ChunkCoding)> &trial);

    /* Notes that `size` bytes were compressed. */
    void note(ChunkCoding coding, std::size_t size, double seconds);

  private:
    double writing(double size) const;
    double compressing(ChunkCoding coding, double size);
    bool may_try(std::size_t size);
    void add_waste(double seconds);

    const double write_rate_;
    const double threads_;

    std::mutex mutex_; /* of what follows */
    /* Seconds for a byte on one thread, by ChunkCoding; 0: not known. */
    std::array<double, 3> pace_ = {};
    double written_ = 0; /* seconds that all chunks would take as they are */
    double wasted_ = 0;  /* seconds of trials, all threads together */
};

} // namespace ckpt
