/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * drain.c - take all messages that crossed the cut into receives or into the log.
 */
#include "cut/messages/drain.h"

#include "cut/messages/synchronous_send.h"
#include "base/invariant.h"
#include "handles/kinds.h"
#include "handles/message_log.h"
#include "handles/request.h"
#include "handles/window.h"
#include "runtime/crossing.h"

#include <errno.h>

/* Completes a nonblocking collective if all members have begun it. A restart begins
 * the others again. Returns 1 if a collective to complete is still pending. */
static int progress_collective(MPI_Request request)
{
    return ckpt_request_is_drained(request) && !ckpt_request_progress(request);
}

/* Completes the requests that can complete, and retires those that the application has
 * freed. Returns how many requests are still pending that must complete before the
 * cut: nonblocking collectives, and accesses to files and windows. */
static int progress_requests(void)
{
    const uint64_t taken = ckpt_thread_context_times_taken();
    struct ckpt_handle *handle = ckpt_live(CKPT_REQUEST), *next;
    int pending = 0;

    for (; handle != NULL && taken == ckpt_thread_context_times_taken(); handle = next) {
        MPI_Request request = (MPI_Request)handle;

        next = ckpt_live_next(handle);
        if (request->request_kind == CKPT_REQUEST_COLLECTIVE) {
            pending += progress_collective(request);
        } else if (!ckpt_request_progress(request)) {
            pending += ckpt_request_is_drained(request);
        } else if (handle->flags & CKPT_HANDLE_FREED) {
            ckpt_request_retire(request);
        }
    }
    return pending;
}

/* Moves every unmatched message into a log, as long as the rank stands still. */
static int log_all(void)
{
    const uint64_t taken = ckpt_thread_context_times_taken();
    struct ckpt_handle *handle = ckpt_live(CKPT_COMM);
    int error = ckpt_log_waiting(MPI_COMM_WORLD);

    if (error == 0) {
        error = ckpt_log_waiting(MPI_COMM_SELF);
    }
    while (handle != NULL && error == 0 && taken == ckpt_thread_context_times_taken()) {
        const MPI_Comm comm = (MPI_Comm)handle;

        ckpt_retain(comm); /* another thread may free it */
        error = ckpt_log_waiting(comm);
        handle = ckpt_live_next(handle);
        ckpt_drop(comm);
    }
    return error;
}

static int receive_matched(MPI_Message message)
{
    struct ckpt_log_room room;
    int error = ckpt_log_prepare(&message->status, &room);

    if (error != 0) {
        return error;
    }
    error = ckpt_log_receive(&room, (MPI_Message *)&message->handle.lower);
    message->entry = room.entry;
    message->handle.lower = NULL;
    CKPT_INVARIANT(room.entry->source >= 0 && room.entry->source < message->communicator->peers);
    message->communicator->received[room.entry->source]++;
    return error;
}

/* Receives the messages that MPI_Mprobe has matched. A message counts as received when
 * its data are here. */
static int log_matched(void)
{
    struct ckpt_handle *handle = ckpt_live(CKPT_MESSAGE);
    int error = 0;

    for (; handle != NULL && error == 0; handle = ckpt_live_next(handle)) {
        MPI_Message message = (MPI_Message)handle;

        if (message->entry == NULL) {
            error = receive_matched(message);
        }
    }
    return error;
}

/* Returns 1 if all messages have arrived, 0 if some are under way, or -EPROTO with the
 * reason. With a sender's count that is too small, other messages could be lost. */
static int all_received(struct ckpt_rank_page *page,
                        struct ckpt_failure *failure)
{
    struct ckpt_peer *peers = ckpt_page_peers(page);
    int all = 1;

    ckpt_communicators_count(peers, (int)page->rank_count);
    for (uint32_t i = 0; i < page->rank_count; i++) {
        if (peers[i].received > peers[i].expected) {
            return ckpt_refuse(failure, CKPT_REFUSAL_MESSAGE_COUNTS, -EPROTO,
                               "%l messages have come from rank %d, which has "
                               "counted only %l",
                               (long)peers[i].received, (int)i,
                               (long)peers[i].expected);
        }
        all = all && peers[i].received == peers[i].expected;
    }
    return all;
}

int ckpt_drain(struct ckpt_rank_page *page, int (*given_up)(void),
               struct ckpt_failure *failure)
{
    const uint64_t taken = ckpt_thread_context_times_taken();
    int error = log_matched(), pending, all;

    if (error == 0 && ckpt_windows_flush() != MPI_SUCCESS) {
        return ckpt_refuse(failure, CKPT_REFUSAL_MPI_ERROR, -EIO,
                           "accesses to a window do not complete");
    }
    for (unsigned turn = 1; error == 0; turn++) {
        pending = progress_requests();
        error = log_all();
        if (error == 0) {
            error = ckpt_synchronous_receive();
        }
        all = error == 0 ? all_received(page, failure) : 0;
        if (all < 0) {
            return all;
        }
        if (all && pending == 0 && taken == ckpt_thread_context_times_taken()) {
            return 0;
        }
        if (taken != ckpt_thread_context_times_taken() ||
            (turn % 64 == 0 && given_up())) {
            error = -ECANCELED;
        }
    }
    if (error == -ENOMEM) {
        return ckpt_fail(failure, error, "no memory for the message log");
    }
    if (error == -EIO) {
        return ckpt_refuse(failure, CKPT_REFUSAL_MPI_ERROR, error,
                           "the MPI library does not give a message that is on its way");
    }
    return ckpt_refuse(failure, CKPT_REFUSAL_WITHDRAWN, error, "the checkpoint was given up");
}

int ckpt_drain_collectives(int (*given_up)(void), struct ckpt_failure *failure)
{
    for (unsigned turn = 1; progress_requests() > 0; turn++) {
        if (turn % 64 == 0 && given_up()) {
            return ckpt_refuse(failure, CKPT_REFUSAL_WITHDRAWN, -ECANCELED,
                               "the checkpoint was given up");
        }
    }
    return 0;
}
