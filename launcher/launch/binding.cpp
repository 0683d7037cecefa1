/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * binding.cpp - distributes ranks over the cores, NUMA nodes or packages that hwloc finds.
 */
#include "launch/binding.hpp"

#include "common/error.hpp"
#include "common/invariant.hpp"

#include <hwloc.h>

#include <memory>

namespace ckpt::launch
{

namespace
{

struct Free {
    void operator()(hwloc_bitmap_t bitmap) const { hwloc_bitmap_free(bitmap); }
    void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
};
using Bitmap = std::unique_ptr<hwloc_bitmap_s, Free>;
using Topology = std::unique_ptr<hwloc_topology, Free>;

using Object = std::vector<int>; /* its processors */

/* The processors that `machine` allows. */
Bitmap allowed_on(const Topology &topology, const Machine &machine)
{
    Bitmap allowed(hwloc_bitmap_alloc());
    const bool is_known =
        allowed && (machine.allowed.empty()
                        ? hwloc_get_cpubind(topology.get(), allowed.get(), HWLOC_CPUBIND_PROCESS)
                        : hwloc_bitmap_list_sscanf(allowed.get(), machine.allowed.c_str())) == 0;

    if (!is_known) {
        fail("the processors that this process may use are not known");
    }
    return allowed;
}

Topology topology_of(const Machine &machine)
{
    hwloc_topology_t made = nullptr;

    if (hwloc_topology_init(&made) != 0) {
        fail("hwloc does not start");
    }
    Topology topology(made);
    /* Otherwise hwloc binds itself to each processor in turn. */
    if (hwloc_topology_set_flags(made, HWLOC_TOPOLOGY_FLAG_DONT_CHANGE_BINDING) != 0 ||
        (!machine.description.empty() &&
         hwloc_topology_set_synthetic(made, machine.description.c_str()) != 0) ||
        hwloc_topology_load(made) != 0) {
        fail("hwloc does not know this node's processors");
    }
    const bool is_whole = !machine.description.empty() && machine.allowed.empty();
    if (!is_whole &&
        hwloc_topology_restrict(made, allowed_on(topology, machine).get(), 0) != 0) {
        fail("hwloc does not know the processors that this process may use");
    }
    return topology;
}

/* Returns all objects of this type that have processors. */
std::vector<Object> objects(const Topology &topology, hwloc_obj_type_t type)
{
    std::vector<Object> all;
    hwloc_obj_t next = nullptr;

    while ((next = hwloc_get_next_obj_by_type(topology.get(), type, next)) != nullptr) {
        Object own;
        for (int one = hwloc_bitmap_first(next->cpuset); one >= 0;
             one = hwloc_bitmap_next(next->cpuset, one)) {
            own.push_back(one);
        }
        if (!own.empty()) {
            all.push_back(std::move(own));
        }
    }
    return all;
}

/* Some virtual machines tell processors, but not cores. */
std::vector<Object> cores(const Topology &topology)
{
    auto all = objects(topology, HWLOC_OBJ_CORE);

    return all.empty() ? objects(topology, HWLOC_OBJ_PU) : all;
}

/* Returns the objects among which the ranks are distributed; none: they are not bound. */
std::vector<Object> places(BindTo what, std::size_t ranks, const Topology &topology)
{
    auto all_cores = cores(topology);
    auto numa = objects(topology, HWLOC_OBJ_NUMANODE);
    auto sockets = objects(topology, HWLOC_OBJ_PACKAGE);

    if (what == BindTo::automatic && ranks > all_cores.size()) {
        return {};
    }
    if (what == BindTo::core && ranks > all_cores.size()) {
        fail("--bind-to core: there are {} ranks, but {} cores", ranks, all_cores.size());
    }
    if (what == BindTo::core || (what == BindTo::automatic && ranks <= 2)) {
        return all_cores;
    }
    if (what == BindTo::socket || (what == BindTo::automatic && numa.size() < sockets.size())) {
        return sockets;
    }
    return numa;
}

} // namespace

std::vector<std::vector<int>> bind_ranks(BindTo what, int ranks, const Machine &machine)
{
    const auto count = static_cast<std::size_t>(ranks);
    std::vector<std::vector<int>> bound(count);

    CKPT_EXPECT(ranks > 0);
    if (what == BindTo::none) {
        return bound;
    }
    const auto objects = places(what, count, topology_of(machine));
    for (std::size_t rank = 0; rank < count && !objects.empty(); rank++) {
        bound[rank] = objects[rank % objects.size()];
        CKPT_INVARIANT(!bound[rank].empty());
    }
    return bound;
}

} // namespace ckpt::launch
