/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * request_calls.c - what a checkpoint does with the requests of each kind.
 */
#include "cut/service/request_calls.h"

#include "base/invariant.h"
#include "cut/collectives/deferred_completion.h"
#include "cut/collectives/nonblocking.h"
#include "cut/messages/channel_recording.h"
#include "cut/messages/log_file.h"
#include "cut/messages/partition.h"
#include "cut/messages/synchronous_send.h"
#include "handles/message_log.h"
#include "handles/request.h"

/* Completes the receive from the log, if its message was on its way at the
 * cut. */
static int take_logged(MPI_Request request)
{
    MPI_Comm comm = request->communicator;
    struct ckpt_log_entry *entry = ckpt_log_bound(request);

    request->crossing = 0;
    if (entry == NULL) {
        entry = ckpt_log_match(comm, request->peer, request->tag);
        if (entry == NULL) {
            return 0;
        }
        ckpt_log_take(comm, entry);
    }
    CKPT_INVARIANT(entry->arrival == NULL && entry->source < comm->peers);
    request->handle.lower = NULL; /* handle of the lost lower half */
    ckpt_recording_claim(request, entry);
    return 1;
}

/* A synchronous send that is held completes when its answer comes. */
static void progress_send(MPI_Request request)
{
    if (ckpt_request_is_synchronous(request) && request->held != 0) {
        (void)ckpt_synchronous_receive();
    }
}

static void release_collective(MPI_Request request)
{
    ckpt_nonblocking_release(request->nonblocking);
}

void ckpt_request_calls_fill(void)
{
    ckpt_request_calls[CKPT_REQUEST_SEND] = (struct ckpt_request_calls){
        .defer = ckpt_defer_completion,
        .progress = progress_send,
        .ended = ckpt_synchronous_ended,
    };
    ckpt_request_calls[CKPT_REQUEST_RECEIVE] = (struct ckpt_request_calls){
        .completed = ckpt_recording_completed,
        .cancel = ckpt_recording_cancel,
        .take_logged = take_logged,
    };
    ckpt_request_calls[CKPT_REQUEST_COLLECTIVE] = (struct ckpt_request_calls){
        .defer = ckpt_defer_completion,
        .goes_on = ckpt_nonblocking_goes_on,
        .completed = ckpt_nonblocking_completed,
        .in_cut = ckpt_nonblocking_in_cut,
        .keep = ckpt_nonblocking_told,
        .detach = ckpt_nonblocking_detach,
        .ended = release_collective,
    };
    ckpt_request_calls[CKPT_REQUEST_PARTITIONED] = (struct ckpt_request_calls){
        .progress = ckpt_partition_progress,
    };
}
