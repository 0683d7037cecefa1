/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * checkpoint_request.hpp - a request for a checkpoint that waits for its answer.
 */
#pragma once

#include <cstdint>

namespace ckpt
{

/* Identifies a command of `ckpt` that waits for its answer. */
using ClientId = std::uint64_t;

/* What the ranks do after a checkpoint: control::Request::then. */
enum class Then {
    go_on,
    move,
    kill
};

/* A request by a command, by a rank whose program asks for a checkpoint, or by neither: a periodic
 * checkpoint, or one for LogCap. */
struct CheckpointRequest {
    ClientId client; /* 0: not by a command */
    Then then = Then::go_on;
    int rank = -1;            /* -1: not by a rank */
    std::uint64_t number = 0; /* number of the rank's request */
    bool is_for_cap = false;
};

} // namespace ckpt
