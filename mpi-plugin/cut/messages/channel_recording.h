/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * channel_recording.h - how an open rank (cut/messages/rank_cut.h) receives.
 *
 * Messages of the old colour are received in full, in the lower half's order. They
 * are written to the log file and queued in the communicator's log. No receive is
 * posted below: receives are *held* here. They are matched in the order of their
 * posting, first with the queue. Then they are matched with new-colour messages from
 * peers that have no old messages left. A receive that the lower half had already
 * matched at the cut goes on there; its message is logged when it is complete.
 */
#ifndef CKPT_CHANNEL_RECORDING_H
#define CKPT_CHANNEL_RECORDING_H

#include "handles/request.h"

/* Called before the cut: takes back from the lower half the unmatched receives, and
 * the matched messages that have no receive yet. Returns 0, -ENOMEM or -EIO. Context
 * of these and the rest: place for lower-half calls. */
int ckpt_recording_begin(void);

/* The same, after the cut of a rank that was cut inside a collective. */
void ckpt_recording_begin_late(void);

/* Called at the cut: marks the receives that are pending below. Context: any. */
void ckpt_recording_mark(void);

/* Takes the messages that have arrived and gives them to held receives. Returns 0,
 * or -ENOMEM or -EIO: then the log is not complete. */
int ckpt_recording_turn(void);

/* Posts the held receives below, when the checkpoint is over. Returns an MPI error
 * code. */
int ckpt_recording_end(void);

/* Called when a receive is complete: logs its message if the receive crossed the
 * cut. */
void ckpt_recording_completed(MPI_Request request);

/* MPI_Cancel of a held receive. */
void ckpt_recording_cancel(MPI_Request request);

/* Gives a held receive the message of an entry, which need not have arrived yet. */
void ckpt_recording_claim(MPI_Request request, struct ckpt_log_entry *entry);

/* Returns 1 if a receive is pending. While this rank is inside a blocking call of
 * the lower half, the receive would not get its message, and the sender may
 * wait. Context: any. */
int ckpt_recording_is_due(void);

/* Posts all held receives for messages of the new colour, if none of the receives
 * can get an old message any more. */
void ckpt_recording_post(void);

/* Probes for a message of the new colour, as MPI_Iprobe or, with message != NULL,
 * MPI_Improbe. Returns an MPI error code. */
int ckpt_recording_probe(int source, int tag, MPI_Comm comm, int *flag,
                         MPI_Message *message, MPI_Status *status);

/* Called after a restart: no message is on its way any more. The loaded log has the
 * messages that were. Returns 0 or -EBADMSG. */
int ckpt_recording_restarted(void);

#endif
