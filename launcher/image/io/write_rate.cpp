/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * write_rate.cpp - measures the speed of a file system from the files written to it.
 */
#include "config.h"
#include "image/io/write_rate.hpp"

#include "common/durations.hpp"
#include "common/fd.hpp"
#include "common/files/files.hpp"
#include "common/invariant.hpp"
#include "image/io/direct_io.hpp"

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>

namespace ckpt
{

namespace
{

/* Large enough to exceed a disk's latency, small enough for a slow disk. */
constexpr std::size_t probe_size = 8u << 20;
static_assert(probe_size % direct_alignment == 0); /* it is also written past the page cache */

/* Files below this size tell little about larger ones. */
constexpr std::uint64_t least_noted = 16u << 20;

/* If fsync took more than this part of the time, the disk was the bottleneck. Otherwise
 * the disk may be faster than measured. */
constexpr double waiting_part = 0.125;

/* Free space required, so that a measurement never fills the disk. */
constexpr std::uint64_t least_room = 64 * probe_size;

/* Required speed-up of direct writes. Measurements have errors, and data in the page
 * cache may be read again sooner. */
constexpr double clearly = 1.5;

/* Returns random bytes, which no file system can compress. */
AlignedBuffer random_bytes(std::size_t bytes)
{
    CKPT_EXPECT(bytes % sizeof(std::uint64_t) == 0);
    AlignedBuffer buffer = make_aligned_buffer(bytes);
    std::mt19937_64 chance(bytes);
    for (std::size_t at = 0; at < bytes; at += sizeof(std::uint64_t)) {
        const std::uint64_t word = chance();
        std::memcpy(&buffer[at], &word, sizeof(word));
    }
    return buffer;
}

/* Returns the seconds until all bytes are on the disk; sets `error`. */
double seconds_to_write(int fd, const AlignedBuffer &bytes, int &error)
{
    Stopwatch watch;
    error = write_exactly(fd, bytes.get(), probe_size, 0);
    if (error == 0 && ::fdatasync(fd) < 0) {
        error = errno;
    }
    return watch.seconds();
}

/* An open file without a name. */
struct ProbeFile {
    Fd file;
    Fd direct;
    int error = 0; /* errno, if creating the file failed */
};

ProbeFile make_probe_file(const std::filesystem::path &directory)
{
    ProbeFile probe;
    struct statvfs status;
    if (::statvfs(directory.c_str(), &status) < 0) {
        probe.error = errno;
        return probe;
    }
    if (status.f_bavail * status.f_frsize < least_room) {
        probe.error = ENOSPC;
        return probe;
    }
    std::string path = directory / ".rate-XXXXXX";
    probe.file = Fd(::mkostemp(path.data(), O_CLOEXEC));
    if (!probe.file) {
        probe.error = errno;
        return probe;
    }
    probe.direct = open_direct(path);
    probe.error = ::unlink(path.c_str()) < 0 ? errno : 0;
    return probe;
}

} // namespace

double WriteRate::value() const
{
    std::lock_guard lock(mutex_);
    return rate_;
}

int WriteRate::probe(int fd)
{
    int error = 0;
    const double seconds = seconds_to_write(fd, random_bytes(probe_size), error);
    if (error == 0 && ::ftruncate(fd, 0) < 0) {
        error = errno;
    }
    if (error == 0) {
        std::lock_guard lock(mutex_);
        rate_ = probe_size / seconds;
        CKPT_INVARIANT(rate_ > 0);
    }
    return error;
}

int WriteRate::probe_in(const std::filesystem::path &directory)
{
    const ProbeFile file = make_probe_file(directory);
    return file.error != 0 ? file.error : probe(file.file.get());
}

void WriteRate::try_direct_in(const std::filesystem::path &directory)
{
    const ProbeFile file = make_probe_file(directory);
    if (file.error != 0 || !file.direct) {
        return;
    }
    const AlignedBuffer bytes = random_bytes(probe_size);
    int error = 0, direct_error = 0;
    const double cached = seconds_to_write(file.file.get(), bytes, error);
    const double direct = seconds_to_write(file.direct.get(), bytes, direct_error);
    std::lock_guard lock(mutex_);
    if (error == 0 && direct_error == 0 && direct * clearly < cached) {
        is_direct_faster_ = true;
        rate_ = probe_size / direct;
    }
}

bool WriteRate::is_direct_faster() const
{
    std::lock_guard lock(mutex_);
    return is_direct_faster_;
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
    CKPT_INVARIANT(rate_ > 0);
}

} // namespace ckpt
