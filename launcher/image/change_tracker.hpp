/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * change_tracker.hpp - which pages of a process differ from those in its last committed
 * checkpoint: as the kernel has noted, or by their content.
 */
#pragma once

#include "image/page_ranges.hpp"
#include "image/page_watch.hpp"
#include "image/remote_memory.hpp"

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

    /* The process stands still, to be saved: `ranges`, whole mappings of private
     * anonymous memory, as they are now. Never throws for what it cannot tell: then all
     * has changed. `excluded`: pages that are not in the checkpoint, whatever they are;
     * for the next one they have changed. */
    virtual void mark(const PageRanges &ranges, const PageRanges &excluded) = 0;

    /* Once for each mark(): those of `data` that have changed since the last committed
     * checkpoint. `memory`: of the process, or of a copy of it that was made then; `data`:
     * its pages with data in these ranges. Throws Error. */
    virtual PageRanges changed(const RemoteMemory &memory, const PageRanges &data) = 0;

    /* Whether changed() is needed also if all is saved, so that the next one can be
     * compared with that. */
    virtual bool compares() const { return false; }

    /* What was marked last has been committed. */
    virtual void committed() = 0;

    /* Why all has changed, as far as it can tell; or empty. */
    virtual std::string obstacle() const { return {}; }
};

/* By asynchronous write protection. */
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
    PageRanges written_;        /* since the last committed checkpoint */
    PageRanges excluded_;       /* when it was marked last */
    bool all_ = false;          /* anything may have been written to, since then */
    std::string obstacle_;      /* when it was marked last */
};

/* By comparing hashes of 128 bits, for which all data is read each time. */
class ContentChanges : public ChangeTracker
{
  public:
    explicit ContentChanges(unsigned threads) : threads_(threads) {}

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
    std::vector<Page> committed_, latest_; /* by rising address */
};

} // namespace ckpt
