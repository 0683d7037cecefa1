/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * connection.hpp - make sockets and pipes again that led from rank to rank.
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

/* A pipe, empty, for reading and writing; value: of struct ckpt_file. Throws
 * Error naming `path`. */
Fd make_pipe(const std::string &path, std::uint64_t value);

} // namespace ckpt::restart
