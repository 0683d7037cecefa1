/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * input_state.hpp - how much of its standard input the program had read at a checkpoint.
 */
#pragma once

#include "image/store/store.hpp"

#include <cstdint>
#include <optional>

namespace ckpt::cli
{

struct InputState {
    bool has_ended = true;    /* the checkpoint has all of the remaining input */
    bool is_kept = true;      /* `ckpt run` kept the input and can provide it again */
    std::uint64_t read = 0;   /* bytes read by the program */
    std::uint64_t unread = 0; /* bytes in the checkpoint that the program reads next */
};

/*
 * Examines the ranks in the piece of rank 0. Returns nothing if none of them got its input
 * through a relay or a pipe, or if the piece is not in the directory of the checkpoint.
 */
std::optional<InputState> input_state(const Checkpoint &checkpoint);

} // namespace ckpt::cli
