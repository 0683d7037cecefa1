/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * epoch.h - this rank's part in a checkpoint that nobody stands still for
 * (Chandy-Lamport, network sweeping; docs/consistent-cuts.md, section 1).
 *
 * At its cut a rank turns its colour, is saved and runs on; it is then *open*
 * until the agent says that the checkpoint is over. Messages of the old colour go
 * into the log (cut/intake.h), those of the new one wait until their sender has
 * no old ones left.
 */
#ifndef CKPT_EPOCH_H
#define CKPT_EPOCH_H

#include "ckpt/failure.h"
#include "ckpt/wire.h"
#include "handles/communicator.h"

/* What an open rank knows of one rank of MPI_COMM_WORLD. */
struct ckpt_epoch_peer {
    uint64_t cut_sent;     /* messages to it at this rank's cut */
    uint64_t old_received; /* messages of the old colour from it */
    uint64_t expected;     /* its cut_sent, if it has told */
    int has_told;
    int was_told; /* it has had a marker of this rank */
};

/* 1 while this rank is open. */
extern int ckpt_epoch_open __attribute__((visibility("hidden")));

/* Why this rank could not be saved like that just now: CKPT_NEEDS_*. Context:
 * any place that serves. */
uint64_t ckpt_epoch_needs(void);

/*
 * The cut: turns the colour and is open from now on. `message` is CUT. Context:
 * place for lower-half calls, or the handler of the checkpoint signal (inside);
 * then the rest of it is done by the first turn.
 * 0, or -errno with the reason why the log will not be complete.
 */
int ckpt_epoch_cut(const struct ckpt_message *message, int inside,
                   struct ckpt_failure *failure);

/* READY's arg[2]: what COMPLETE has to add up to, over all ranks. */
uint64_t ckpt_epoch_channels_used(void);

/* 1 if this rank has sent any message since its last cut, or has not been cut.
 * Context: any; not while it is open. */
int ckpt_epoch_has_sent(void);

/* The epoch of the last cut since this process began; or 0. Context: any. */
uint64_t ckpt_epoch_last(void);

/* Once in each service: takes in what has come, and tells the agent. Context:
 * place for lower-half calls. */
void ckpt_epoch_turn(void);

/* A message was sent: the receiver may need a marker. Context: between
 * ckpt_begin and ckpt_end. */
void ckpt_epoch_sent(MPI_Comm comm, int peer);

/* COUNTS: what each peer has sent is in the rank page. Markers tell the same, but
 * not those of a rank that was cut inside a collective. Context: any. */
void ckpt_epoch_counts(void);

/* SWEPT: what all have sent this rank. Context: any. */
void ckpt_epoch_swept(uint64_t messages);

/* 1 if others may still ask about their synchronous sends: so this rank must not be
 * inside. Context: any. */
int ckpt_epoch_may_be_asked(void);

/* 1 if CLOSE came while this rank was inside, which it still is. */
int ckpt_epoch_is_closing(void);

/* CLOSE: answers LOGGED; a rank that is inside, with receives that are held, is
 * open for itself until it comes out. */
void ckpt_epoch_close(int inside);

/*
 * The image of an open rank has been restored: it is not open. `log`: the message
 * log of its image, `size` bytes, or NULL. Then, when the communicators have been
 * made again, the log is put into theirs. Context: quiesced. 0 or -errno with a
 * reason.
 */
void ckpt_epoch_restarted(const void *log, uint64_t size);
int ckpt_epoch_reload(struct ckpt_failure *failure);

/* A peer by its rank in MPI_COMM_WORLD; only while open. */
struct ckpt_epoch_peer *ckpt_epoch_peer(int rank);

/* 1 if all old messages of the communicator's peer are here. */
int ckpt_epoch_complete(MPI_Comm comm, int peer);

/* A message of the old colour has arrived in full. */
void ckpt_epoch_received(MPI_Comm comm, int source);

#endif
