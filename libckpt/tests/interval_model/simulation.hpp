/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * simulation.hpp - whole runs of the model.
 */
#pragma once

#include "system.hpp"

#include <vector>

namespace model
{

struct Outcome {
    std::vector<Page> pages;
    std::vector<Word> hashes; // of the processes
    Statistics statistics;
};

/* Runs all programs to their end; throws a Violation on an error. */
Outcome run(const Settings &settings);

/*
 * Runs with and without crashes; throws a Violation if the results differ.
 * Returns the statistics of the run with crashes.
 */
Statistics compare_with_failure_free(const Settings &settings);

} // namespace model
