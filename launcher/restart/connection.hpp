/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * connection.hpp - make a connection again that led from rank to rank.
 */
#pragma once

#include "common/fd.hpp"

#include "ckpt/snapshot.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ckpt::restart
{

/*
 * Two sockets connected to each other, in the order of `ends`, which the ranks
 * have described; empty. listening: see ckpt_files_connect(). Throws Error naming `path`.
 */
std::vector<Fd> connect_ends(const std::string &path,
                             const ckpt_socket (&ends)[2],
                             std::uint32_t listening);

} // namespace ckpt::restart
