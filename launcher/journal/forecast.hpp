/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * forecast.hpp - what a roll back would do and leave, found out without changing anything.
 */
#pragma once

#include "journal/plan.hpp"
#include "journal/tree.hpp"

namespace ckpt::journal
{

struct Forecast {
    /* Why it cannot be carried out: each names a path. */
    std::vector<std::string> obstacles;
    /* Files that the program had written and that will not be as they were. */
    std::vector<std::string> differing;
    /* The same of files that it had only read: other programs may change them. */
    std::vector<std::string> inputs;
};

/* Carries the plan out in memory. Throws Error if the tree cannot be read. */
Forecast forecast(const Journal &journal, const Plan &plan);

/* The tree as it was at the checkpoint, as far as the plan knows. */
struct Past {
    Tree tree;
    /* By object whose content has changed since: what brings it back, in this order. */
    std::map<std::shared_ptr<Object>, std::vector<const Record *>> changes;
    std::vector<std::string> obstacles; /* each begins with a path */
};

/* journal and plan must outlive it. Throws Error if the tree cannot be read. */
Past past_of(const Journal &journal, const Plan &plan);

/* Compares what the processes knew at the checkpoint with the tree as it is. */
Forecast compare(const Journal &journal, const Plan &plan);

} // namespace ckpt::journal
