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
 * A program for each process. The lower half of the words of each page belongs
 * to locks. Of the upper half, the words of one parity are stored to in a
 * phase, each by one process, and the others are read by all; barriers part
 * the phases.
 */
std::vector<Program> random_programs(const Settings &settings);

} // namespace model
