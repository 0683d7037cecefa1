/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * domains.hpp - reads which nodes fail together.
 */
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace ckpt::redundancy
{

/* Names of failure domains, by host. */
using Domains = std::map<std::string, std::string>;

/*
 * Parses lines of this file's own form, or of Slurm's topology.conf, or both:
 *
 *   n1 n2 n[3-6] : chassis-1
 *   SwitchName=s1 Nodes=n[1-4,7]
 *
 * Skips switches of switches (Switches=...), which name no nodes, and text after a '#'.
 * Throws Error, with the line number, for other lines, and for a host in two domains.
 */
Domains parse_domains(std::string_view text);

} // namespace ckpt::redundancy
