/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * write_rate.cpp - measures a file system by what is written to it anyway.
 */
#include "config.h"
#include "image/write_rate.hpp"

#include "common/durations.hpp"
#include "common/fd.hpp"
#include "common/files.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

namespace ckpt
{

namespace
{

/* Long enough for more than the latency of a disk, soon written to a slow one. */
constexpr std::size_t probe_size = 8u << 20;

/* What files below this size take tells little of larger ones. */
constexpr std::uint64_t least_noted = 16u << 20;

/* The disk was what the file waited for if fsync took more than this part of the time:
 * else it may be faster than what it was given. */
constexpr double waiting_part = 0.125;

/* Bytes that no file system makes smaller. */
std::vector<std::uint64_t> random_words(std::size_t bytes)
{
    std::vector<std::uint64_t> words(bytes / sizeof(std::uint64_t));
    std::ranges::generate(words, std::mt19937_64(bytes));
    return words;
}

} // namespace

double WriteRate::value() const
{
    std::lock_guard lock(mutex_);
    return rate_;
}

int WriteRate::probe(int fd)
{
    const std::vector<std::uint64_t> words = random_words(probe_size);
    Stopwatch watch;
    int error = write_exactly(fd, words.data(), probe_size, 0);
    if (error == 0 && ::fdatasync(fd) < 0) {
        error = errno;
    }
    double seconds = watch.seconds();
    if (error == 0 && ::ftruncate(fd, 0) < 0) {
        error = errno;
    }
    if (error == 0) {
        std::lock_guard lock(mutex_);
        rate_ = probe_size / seconds;
    }
    return error;
}

int WriteRate::probe_in(const std::filesystem::path &directory)
{
    std::string path = directory / ".rate-XXXXXX";
    Fd file(::mkostemp(path.data(), O_CLOEXEC));
    if (!file || ::unlink(path.c_str()) < 0) {
        return errno;
    }
    return probe(file.get());
}

void WriteRate::note(std::uint64_t bytes, double seconds, double syncing)
{
    if (bytes < least_noted || seconds <= 0) {
        return;
    }
    double seen = static_cast<double>(bytes) / seconds;
    std::lock_guard lock(mutex_);
    if (rate_ == 0) {
        rate_ = seen;
    } else if (syncing > waiting_part * seconds) {
        rate_ = (rate_ + seen) / 2;
    } else {
        rate_ = std::max(rate_, seen);
    }
}

} // namespace ckpt
