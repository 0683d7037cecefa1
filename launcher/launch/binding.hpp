/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * binding.hpp - the processors on which each rank of this node may run. The defaults are those of
 * Open MPI's mpirun.
 */
#pragma once

#include <string>
#include <vector>

namespace ckpt::launch
{

enum class BindTo {
    automatic, /* core for at most 2 ranks, otherwise numa; none if a core would get two */
    none,
    core,
    numa,
    socket,
};

/* What the ranks may use. */
struct Machine {
    /* A synthetic topology in the form of hwloc, for tests; empty: that of this node. */
    std::string description;
    /* Processors, in the form "0-3,8"; empty: those on which this process may run. */
    std::string allowed;
};

/* Returns the processors of each rank: rank i has the object i modulo the number of objects. A
 * rank without processors is not bound. ranks: on this node. Throws Error if the ranks cannot be
 * bound in this way. Context: normal. */
std::vector<std::vector<int>> bind_ranks(BindTo what, int ranks, const Machine &machine = {});

} // namespace ckpt::launch
