/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * write_protection.hpp - write-protects memory of another process and hears of each write
 * to it, which waits until it is allowed: userfaultfd(2), synchronous.
 *
 * When the userfaultfd, of which this has the only descriptor, is closed, also because we
 * have died, all that is protected is no longer, and who waits goes on.
 */
#pragma once

#include "common/fd.hpp"

#include "ckpt/snapshot.h"

#include <sys/types.h>

#include <vector>

namespace ckpt
{

class WriteProtection
{
  public:
    /* Of the descriptor that the process makes. Writes of the kernel on its behalf, as
     * into the buffer of read(2), have to wait as well: that needs CAP_SYS_PTRACE, or
     * vm.unprivileged_userfaultfd = 1. */
    static unsigned long descriptor_flags();

    /* `descriptor`: a userfaultfd of the process, of which it knows nothing yet. Throws
     * Error if the kernel cannot do it. */
    WriteProtection(pid_t pid, Fd descriptor);

    /* Protects private anonymous memory, all of which is mapped. Only pages that are there
     * are protected; the process stands still. Both ends page-aligned. watch() comes
     * before protect() of what is in its range. Thread-safe. Throw Error. */
    void watch(const ckpt_range &range) const;
    void protect(const ckpt_range &range) const;

    /*
     * Lets everybody write there, and who waits for that go on; also where it is not
     * protected, or no longer mapped. Thread-safe.
     * False: nothing has been done, as the process is just giving memory back, or moving
     * some; next() will tell of it, and after that this is possible. True also means
     * that no such thing was under way at some time during this call.
     */
    bool allow(const ckpt_range &range) const;

    /* Nothing is protected or watched any more. Nothing else may be called then, or at
     * the same time. */
    void end() { descriptor_.reset(); }

    /* What happens in what is watched. */
    struct Event {
        enum Kind {
            write, /* somebody waits to write to the page at range.start */
            loss,  /* what is in the range goes, or is gone: the memory is given back, or
                      moved elsewhere. Who does that waits until this is told */
        };
        Kind kind;
        ckpt_range range;
    };
    /* Those that are there, at most some dozen; never waits. */
    std::vector<Event> next() const;
    /* Readable if there are some. */
    int descriptor() const { return descriptor_.get(); }

  private:
    bool allow_pages(const ckpt_range &range) const;

    pid_t pid_;
    Fd descriptor_;
};

} // namespace ckpt
