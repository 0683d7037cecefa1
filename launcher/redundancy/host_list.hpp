/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host_list.hpp - host names with ranges in brackets, in Slurm's syntax.
 */
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ckpt::redundancy
{

/* Expands "a,n[01-03,7]" to a, n01, n02, n03, n7. Several brackets in a name are combined;
 * the last one varies fastest. Throws Error for unmatched brackets, descending ranges, and
 * more than 65,536 names. */
std::vector<std::string> expand_hosts(std::string_view list);

} // namespace ckpt::redundancy
