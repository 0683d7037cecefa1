/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cut_phase.hpp - the phases of a checkpoint, as the coordinator sees it. Which protocol has which
 * phases, and what each event does in them: protocol/cut/cut_table.hpp.
 */
#pragma once

namespace ckpt
{

enum class Phase {
    /* No checkpoint is under way. A request ends it, or the return of the last rank after the loss
     * of an agent that may have left the ranks with different colours. */
    idle,
    /* Gates are shut beyond the targets, and ranks below a target run. Ends when each rank has left
     * as many collectives as the targets say. */
    align,
    /* Each rank has an order to stop where it is. Ends when all have stopped, or back in align if
     * the ranks are no longer aligned. */
    stop,
    /* No rank sends. Each rank takes the messages in flight to it. Ends when all have them, or back
     * in align if a rank has left its collective meanwhile. */
    drain,
    /* No message is in flight, and no rank moves. Ranks describe themselves. Ends when all have, or
     * back in align as drain. */
    save,
    /* Ranks are aligned, run, and have their old colour. The agents make the files. Ends when these
     * are there. */
    open,
    /* Some ranks have their new colour, and others do not. Each rank stands still only while it is
     * read. Ends when all have been cut and run again. */
    cut,
    /* All ranks have their new colour and log messages of the old one. Ends when all logs are
     * complete. */
    log,
    /* All logs are complete, or belong to no checkpoint. Ends when all ranks have closed them. */
    close,
    /* The ranks' states are fixed. The agents write them. Ends when all pieces are on disk. */
    write,
    /* All pieces are there, and the checkpoint begins to exist. Ends when the manifest is there. */
    commit,
    /* The checkpoint has failed, and ranks run. Ends when its files are removed. */
    undo
};
inline constexpr int phase_count = 12;
static_assert(phase_count == static_cast<int>(Phase::undo) + 1);

/* The name in reports of progress, in which log and close are one phase. */
const char *phase_name(Phase phase);

} // namespace ckpt
