/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * processors.hpp - which memory of this node is next to the processor that a
 * process runs on, by hwloc.
 */
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>

struct hwloc_topology;

namespace ckpt
{

class Processors
{
  public:
    /* Reads what the kernel tells about this node; slow enough to do it once.
     * description: a made-up node instead, in hwloc's notation. */
    explicit Processors(const std::string &description = {});

    /* The logical number of the NUMA node on which the process's main thread
     * ran last: if mpirun has bound it, one that it is bound to. 0 if that
     * cannot be found out. Normal context. */
    int memory_of(pid_t pid) const;
    /* The same of a processor, by the kernel's number. */
    int memory_beside(int processor) const;

  private:
    struct Destroy {
        void operator()(hwloc_topology *topology) const;
    };
    std::unique_ptr<hwloc_topology, Destroy> topology_; /* null: not known */
};

} // namespace ckpt
