/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * thaw.hpp - brings a frozen copy of a rank to life: makes its descriptors here, and passes them to
 * it (docs/protocol.md, section 14).
 */
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

namespace ckpt::restart
{

/* The command `ckpt-restart --thaw PID --snapshot ADDRESS --name JOB/NUMBER [--stand | --replay]`.
 */
struct ThawCommand {
    pid_t pid = 0;
    std::uint64_t snapshot = 0; /* address of struct ckpt_snapshot in the copy */
    std::string checkpoint;     /* for messages */
    bool is_to_stand = false;   /* it begins MPI, and waits for the agent's order to live */
    bool is_replayed = false;   /* the rank alone goes back, and then catches up with the others */
};

/* Returns nothing if the arguments are not this command. */
std::optional<ThawCommand> thaw_command(int argc, char **argv);

/* Does it. started: CLOCK_REALTIME in ns. Returns the exit code; has told the agent why if it is
 * not 0. */
int thaw(const ThawCommand &command, std::uint64_t started);

} // namespace ckpt::restart
