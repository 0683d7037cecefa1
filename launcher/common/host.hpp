/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host.hpp - what this node is called, and where others find it.
 */
#pragma once

#include <string>
#include <vector>

namespace ckpt
{

/* As job.json, node files and members of a job have it. */
std::string host_name();

/* To be tried in order: the name, then numeric addresses of the interfaces that are up, those of
 * the loopback interface last. */
std::vector<std::string> host_addresses();

} // namespace ckpt
