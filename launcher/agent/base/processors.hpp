/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * processors.hpp - finds the NUMA node next to the processor that a process
 * runs on, with hwloc.
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
    /* Reads the kernel's description of this node; slow, so do it once.
     * description: an artificial node instead, in hwloc's notation. */
    explicit Processors(const std::string &description = {});

    /* Returns the logical number of the NUMA node on which the process's
     * main thread last ran. If mpirun has bound the process, this node
     * belongs to the binding. Returns 0 if it cannot be found out. Normal
     * context. */
    int memory_of(pid_t pid) const;
    /* The same for a processor, by the kernel's number. */
    int memory_beside(int processor) const;

  private:
    struct Destroy {
        void operator()(hwloc_topology *topology) const;
    };
    std::unique_ptr<hwloc_topology, Destroy> topology_; /* null: unknown */
};

} // namespace ckpt
