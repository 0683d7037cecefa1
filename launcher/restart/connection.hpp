/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * connection.hpp - restores sockets and pipes between ranks.
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
 * Returns two empty sockets connected to each other, in the order of `ends`, which the
 * ranks have described. listening: see ckpt_files_connect(). Throws Error naming `path`.
 */
std::vector<Fd> connect_ends(const std::string &path,
                             const ckpt_socket (&ends)[2],
                             std::uint32_t listening);

/* Returns an empty pipe, open for reading and writing; value: from struct ckpt_file.
 * Throws Error naming `path`. */
Fd make_pipe(const std::string &path, std::uint64_t value);

} // namespace ckpt::restart
