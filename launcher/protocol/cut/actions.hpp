/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * actions.hpp - actions that the coordinator's state machine requests, and the events that answer
 * them (protocol/cut/cut_protocol.hpp).
 */
#pragma once

#include "common/refusal.hpp"

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
    ckpt_message_body body; /* the fields of the message */
    std::string text;
};
/* Saves all ranks; snapshots[rank] is the address of its ckpt_snapshot.
 * Answered by captured() for each rank and then written(), or by failed(). */
struct Capture {
    std::vector<std::uint64_t> snapshots;
};
/* Makes the checkpoint's directory and the files of its pieces, to which ranks are added one by
 * one. Answered by opened() or failed(). */
struct OpenPieces {
};
/* Saves one rank. Answered by captured() or failed(). */
struct AddToPiece {
    int rank;
    std::uint64_t snapshot;
};
/* All ranks are saved and all logs are complete: finishes the pieces. Answered by written() or
 * failed(). */
struct ClosePieces {
};
/* Writes the manifest. Answered by committed() or failed(). */
struct Commit {
};
/* Stops the work of Capture, OpenPieces or Commit, and removes its files.
 * Answered by undone(). */
struct Undo {
};
/* Ends all ranks. */
struct Kill {
};
/* The checkpoint is over. `reason` says why it has failed. retry:
 * Sync-and-Stop may succeed. */
struct Finish {
    bool committed;
    Refusal reason;
    bool retry = false;
};
/* A cut that the loss of an agent had left incomplete is complete: nothing is under way. */
struct Settled {
};
} // namespace action

using Action = std::variant<action::SetTargets, action::SetExpected,
                            action::Send, action::Capture, action::OpenPieces,
                            action::AddToPiece, action::ClosePieces, action::Commit,
                            action::Undo, action::Kill, action::Finish,
                            action::Settled>;

} // namespace ckpt
