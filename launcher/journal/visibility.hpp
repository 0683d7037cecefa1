/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * visibility.hpp - whether this host sees the files that were changed on other hosts.
 */
#pragma once

#include "journal/plan.hpp"

namespace ckpt::journal
{

/*
 * Returns an obstacle for the steps of other hosts that concern a file system private to that
 * host; one line for each host and file system. A file system counts as shared in three
 * cases: it is a network file system, the journal is in it, or this host sees a file with the
 * inode recorded on that host.
 */
std::vector<std::string> elsewhere(const Journal &journal, const Plan &plan);

} // namespace ckpt::journal
