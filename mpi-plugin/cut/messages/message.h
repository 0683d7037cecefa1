/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * message.h - start the sends and receives of the application, and count them.
 */
#ifndef CKPT_MESSAGE_H
#define CKPT_MESSAGE_H

#include "cut/messages/rank_cut.h"
#include "cut/messages/synchronous_send.h"
#include "handles/request.h"
#include "runtime/uncovered.h"

/* Start the send or receive that a request describes, and make the request active. A receive
 * gets its message from the log or from the lower half. Context of all: normal, between
 * ckpt_begin and ckpt_end. Return an MPI error code. */
int ckpt_message_start(MPI_Request request);
int ckpt_send_start(MPI_Request request);
int ckpt_receive_start(MPI_Request request);

/* Has the library check the arguments: it makes such a request, which is freed at once.
 * mode: enum ckpt_send_mode. Returns an MPI error code. */
int ckpt_check_arguments(enum ckpt_request_kind kind, const void *buffer, int count,
                         MPI_Datatype datatype, int peer, int tag, MPI_Comm comm, int mode);

/* Called when a message was sent, or was received in the lower half. */
static inline void ckpt_count_sent(MPI_Comm comm, int peer, int tag)
{
    ckpt_uncovered_message();
    if (__builtin_expect((unsigned)peer < (unsigned)comm->peers, 1)) {
        comm->sent[peer]++;
    }
    if (__builtin_expect(ckpt_synchronous_pending != 0, 0)) {
        ckpt_synchronous_later(comm, peer, tag);
    }
    if (__builtin_expect(ckpt_rank_cut_open, 0)) {
        ckpt_rank_cut_sent(comm, peer);
    }
}

static inline void ckpt_count_received(MPI_Comm comm, const MPI_Status *status)
{
    ckpt_uncovered_message();
    if (__builtin_expect((unsigned)status->MPI_SOURCE < (unsigned)comm->peers &&
                             !status->_cancelled,
                         1)) {
        comm->received[status->MPI_SOURCE]++;
    }
}

#endif
