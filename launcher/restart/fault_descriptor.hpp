/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fault_descriptor.hpp - a userfaultfd(2) that reports touched missing pages of a process, and
 * what the process does to its memory meanwhile.
 */
#pragma once

#include "common/fd.hpp"

#include "ckpt/snapshot.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ckpt::restart
{

class FaultDescriptor
{
  public:
    /*
     * Makes a descriptor for this process. Faults of the kernel on behalf of the process wait,
     * too, and the memory of children is known: that needs CAP_SYS_PTRACE. Returns an empty Fd
     * with the reason if the kernel does not allow that.
     */
    static Fd make(std::string *why);

    explicit FaultDescriptor(Fd descriptor)
        : descriptor_(std::move(descriptor))
    {
    }

    struct Event {
        enum Kind {
            touched, /* a thread waits for the page at range.start */
            removed, /* the program unmaps or discards the memory */
            moved,   /* the memory goes to the address `to` */
            forked,  /* `child` reports the missing pages of a new process */
        };
        Kind kind;
        ckpt_range range = {0, 0};
        std::uint64_t to = 0;
        Fd child = {};
    };
    /* Returns pending events, at most a few dozen; never waits. Throws Error. */
    std::vector<Event> next() const;

    enum class Result {
        done,     /* all pages are there; who waited for them goes on */
        changing, /* the process is changing its memory: an event comes, or has come */
        unfit,    /* a page is there already, or the memory is not registered (any more) */
        ended,    /* the process has ended, or executes another program */
    };
    /* Fill missing pages, with bytes or zeros. *filled: number of bytes that are there, in any
     * case. Address and size are page-aligned. Throw Error if memory is short. */
    Result copy(std::uint64_t address, std::span<const std::byte> bytes, std::size_t *filled) const;
    Result zero(std::uint64_t address, std::size_t size, std::size_t *filled) const;

    /* Lets the threads go on that wait for pages of the range; they touch the pages again. */
    void wake(const ckpt_range &range) const;

    /* The memory has no missing pages any more; ignores memory that is not registered. */
    void unregister(const ckpt_range &range) const;

    /* Readable when events are pending. */
    int descriptor() const { return descriptor_.get(); }

  private:
    Fd descriptor_;
};

} // namespace ckpt::restart
