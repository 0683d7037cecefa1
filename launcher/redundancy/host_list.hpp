/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host_list.hpp - names of hosts with ranges in brackets, as Slurm writes them.
 */
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ckpt::redundancy
{

/* "a,n[01-03,7]" as a, n01, n02, n03, n7; several brackets in a name are combined, the last
 * one fastest. Throws Error for brackets that do not match, ranges that fall, and more than
 * 65,536 names. */
std::vector<std::string> expand_hosts(std::string_view list);

} // namespace ckpt::redundancy
