/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * forecast.hpp - determines, without changing anything, what a rollback would do, and its
 * result.
 */
#pragma once

#include "journal/plan.hpp"
#include "journal/tree.hpp"

namespace ckpt::journal
{

struct Forecast {
    /* Why the rollback is impossible; each text names a path. */
    std::vector<std::string> obstacles;
    /* Files that the program has written, and that would differ from their state at the
     * checkpoint. */
    std::vector<std::string> differing;
    /* The same for files that the program has only read; other programs may change
     * these. */
    std::vector<std::string> inputs;
};

/* Simulates the plan in memory. Throws Error if the tree cannot be read. */
Forecast forecast(const Journal &journal, const Plan &plan);

/* The tree at the time of the checkpoint, as far as the plan knows it. */
struct Past {
    Tree tree;
    /* For each object whose content has changed since: the records that restore it, in
     * this order. */
    std::map<std::shared_ptr<Object>, std::vector<const Record *>> changes;
    std::vector<std::string> obstacles; /* each starts with a path */
};

/* journal and plan must outlive the result. Throws Error if the tree cannot be read. */
Past past_of(const Journal &journal, const Plan &plan);

/* Compares the state that the processes knew at the checkpoint with the current tree. */
Forecast compare(const Journal &journal, const Plan &plan);

} // namespace ckpt::journal
