/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * intake.h - how an open rank (cut/epoch.h) receives.
 *
 * Messages of the old colour are taken in full, in the order of the lower half,
 * written to the log file, and queued in the communicator's log. Nothing is posted
 * below: receives are *held* here, and matched in the order of their posting with
 * the queue, and then with messages of the new colour from peers that have no old
 * ones left. A receive that the lower half had already matched at the cut goes on
 * there; its message is logged when it is complete.
 */
#ifndef CKPT_INTAKE_H
#define CKPT_INTAKE_H

#include "handles/request.h"

/* Before the cut: takes unmatched receives back from the lower half, and matched
 * messages that no receive has been given yet. Context of these and the rest:
 * place for lower-half calls. 0, -ENOMEM or -EIO. */
int ckpt_intake_begin(void);

/* The same after the cut of a rank that was inside a collective. */
void ckpt_intake_begin_late(void);

/* At the cut: notes receives that are pending below. Context: any. */
void ckpt_intake_mark(void);

/* Takes what has come; gives it to held receives. 0, -ENOMEM or -EIO: the log is not
 * complete. */
int ckpt_intake_turn(void);

/* The checkpoint is over: held receives are posted below. MPI error code. */
int ckpt_intake_end(void);

/* A receive is complete: logs its message if it crossed the cut. */
void ckpt_intake_completed(MPI_Request request);

/* MPI_Cancel of a held receive. */
void ckpt_intake_cancel(MPI_Request request);

/* A held receive is given the message of an entry, which need not be there yet. */
void ckpt_intake_claim(MPI_Request request, struct ckpt_log_entry *entry);

/* 1 if a receive is pending. Inside a blocking call of the lower half nobody would
 * give it its message, and the sender may have to wait for that. Context: any. */
int ckpt_intake_is_due(void);

/* Posts all held receives for messages of the new colour, if none of them can get
 * one of the old colour any more. */
void ckpt_intake_post(void);

/* A probe, of the new colour: as MPI_Iprobe or, with message != NULL,
 * MPI_Improbe do. MPI error code. */
int ckpt_intake_probe(int source, int tag, MPI_Comm comm, int *flag,
                      MPI_Message *message, MPI_Status *status);

/* After a restart nothing is on its way any more: what was is in the log that
 * has been loaded. 0 or -EBADMSG. */
int ckpt_intake_restarted(void);

static inline int ckpt_request_is_held(MPI_Request request)
{
    return request->request_kind == CKPT_REQUEST_RECEIVE && !request->complete &&
           request->handle.lower == NULL;
}

#endif
