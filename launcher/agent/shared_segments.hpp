/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shared_segments.hpp - the shared memory through which Open MPI's ranks of a
 * node talk. A rank that is killed leaves its segment in /dev/shm; each kill
 * and restart would take that much memory from the node.
 */
#pragma once

#include "common/fd.hpp"

#include <filesystem>
#include <vector>

#include <sys/types.h>

namespace ckpt
{

class SharedSegments
{
  public:
    /* Remembers what a rank that has started its MPI has mapped. */
    void note(pid_t rank);

    /* Removes the files that are still there, unless a rank lives. One whose
     * connection has ended may still be about to: waits for it, but not long. */
    void remove_leftovers() const;

  private:
    struct Segment {
        std::filesystem::path path;
        dev_t device;
        ino_t inode;
    };

    std::vector<Segment> segments_;
    std::vector<Fd> ranks_; /* their processes */
};

} // namespace ckpt
