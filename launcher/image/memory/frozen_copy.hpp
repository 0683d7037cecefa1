/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * frozen_copy.hpp - the agent's side of a frozen copy: a process that holds a copy of
 * a rank's memory and does not run (libckpt/process/frozen_copy.h).
 */
#pragma once

#include "common/fd.hpp"
#include "image/model/rank_image.hpp"

#include "ckpt/snapshot.h"

#include <sys/types.h>

#include <memory>
#include <string>

namespace ckpt
{

class FrozenCopy
{
  public:
    enum class Use {
        read_once, /* pages that have been read can be released */
        kept,      /* it may become the rank again, so it needs all pages */
    };

    /* The rank sends the connection together with the pid. The copy ends when this
     * object is destroyed. */
    FrozenCopy(pid_t pid, Fd connection, Use use = Use::read_once);

    pid_t pid() const { return pid_; }
    /* Our end of the connection, owned by this object. */
    const Fd &connection() const { return connection_; }
    /* Whether the process has not ended, so that pid() still refers to it.
     * Thread-safe. */
    bool is_alive() const noexcept;

    /* The agent will not read the pages of [start, end) again. Never waits: pages
     * that are not released only cost time and memory. A kept copy releases none.
     * Thread-safe. */
    void release(const ckpt_range &range) const noexcept;

    /* Makes a copy of the copy, which releases no pages either. Waits for it; nothing else may use
     * the connection meanwhile. Throws Error. Thread-safe apart from that. */
    std::shared_ptr<const FrozenCopy> twin() const;

    /* Returns an empty text if the copy maps all regions of the image, else which
     * one is missing. The MPI library may exclude memory from copies with
     * MADV_DONTFORK. */
    std::string missing(const RankImage &image) const;

  private:
    pid_t pid_;
    Fd connection_;
    Use use_;
};

} // namespace ckpt
