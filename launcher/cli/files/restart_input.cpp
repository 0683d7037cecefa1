/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * restart_input.cpp - chooses the source of the input: the checkpoint alone, the copy kept
 * by `ckpt run`, or the input of this command.
 */
#include "cli/files/restart_input.hpp"

#include "cli/files/input_state.hpp"
#include "cli/files/job_input.hpp"
#include "common/files/files.hpp"
#include "image/seal/image_key.hpp"

#include "ckpt/input.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <unistd.h>

namespace ckpt::cli
{

namespace
{

RestartInput from_file(const char *variable, const std::filesystem::path &path)
{
    return {variable, open_file(path, O_RDONLY, 0, "the standard input"), path};
}

} // namespace

RestartInput restart_input(const TierDirectories &directories, const Checkpoint &checkpoint)
{
    const KeptInput kept(directories.lasting() / checkpoint.job);
    auto state = input_state(checkpoint);
    if (state && image_key()) {
        state->is_kept = false; /* the kept input is not authenticated */
    }

    if (!state && checkpoint.is_on_nodes && !image_key() &&
        std::filesystem::exists(kept.whole)) {
        /* The ranks ignore it if their input has ended. */
        return from_file(CKPT_INPUT_AGAIN, kept.whole);
    }
    if (!state) {
        return {CKPT_INPUT_NEW};
    }
    if (state->has_ended) {
        return from_file(CKPT_INPUT_NEW, "/dev/null");
    }
    if (state->is_kept && std::filesystem::exists(kept.whole)) {
        return from_file(CKPT_INPUT_AGAIN, kept.whole);
    }
    if (state->is_kept && std::filesystem::exists(kept.part)) {
        RestartInput input = from_file(CKPT_INPUT_AGAIN, kept.part);
        input.warning = fmt::format(
            "the standard input of {} had not ended when ckpt run did; the program gets the "
            "{} bytes that had come, then the end of its input",
            checkpoint.name(), std::filesystem::file_size(kept.part));
        return input;
    }
    if (isatty(STDIN_FILENO) == 1) {
        return {CKPT_INPUT_NEW};
    }
    return {CKPT_INPUT_NEW,
            Fd(),
            {},
            fmt::format("the standard input of {} had not ended at the checkpoint; the program "
                        "gets the {} bytes that the checkpoint has, then the standard input of "
                        "this command",
                        checkpoint.name(), state->unread)};
}

} // namespace ckpt::cli
