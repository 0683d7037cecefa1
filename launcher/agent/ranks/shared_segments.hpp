/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shared_segments.hpp - the shared memory segments through which Open MPI's
 * ranks of a node communicate. A killed rank leaves its segment in /dev/shm, so
 * each kill and restart would take that much memory from the node.
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
    /* Remembers the segments that a rank has mapped. The rank has initialised MPI. */
    void note(pid_t rank);

    /* Removes the files that still exist, unless a rank lives. A rank whose connection has ended
     * may be about to exit: waits for its end for a short time. */
    void remove_leftovers() const;

  private:
    struct Segment {
        std::filesystem::path path;
        dev_t device;
        ino_t inode;
    };

    std::vector<Segment> segments_;
    std::vector<Fd> ranks_; /* processes of the ranks */
};

} // namespace ckpt
