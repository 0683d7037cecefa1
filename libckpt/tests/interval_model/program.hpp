/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * program.hpp - random programs without data races.
 */
#pragma once

#include "settings.hpp"

#include <vector>

namespace model
{

enum class Kind { acquire, release, barrier, read, write, update };

struct Operation {
    Kind kind;
    int object; // number of the lock or barrier, or page
    int word;   // of the page
};

using Program = std::vector<Operation>;

/*
 * Returns a program for each process. The lower half of the words of each page
 * belongs to locks. In the upper half, one process each stores to the words of
 * one parity in a phase, and all processes read the others. Barriers separate
 * the phases.
 */
std::vector<Program> random_programs(const Settings &settings);

} // namespace model
