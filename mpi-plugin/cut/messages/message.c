/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * message.c - start the sends and receives of the application.
 */
#include "cut/messages/message.h"

#include "handles/channels.h"
#include "handles/message_log.h"
#include "runtime/crossing.h"

int ckpt_check_arguments(enum ckpt_request_kind kind, const void *buffer, int count,
                         MPI_Datatype datatype, int peer, int tag, MPI_Comm comm, int mode)
{
    MPI_Request lower;
    int code;

    if (kind == CKPT_REQUEST_RECEIVE) {
        CKPT_CALL(code, Recv_init, (void *)buffer, count, CKPT_LOWER(datatype),
                  peer, tag, CKPT_LOWER(comm), &lower);
    } else if (mode == CKPT_SEND_BUFFERED) {
        CKPT_CALL(code, Bsend_init, buffer, count, CKPT_LOWER(datatype), peer,
                  tag, CKPT_LOWER(comm), &lower);
    } else if (mode == CKPT_SEND_SYNCHRONOUS) {
        CKPT_CALL(code, Ssend_init, buffer, count, CKPT_LOWER(datatype), peer,
                  tag, CKPT_LOWER(comm), &lower);
    } else if (mode == CKPT_SEND_READY) {
        CKPT_CALL(code, Rsend_init, buffer, count, CKPT_LOWER(datatype), peer,
                  tag, CKPT_LOWER(comm), &lower);
    } else {
        CKPT_CALL(code, Send_init, buffer, count, CKPT_LOWER(datatype), peer,
                  tag, CKPT_LOWER(comm), &lower);
    }
    if (code == MPI_SUCCESS) {
        CKPT_CALL(code, Request_free, &lower);
    }
    return code;
}

int ckpt_send_start(MPI_Request request)
{
    MPI_Comm comm = request->communicator;
    MPI_Comm channel = CKPT_CHANNEL(comm);
    MPI_Datatype type = CKPT_LOWER(request->datatype);
    MPI_Request *lower = (MPI_Request *)&request->handle.lower;
    int code;

    switch (request->mode) {
    case CKPT_SEND_BUFFERED:
        CKPT_CALL(code, Ibsend, request->buffer, request->count, type,
                  request->peer, request->tag, channel, lower);
        break;
    case CKPT_SEND_SYNCHRONOUS:
        CKPT_CALL(code, Issend, request->buffer, request->count, type,
                  request->peer, request->tag, channel, lower);
        break;
    default:
        CKPT_CALL(code, Isend, request->buffer, request->count, type,
                  request->peer, request->tag, channel, lower);
        break;
    }
    if (__builtin_expect(code == MPI_SUCCESS, 1)) {
        ckpt_count_sent(comm, request->peer, request->tag);
        ckpt_request_activate(request);
        if (request->mode == CKPT_SEND_SYNCHRONOUS) {
            ckpt_synchronous_started(request);
        }
        if (request->handle.lower == ckpt_lower.complete_request) {
            ckpt_request_completed(request, &ckpt_empty_status, MPI_SUCCESS);
        }
    }
    return code;
}

int ckpt_receive_start(MPI_Request request)
{
    MPI_Comm comm = request->communicator;
    struct ckpt_log_entry *entry;
    int code = MPI_SUCCESS;

    if (__builtin_expect(ckpt_rank_cut_open, 0) && request->peer != MPI_PROC_NULL) {
        request->handle.lower = NULL; /* held: cut/messages/channel_recording.h */
        request->complete = 0;
        code = ckpt_check_arguments(CKPT_REQUEST_RECEIVE, request->buffer, request->count,
                                    request->datatype, request->peer, request->tag, comm, 0);
    } else if (__builtin_expect(comm->log_first != NULL, 0) &&
               (entry = ckpt_log_match(comm, request->peer, request->tag)) != NULL) {
        ckpt_log_take(comm, entry);
        request->code = ckpt_log_deliver(entry, request->buffer, request->count,
                                         request->datatype, &request->status);
        request->complete = 1;
    } else {
        CKPT_CALL(code, Irecv, request->buffer, request->count,
                  CKPT_LOWER(request->datatype), request->peer, request->tag,
                  CKPT_CHANNEL(comm), (MPI_Request *)&request->handle.lower);
    }
    if (__builtin_expect(code == MPI_SUCCESS, 1)) {
        if (!request->persistent) {
            ckpt_retain(request->datatype);
            ckpt_retain(comm);
        }
        ckpt_request_activate(request);
    }
    return code;
}

int ckpt_message_start(MPI_Request request)
{
    return request->request_kind == CKPT_REQUEST_SEND ? ckpt_send_start(request)
                                                      : ckpt_receive_start(request);
}
