/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * input_state.hpp - how far the program had read its standard input at a checkpoint.
 */
#pragma once

#include "image/store.hpp"

#include <cstdint>
#include <optional>

namespace ckpt::cli
{

struct InputState {
    bool has_ended = true;    /* the checkpoint has all that was left of it */
    bool is_kept = true;      /* `ckpt run` could give it once more */
    std::uint64_t read = 0;   /* bytes that the program had read */
    std::uint64_t unread = 0; /* bytes in the checkpoint that come next */
};

/*
 * Of the ranks in the piece of rank 0. Nothing if none of them got its input through a relay
 * or a pipe, or if the piece is not in the directory of the checkpoint.
 */
std::optional<InputState> input_state(const Checkpoint &checkpoint);

} // namespace ckpt::cli
