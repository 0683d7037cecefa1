/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * actions.hpp - what the coordinator's state machine wants done, and by which events
 * that is answered (protocol/cut_protocol.hpp).
 */
#pragma once

#include "ckpt/wire.h"

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace ckpt
{

namespace action
{
/* Writes targets[slot] into the clocks of the rank's page. */
struct SetTargets {
    int rank;
    std::vector<std::uint64_t> targets;
};
/* Writes expected[peer] into the rank's page. */
struct SetExpected {
    int rank;
    std::vector<std::uint64_t> expected;
};
/* Sends a message of the present epoch and then, if `signal`, the checkpoint
 * signal to the rank's MPI thread. */
struct Send {
    int rank;
    ckpt_message_type type;
    bool signal;
    std::uint64_t argument; /* arg[0] */
    std::string text;
};
/* Saves all ranks; snapshots[rank] is the address of its ckpt_snapshot.
 * Answered by captured() for each rank and then written(), or by failed(). */
struct Capture {
    std::vector<std::uint64_t> snapshots;
};
/* Makes the checkpoint's directory and the files of its pieces, to which ranks are
 * added one by one. Answered by opened() or failed(). */
struct OpenPieces {
};
/* Saves one rank. Answered by captured() or failed(). */
struct AddToPiece {
    int rank;
    std::uint64_t snapshot;
};
/* All ranks are saved and all logs are there. Answered by written() or failed(). */
struct ClosePieces {
};
/* Writes the manifest. Answered by committed() or failed(). */
struct Commit {
};
/* Stops what Capture or Commit began and removes its files. Answered by
 * undone(). */
struct Undo {
};
/* Ends all ranks. */
struct Kill {
};
/* The checkpoint is over; `reason` says why there is none. retry: Sync-and-Stop
 * may well do. */
struct Finish {
    bool committed;
    std::string reason;
    bool retry = false;
};
/* What an agent's loss had left half cut is whole again: nothing is under way. */
struct Settled {
};
} // namespace action

using Action = std::variant<action::SetTargets, action::SetExpected,
                            action::Send, action::Capture, action::OpenPieces,
                            action::AddToPiece, action::ClosePieces, action::Commit,
                            action::Undo, action::Kill, action::Finish,
                            action::Settled>;

} // namespace ckpt
