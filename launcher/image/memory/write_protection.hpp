/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * write_protection.hpp - write-protects memory of another process and receives an event
 * for each write to it. The write waits until it is allowed: userfaultfd(2), synchronous
 * mode.
 *
 * This object has the only descriptor of the userfaultfd. When it is closed, also by the
 * death of the agent, the kernel lifts all protection, and waiting threads go on.
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
    /* Flags with which the process creates the userfaultfd. Writes by the kernel on behalf
     * of the process, such as into the buffer of read(2), must wait too; that requires
     * CAP_SYS_PTRACE or vm.unprivileged_userfaultfd = 1. */
    static unsigned long descriptor_flags();

    /* `descriptor`: a new, unused userfaultfd of the process. Throws Error if the kernel
     * does not support this. */
    WriteProtection(pid_t pid, Fd descriptor);

    /* watch() registers private anonymous memory; protect() then write-protects the
     * present pages of a watched range. The range is page-aligned and completely mapped,
     * and the process is stopped. Thread-safe. Both throw Error. */
    void watch(const ckpt_range &range) const;
    void protect(const ckpt_range &range) const;

    /*
     * Lifts the protection of the range, and lets writes that wait there proceed. The
     * range may be unprotected or unmapped. Thread-safe. Returns false, without effect,
     * while the process is unmapping or moving memory; next() reports that, and then
     * allow() works again. True also means that no such operation was in progress at some
     * time during this call.
     */
    bool allow(const ckpt_range &range) const;

    /* Lifts all protection and stops watching. The caller makes no other call during or
     * after this one. */
    void end() { descriptor_.reset(); }

    /* An event in watched memory. */
    struct Event {
        enum Kind {
            write, /* a thread waits to write to the page at range.start */
            /* The content of the range is going or gone: the process unmaps, discards
             * or moves the memory. The process waits until next() has returned the
             * event. */
            loss,
        };
        Kind kind;
        ckpt_range range;
    };
    /* Returns pending events, at most a few dozen; never waits. */
    std::vector<Event> next() const;
    /* Readable when events are pending. */
    int descriptor() const { return descriptor_.get(); }

  private:
    bool allow_pages(const ckpt_range &range) const;

    pid_t pid_;
    Fd descriptor_;
};

} // namespace ckpt
