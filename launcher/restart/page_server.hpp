/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * page_server.hpp - fills the missing pages of a lazily restarted process, and of the copies that
 * it makes of itself meanwhile.
 *
 * A page that a thread waits for comes first. When the program runs, the rest follows in order.
 * The checksum of a chunk is verified before a page of it is given.
 */
#pragma once

#include "common/fd.hpp"
#include "restart/fault_descriptor.hpp"
#include "restart/missing_pages.hpp"

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <span>
#include <vector>

namespace ckpt::restart
{

class PageServer
{
  public:
    /* Writes the content of saved pages to `bytes`, which are all zero. Throws Error, which names
     * the chunk, if that is damaged. */
    using Read = std::function<void(std::uint64_t saved, std::span<std::byte> bytes)>;

    struct Process {
        pid_t pid;      /* whose pages are missing */
        Fd end;         /* pidfd: readable when it has ended */
        Fd connection;  /* see libckpt/memory/lazy_pages.h */
        bool on_demand; /* fill nothing ahead, until the process waits for everything */
    };

    /* block: the largest size of a piece, in bytes. */
    PageServer(Process process, FaultDescriptor faults, MissingPages missing, std::size_t block,
               Read read);

    /* Returns when no page is missing any more, or no process that needs one is left. Throws Error
     * if the content cannot be had; then the processes must not go on. */
    void run();

  private:
    /* The memory of one process. */
    struct Space {
        FaultDescriptor faults;
        MissingPages missing;
        std::deque<std::uint64_t> touched = {}; /* pages for which threads wait */
        std::uint64_t ahead = 0;                /* where to go on */
        bool is_first = false;                  /* that of the process itself */
        bool is_over = false;                   /* needs nothing any more */
    };

    void listen();
    void hear(char message);
    void wait(bool has_work);
    void take_events(Space &space);
    void serve(Space &space);
    bool answer(Space &space, std::uint64_t page);
    bool fill(Space &space, const MissingPiece &piece);
    FaultDescriptor::Result put(Space &space, std::uint64_t address,
                                std::span<const std::byte> bytes);
    bool end_if_complete(Space &space);

    Process process_;
    std::list<Space> spaces_;
    std::list<Space> born_; /* not yet in spaces_ */
    std::vector<std::byte> buffer_;
    Read read_;
    bool may_begin_ = false; /* the memory is registered */
    bool goes_ahead_ = false;
    bool is_changing_ = false; /* a process was changing its memory at the last attempt */
};

} // namespace ckpt::restart
