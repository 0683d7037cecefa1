/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host.hpp - name and addresses of this node.
 */
#pragma once

#include <string>
#include <vector>

namespace ckpt
{

/* Returns the name as in job.json, node files and the list of members. */
std::string host_name();

/* Returns addresses in the order in which others should try them. The name comes first, then
 * numeric addresses of the interfaces that are up, with the loopback interface last. */
std::vector<std::string> host_addresses();

} // namespace ckpt
