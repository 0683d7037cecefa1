/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * processors.cpp - finds the NUMA node next to the processor that a process
 * runs on.
 */
#include "agent/base/processors.hpp"

#include <hwloc.h>

#include <spdlog/spdlog.h>

namespace ckpt
{

namespace
{

struct FreeBitmap {
    void operator()(hwloc_bitmap_t bitmap) const
    {
        hwloc_bitmap_free(bitmap);
    }
};
using Bitmap = std::unique_ptr<hwloc_bitmap_s, FreeBitmap>;

} // namespace

void Processors::Destroy::operator()(hwloc_topology *topology) const
{
    hwloc_topology_destroy(topology);
}

Processors::Processors(const std::string &description)
{
    hwloc_topology_t topology = nullptr;

    if (hwloc_topology_init(&topology) < 0) {
        return;
    }
    topology_.reset(topology);
    hwloc_topology_set_cache_types_filter(topology,
                                          HWLOC_TYPE_FILTER_KEEP_NONE);
    /* Otherwise hwloc binds itself to each processor in turn, and may wait
     * long for a busy one. */
    hwloc_topology_set_flags(topology, HWLOC_TOPOLOGY_FLAG_DONT_CHANGE_BINDING);
    if ((!description.empty() &&
         hwloc_topology_set_synthetic(topology, description.c_str()) < 0) ||
        hwloc_topology_load(topology) < 0) {
        spdlog::warn("hwloc does not know this node's processors");
        topology_.reset();
    }
}

int Processors::memory_of(pid_t pid) const
{
    Bitmap processors(hwloc_bitmap_alloc());

    if (!topology_ || !processors ||
        hwloc_get_proc_last_cpu_location(topology_.get(), pid, processors.get(),
                                         HWLOC_CPUBIND_THREAD) < 0) {
        return 0;
    }
    return memory_beside(hwloc_bitmap_first(processors.get()));
}

int Processors::memory_beside(int processor) const
{
    hwloc_obj_t node = nullptr;

    while (topology_ && (node = hwloc_get_next_obj_by_type(
                             topology_.get(), HWLOC_OBJ_NUMANODE, node))) {
        if (processor >= 0 && hwloc_bitmap_isset(node->cpuset, processor)) {
            return static_cast<int>(node->logical_index);
        }
    }
    return 0;
}

} // namespace ckpt
