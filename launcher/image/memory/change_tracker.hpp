/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * change_tracker.hpp - finds the pages of a process that differ from its last committed
 * checkpoint, by write tracking in the kernel or by comparing content.
 */
#pragma once

#include "image/model/page_ranges.hpp"
#include "image/memory/page_watch.hpp"
#include "image/memory/remote_memory.hpp"

#include <xxhash.h>

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace ckpt
{

/* Not thread-safe. */
class ChangeTracker
{
  public:
    virtual ~ChangeTracker() = default;

    /* Notes the state of `ranges` while the process is stopped to be saved. `ranges` are
     * whole mappings of private anonymous memory. `excluded` are pages that the checkpoint
     * leaves out; in the next checkpoint they count as changed. Never throws: where
     * changes cannot be determined, all pages count as changed. */
    virtual void mark(const PageRanges &ranges, const PageRanges &excluded) = 0;

    /* Returns the part of `data` that has changed since the last committed checkpoint. The
     * caller calls it once after each mark(). `memory` belongs to the process, or to a
     * copy of it that was made at mark(). `data` are its pages with data in the marked
     * ranges. Throws Error. */
    virtual PageRanges changed(const RemoteMemory &memory, const PageRanges &data) = 0;

    /* Whether the caller must call changed() for a full checkpoint too, so that the next
     * checkpoint can be compared with it. */
    virtual bool compares() const { return false; }

    /* The state at the last mark() has been committed. */
    virtual void committed() = 0;

    /* Returns why all pages count as changed, if known; else an empty text. */
    virtual std::string obstacle() const { return {}; }
};

/* Tracks writes with the kernel's asynchronous write protection. */
class WatchedChanges : public ChangeTracker
{
  public:
    WatchedChanges(pid_t pid, PageWatch watch);

    void mark(const PageRanges &ranges, const PageRanges &excluded) override;
    PageRanges changed(const RemoteMemory &memory, const PageRanges &data) override;
    void committed() override;
    std::string obstacle() const override { return obstacle_; }

  private:
    pid_t pid_;
    PageWatch watch_;
    PageRanges written_;   /* since the last committed checkpoint */
    PageRanges excluded_;  /* at the last mark() */
    bool all_ = false;     /* devices may write anywhere */
    std::string obstacle_; /* found by the last mark() */
};

/* Compares 128-bit hashes of pages; reads all data each time. */
class ContentChanges : public ChangeTracker
{
  public:
    explicit ContentChanges(unsigned threads)
        : threads_(threads) {}

    void mark(const PageRanges &, const PageRanges &) override {}
    bool compares() const override { return true; }
    PageRanges changed(const RemoteMemory &memory, const PageRanges &data) override;
    void committed() override;

  private:
    struct Page {
        std::uint64_t address;
        XXH128_hash_t hash;
    };
    std::vector<Page> hash(const RemoteMemory &memory, const PageRanges &data) const;

    unsigned threads_;
    std::vector<Page> committed_, latest_; /* by ascending address */
};

} // namespace ckpt
