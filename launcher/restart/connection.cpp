/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * connection.cpp - restores sockets and pipes between ranks.
 */
#include "config.h"
#include "restart/connection.hpp"

#include "common/error.hpp"
#include "common/invariant.hpp"

extern "C" {
#include "files/files.h"
}

namespace ckpt::restart
{

std::vector<Fd> connect_ends(const std::string &path,
                             const ckpt_socket (&ends)[2],
                             std::uint32_t listening)
{
    for (const ckpt_socket &end : ends) {
        if (end.domain == 0 || end.local_size > sizeof(end.local) ||
            end.remote_size > sizeof(end.remote)) {
            fail("the image lacks the description of an end of {}", path);
        }
    }
    int made[2] = {-1, -1};
    int error = ckpt_files_connect(&ends[0], &ends[1], listening, made);
    if (error != 0) {
        fail_errno(-error, "the connection {} between two ranks cannot be made "
                           "again",
                   path);
    }
    CKPT_INVARIANT(made[0] >= 0 && made[1] >= 0 && made[0] != made[1]);
    std::vector<Fd> fds;
    fds.emplace_back(made[0]);
    fds.emplace_back(made[1]);
    return fds;
}

Fd make_pipe(const std::string &path, std::uint64_t value)
{
    int made = ckpt_files_make_pipe(path.c_str(), value);
    if (made < 0) {
        fail_errno(-made, "the pipe {} between ranks cannot be made again",
                   path);
    }
    return Fd(made);
}

} // namespace ckpt::restart
