/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * page_watch.hpp - finds the pages of a process that were written since the last look, by
 * asynchronous write protection. The kernel records writes in the page map; the process
 * only takes one page fault at the first write to a page after a look.
 *
 * Needs Linux 6.7 or later. This object has the only descriptor of the process's
 * userfaultfd. When it is closed, the watch ends and leaves nothing behind in the process.
 */
#pragma once

#include "common/fd.hpp"
#include "image/model/page_ranges.hpp"
#include "image/memory/pagemap_scan.hpp"

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace ckpt
{

class PageWatch
{
  public:
    /* Flags with which the process creates the userfaultfd. */
    static unsigned long descriptor_flags();

    /* Returns why the process's pages may change without the kernel recording it: devices
     * or other processes may write into its memory. Empty: no such reason. */
    static std::string obstacle(pid_t pid);

    /* `descriptor`: a new, unused userfaultfd of the process. Throws Error if the kernel
     * does not support this. */
    PageWatch(pid_t pid, Fd descriptor);

    /*
     * Returns the pages with data in private anonymous memory of the stopped process that
     * were written, or got data in another way, since the last look. The first look
     * returns all. The range is page-aligned and completely mapped. Throws Error; then any
     * page may have changed.
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
