/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * visibility.hpp - whether files that were changed on other hosts are seen here.
 */
#pragma once

#include "journal/plan.hpp"

namespace ckpt::journal
{

/*
 * The obstacle of each step of another host that concerns a file system of that host alone;
 * one line for each host and file system. A file system is seen by both if it is a network's,
 * if the journal lies in it, or if a file of that host is here with the same inode.
 */
std::vector<std::string> elsewhere(const Journal &journal, const Plan &plan);

} // namespace ckpt::journal
