/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * page_watch.hpp - which pages of a process have been written to since the last look, by
 * asynchronous write protection: the kernel takes note in the page map, and the process
 * loses a fault at the first write to a page after a look, no more.
 *
 * With Linux 6.7 and later. All is over, and nothing of it left in the process, when
 * its userfaultfd, of which this has the only descriptor, is closed.
 */
#pragma once

#include "common/fd.hpp"
#include "image/page_ranges.hpp"
#include "image/pagemap_scan.hpp"

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace ckpt
{

class PageWatch
{
  public:
    /* Of the descriptor that the process makes. */
    static unsigned long descriptor_flags();

    /* Why pages of the process may be written to without the kernel knowing: it lets
     * devices, or other processes, write into its memory. Empty: they are not. */
    static std::string obstacle(pid_t pid);

    /* `descriptor`: a userfaultfd of the process, of which it knows nothing yet. Throws
     * Error if the kernel cannot do it. */
    PageWatch(pid_t pid, Fd descriptor);

    /*
     * Of private anonymous memory of the process, which stands still: the pages with
     * data that have been written to, or got there in another way, since the last look.
     * The first time these are all. Both ends of the range page-aligned, all of it mapped.
     * Throws Error: then any may have been written to.
     */
    PageRanges look(const ckpt_range &range);

  private:
    void watch(const ckpt_range &range);
    PageRanges unwatched(const ckpt_range &range) const;
    pagemap::ScanArgument protection(const ckpt_range &range) const;

    pid_t pid_;
    Fd descriptor_;
    Fd pagemap_;
    std::uint64_t categories_ = 0; /* pagemap::known_categories() */
};

} // namespace ckpt
