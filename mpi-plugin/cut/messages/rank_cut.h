/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rank_cut.h - this rank's part in a checkpoint during which the ranks run on
 * (Chandy-Lamport, network sweeping; docs/consistent-cuts.md, section 1).
 *
 * At its cut a rank turns its colour, is saved and runs on. It is then *open*
 * until the agent says that the checkpoint is over. Messages of the old colour go
 * into the log (cut/messages/channel_recording.h). Messages of the new colour wait until
 * their sender has no old messages left.
 */
#ifndef CKPT_RANK_CUT_H
#define CKPT_RANK_CUT_H

#include "ckpt/failure.h"
#include "ckpt/wire.h"
#include "handles/communicator.h"
#include "runtime/state.h"

/* An open rank's data about one rank of MPI_COMM_WORLD. */
struct ckpt_rank_cut_peer {
    uint64_t cut_sent;     /* messages to it at this rank's cut */
    uint64_t old_received; /* messages of the old colour from it */
    uint64_t expected;     /* its cut_sent, if has_told */
    int has_told;
    int was_told; /* this rank has sent it a marker */
};

/* Returns why this rank cannot be saved while it runs: CKPT_NEEDS_*. Context: any
 * place that answers the agent. */
uint64_t ckpt_rank_cut_needs(void);

/*
 * Makes the cut: turns the colour, and this rank is open from now on. `message`
 * is CUT. Context: place for lower-half calls, or the handler of the checkpoint
 * signal (inside). From the handler, the first turn makes the lower-half calls.
 * Returns 0, or -errno with the reason why the log will not be complete.
 */
int ckpt_rank_cut_cut(const struct ckpt_message *message, int inside,
                      struct ckpt_failure *failure);

/* Describes this rank's cut for READY or REFUSED. ckpt_cut_due() of it, summed over all
 * ranks, is the value that COMPLETE has to reach. Context: any. */
void ckpt_rank_cut_describe_cut(struct ckpt_cut_report *cut);

/* Returns 1 if this rank has sent any message since its last cut, or was never
 * cut.
 * Context: any; not while this rank is open. */
int ckpt_rank_cut_has_sent(void);

/* The epoch of the last cut since this process began, or 0. Context: any. */
uint64_t ckpt_rank_cut_last(void);

/* Called once in each service: takes in the messages that have arrived, and tells
 * the agent. Context: place for lower-half calls. */
void ckpt_rank_cut_turn(void);

/* Called when a message was sent: its receiver may need a marker. Context:
 * between ckpt_begin and ckpt_end. */
void ckpt_rank_cut_sent(MPI_Comm comm, int peer);

/* Obeys COUNTS: the rank page holds what each peer has sent. Markers carry the
 * same counts, but a rank that was cut inside a collective sends them late.
 * Context: any. */
void ckpt_rank_cut_counts(void);

/* Obeys SWEPT: `messages` is what all ranks have sent to this rank. Context:
 * any. */
void ckpt_rank_cut_swept(uint64_t messages);

/* Returns 1 if other ranks may still ask about their synchronous sends, so that
 * this rank must not be inside. Context: any. */
int ckpt_rank_cut_may_be_asked(void);

/* Returns 1 if CLOSE arrived while this rank was inside, where it still is. */
int ckpt_rank_cut_is_closing(void);

/* Obeys CLOSE: answers LOGGED. A rank that is inside and has held receives stays
 * open locally until it comes out. */
void ckpt_rank_cut_close(int inside);

/*
 * Called when the image of an open rank has been restored: the rank is no longer
 * open. `log`: the message log of its image, `size` bytes, or NULL. When the
 * communicators exist again, ckpt_rank_cut_reload puts the log into theirs. Context:
 * quiesced. Returns 0 or -errno with a reason.
 */
void ckpt_rank_cut_restarted(const void *log, uint64_t size);
int ckpt_rank_cut_reload(struct ckpt_failure *failure);

/* A peer by its rank in MPI_COMM_WORLD; valid only while open. */
struct ckpt_rank_cut_peer *ckpt_rank_cut_peer(int rank);

/* Returns 1 if all old messages of the communicator's peer are here. */
int ckpt_rank_cut_complete(MPI_Comm comm, int peer);

/* Counts a message of the old colour that has arrived in full. */
void ckpt_rank_cut_received(MPI_Comm comm, int source);

#endif
