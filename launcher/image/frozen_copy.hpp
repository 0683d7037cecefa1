/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * frozen_copy.hpp - a copy of a rank that stands still in its place, as the agent has
 * it (libckpt/task/frozen_copy.h).
 */
#pragma once

#include "common/fd.hpp"
#include "image/rank_image.hpp"

#include "ckpt/snapshot.h"

#include <sys/types.h>

#include <string>

namespace ckpt
{

class FrozenCopy
{
  public:
    /* The connection came with its pid. The copy ends with this object. */
    FrozenCopy(pid_t pid, Fd connection);

    pid_t pid() const { return pid_; }
    /* It has not ended, so pid() is no other process. Thread-safe. */
    bool is_alive() const noexcept;

    /* The pages of [start, end) will not be read any more. Never waits: what is not
     * given back costs time and memory, no more. Thread-safe. */
    void release(const ckpt_range &range) const noexcept;

    /* Whether all regions of the image are mapped there: the MPI library may have
     * memory excluded from copies, with MADV_DONTFORK. Otherwise why not. */
    std::string missing(const RankImage &image) const;

  private:
    pid_t pid_;
    Fd connection_;
};

} // namespace ckpt
