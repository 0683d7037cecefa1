/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * child_process.hpp - a process for image tests that describes itself as a
 * stopped rank does, and then waits to be read.
 */
#pragma once

#include "common/error.hpp"
#include "common/fd.hpp"

#include "ckpt/snapshot.h"

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace ckpt::test
{

constexpr std::size_t page = 4096;
constexpr std::size_t mebibyte = 1u << 20;

/* Bytes that depend on the seed only; they do not compress. */
void fill_random(std::span<std::byte> bytes, std::uint64_t seed);
/* Bytes that compress well and are not zero. */
void fill_text(std::span<std::byte> bytes, std::uint64_t seed);

/* Used in the child: collects the content of its snapshot. */
class Description
{
  public:
    Description();

    /* mmap of private memory, added as a region. */
    std::span<std::byte> map(std::size_t size, int protection = 3,
                             std::uint32_t kind = CKPT_REGION_ANONYMOUS,
                             int extra_flags = 0);
    /* mmap of `count` pages, each added as a separate region. */
    std::span<std::byte> map_pages(std::size_t count,
                                   std::uint32_t kind = CKPT_REGION_ANONYMOUS);
    /* Private (or shared, read-only) mapping of a file, added as a region. */
    std::span<std::byte> map_file(const std::string &path, std::size_t size,
                                  std::size_t offset = 0, bool shared = false);
    void add_region(const ckpt_region &region) { regions_.push_back(region); }
    ckpt_string_t add_string(const std::string &text);

    ckpt_snapshot snapshot = {};
    std::vector<ckpt_thread> threads;
    std::vector<ckpt_file> files;
    std::string summary = "{}";

    /* Copies everything into a separate region; returns the address of the snapshot. */
    std::uint64_t finish();
    /* An address in saved memory, for contexts and payloads. */
    std::uint64_t saved_address() const { return home_; }

  private:
    std::uint64_t place(const void *data, std::size_t size);
    std::uint64_t place_regions();

    std::vector<ckpt_region> regions_;
    std::string strings_{'\0'};
    std::uint64_t home_;
    std::uint64_t next_;
};

/* Runs `prepare` in a child, which then waits until this object dies. */
class ChildProcess
{
  public:
    explicit ChildProcess(const std::function<void(Description &)> &prepare);
    ~ChildProcess();

    pid_t pid() const { return pid_; }
    std::uint64_t snapshot() const { return snapshot_; }
    /* Resident memory in bytes. */
    std::uint64_t resident() const;
    void kill();

  private:
    pid_t pid_ = -1;
    std::uint64_t snapshot_ = 0;
    Fd lifeline_;
};

/* Names in a directory, sorted; a temporary one without its random digits: "NAME.tmp". */
std::vector<std::string> names_in(const std::filesystem::path &directory);

/* A scratch directory, removed with its content. */
class ScratchDirectory
{
  public:
    ScratchDirectory();
    ~ScratchDirectory();
    const std::string &path() const { return path_; }
    std::string operator/(const std::string &name) const
    {
        return path_ + "/" + name;
    }
    std::vector<std::string> names() const { return names_in(path_); }

  private:
    std::string path_;
};

/* The text of the Error that `action` throws; empty if it throws none. */
std::string error_of(const std::function<void()> &action);

/* Runs `action` in a child process; returns the status of waitpid(). */
int run_in_child(const std::function<void()> &action);

} // namespace ckpt::test
