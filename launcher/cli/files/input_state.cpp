/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * input_state.cpp - reads the input state from the descriptors in an image.
 */
#include "cli/files/input_state.hpp"

#include "common/error.hpp"
#include "common/invariant.hpp"
#include "image/store/piece_chain.hpp"

#include "ckpt/input.h"
#include "ckpt/snapshot.h"

#include <algorithm>

namespace ckpt::cli
{

namespace
{

bool is_saved_input(const ckpt_file &file)
{
    return file.kind == CKPT_FILE_STREAM && file.detail == 0 &&
           (file.value & CKPT_INPUT_SAVED) != 0 && (file.value & CKPT_INPUT_SAME) == 0;
}

InputState both(const InputState &a, const InputState &b)
{
    return {a.has_ended && b.has_ended, a.is_kept && b.is_kept, std::max(a.read, b.read),
            std::max(a.unread, b.unread)};
}

InputState state_of(const ckpt_file &file)
{
    return {(file.value & CKPT_INPUT_ENDED) != 0, (file.value & CKPT_INPUT_KEPT) != 0,
            file.offset, file.payload_size};
}

} // namespace

std::optional<InputState> input_state(const Checkpoint &checkpoint)
{
    CKPT_EXPECT(checkpoint.manifest);
    std::optional<InputState> state;
    try {
        const Piece &piece = checkpoint.manifest->piece_of(0);
        const NodeFileReader reader =
            open_piece(checkpoint.directory, *checkpoint.manifest, piece);
        for (int rank : piece.ranks) {
            for (const ckpt_file &file : reader.rank(rank).files) {
                if (is_saved_input(file)) {
                    state = both(state.value_or(InputState{}), state_of(file));
                }
            }
        }
    } catch (const Error &) {
        return std::nullopt; /* the restart will report the damage */
    }
    return state;
}

} // namespace ckpt::cli
