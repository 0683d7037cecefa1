/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * request.c - the life of a request: created, active, complete, retired.
 */
#include "handles/request.h"

#include "base/arena.h"
#include "base/invariant.h"
#include "handles/channels.h"
#include "handles/kinds.h"
#include "runtime/crossing.h"
#include "runtime/state.h"
#include "runtime/uncovered.h"

#include <sched.h>
#include <stdlib.h>

#define BATCH 64

const MPI_Status ckpt_empty_status = {.MPI_SOURCE = MPI_ANY_SOURCE,
                                      .MPI_TAG = MPI_ANY_TAG};

uint64_t ckpt_request_changes;
struct ckpt_request_calls ckpt_request_calls[CKPT_REQUEST_KIND_COUNT];

static MPI_Request free_list;

static int refill(void)
{
    struct ompi_request_t *batch = calloc(BATCH, sizeof(*batch));

    if (batch == NULL) {
        return 0;
    }
    for (int i = 0; i < BATCH; i++) {
        batch[i].handle.kind = CKPT_REQUEST;
        batch[i].next_free = free_list;
        free_list = &batch[i];
    }
    return 1;
}

MPI_Request ckpt_request_new(enum ckpt_request_kind kind, const char *creator,
                             void *site)
{
    MPI_Request request = free_list;

    if (__builtin_expect(request == NULL, 0)) {
        if (!refill()) {
            return NULL;
        }
        request = free_list;
    }
    free_list = request->next_free;
    CKPT_INVARIANT(!request->active);
    request->nonblocking = NULL;
    request->crossing = 0;
    request->handle.lower = NULL;
    request->handle.flags = 0;
    request->handle.creator = creator;
    request->handle.site = site;
    request->request_kind = kind;
    request->active = 0;
    request->complete = 0;
    request->deferred = 0;
    request->persistent = 0;
    return request;
}

void ckpt_request_activate(MPI_Request request)
{
    request->active = 1;
    ckpt_handle_link(&request->handle);
}

static inline const struct ckpt_request_calls *calls_of(MPI_Request request)
{
    return &ckpt_request_calls[request->request_kind];
}

static void drop_used(MPI_Request request)
{
    if (request->request_kind == CKPT_REQUEST_RECEIVE && !request->persistent) {
        ckpt_drop(request->datatype);
        ckpt_drop(request->communicator);
    }
    if (request->request_kind == CKPT_REQUEST_EXCHANGE) {
        ckpt_request_retire(request->halves[0]);
        ckpt_request_retire(request->halves[1]);
        ckpt_memory_free(request->buffer, (size_t)request->count);
    }
}

/* Retires a persistent collective: the operation it began goes on as its own
 * request. */
static void retire_begun(MPI_Request request)
{
    MPI_Request begun = ckpt_request_calls[CKPT_REQUEST_COLLECTIVE].detach(request);

    request->complete = 0;
    if (begun != NULL) {
        ckpt_request_retire(begun);
    }
}

void ckpt_request_retire(MPI_Request request)
{
    if (request->active && request->request_kind == CKPT_REQUEST_COLLECTIVE) {
        if (request->persistent) {
            retire_begun(request);
            return;
        }
        if (calls_of(request)->keep(request)) {
            return;
        }
    }
    if (request->active) {
        ckpt_handle_unlink(&request->handle);
        request->active = 0;
        if (__builtin_expect(ckpt_request_is_synchronous(request), 0) ||
            request->request_kind == CKPT_REQUEST_COLLECTIVE) {
            calls_of(request)->ended(request);
        }
        drop_used(request);
    }
    request->complete = 0;
    if (!request->persistent) {
        ckpt_number_forget(&request->handle);
        CKPT_INVARIANT(free_list != request); /* retired once */
        request->next_free = free_list;
        free_list = request;
    }
}

static int is_deferred(MPI_Request request)
{
    return __builtin_expect(ckpt_checkpoint.armed, 0) &&
           calls_of(request)->defer != NULL && calls_of(request)->defer(request);
}

/* Returns whether a request is complete below only because a checkpoint drained
 * its message. */
static int is_held(MPI_Request request)
{
    return __builtin_expect(ckpt_request_is_synchronous(request), 0) &&
           request->held != 0;
}

void ckpt_request_completed(MPI_Request request, const MPI_Status *status,
                            int code)
{
    MPI_Comm comm = request->communicator;

    ckpt_uncovered_message();
    ckpt_request_changes++;
    request->handle.lower = NULL;
    if (request->request_kind == CKPT_REQUEST_COLLECTIVE &&
        code == MPI_SUCCESS && calls_of(request)->goes_on(request)) {
        return;
    }
    request->status = *status;
    request->code = code;
    request->complete = !is_held(request) && !is_deferred(request);
    if (request->request_kind == CKPT_REQUEST_RECEIVE && !status->_cancelled &&
        status->MPI_SOURCE >= 0 && status->MPI_SOURCE < comm->peers) {
        comm->received[status->MPI_SOURCE]++;
    }
    if (__builtin_expect(ckpt_rank_cut_open, 0) &&
        request->request_kind == CKPT_REQUEST_RECEIVE) {
        calls_of(request)->completed(request);
    }
    if (request->request_kind == CKPT_REQUEST_COLLECTIVE && request->complete) {
        calls_of(request)->completed(request);
    }
}

int ckpt_request_is_drained(MPI_Request request)
{
    return request->request_kind == CKPT_REQUEST_FILE ||
           request->request_kind == CKPT_REQUEST_REMOTE ||
           (request->request_kind == CKPT_REQUEST_COLLECTIVE &&
            calls_of(request)->in_cut(request));
}

static void progress_halves(MPI_Request request)
{
    const MPI_Request send = request->halves[0], receive = request->halves[1];

    if (ckpt_request_progress(receive) & ckpt_request_progress(send)) {
        request->status = receive->status;
        request->code =
            receive->code != MPI_SUCCESS ? receive->code : send->code;
        request->complete = 1;
    }
}

/* The request that the service thread tests. An operation may run in the test
 * and let other threads run (runtime/thread_context.h). For them the request has no lower
 * handle, so no two threads test it at once. */
static struct {
    MPI_Request request;
    int cancel; /* another thread has called MPI_Cancel */
} served;

static int test_served(MPI_Request request, int *flag, MPI_Status *status)
{
    MPI_Request lower = request->handle.lower;
    int code;

    CKPT_INVARIANT(served.request == NULL && lower != NULL);
    request->handle.lower = NULL;
    served.request = request;
    CKPT_CALL(code, Test, &lower, flag, status);
    request->handle.lower = lower;
    served.request = NULL;
    if (served.cancel && !*flag) {
        (void)ckpt_request_cancel(request);
    }
    served.cancel = 0;
    return code;
}

int ckpt_request_cancel(MPI_Request request)
{
    int code = MPI_SUCCESS;

    if (ckpt_rank_cut_open && ckpt_request_is_held(request)) {
        calls_of(request)->cancel(request);
    } else if (request->handle.lower != NULL) {
        CKPT_CALL(code, Cancel, (MPI_Request *)&request->handle.lower);
    } else if (request == served.request) {
        served.cancel = 1;
    }
    return code;
}

int ckpt_request_progress(MPI_Request request)
{
    MPI_Status status;
    int code, flag = 0;

    if (!request->complete && request->handle.lower != NULL) {
        if (__builtin_expect(ckpt_multiple, 0) && ckpt_thread_context_own->serving) {
            code = test_served(request, &flag, &status);
        } else {
            CKPT_CALL(code, Test, (MPI_Request *)&request->handle.lower, &flag,
                      &status);
        }
        if (flag || code != MPI_SUCCESS) {
            ckpt_request_completed(request, &status, code);
        }
    } else if (!request->complete &&
               request->request_kind == CKPT_REQUEST_EXCHANGE) {
        progress_halves(request);
    } else if (!request->complete && calls_of(request)->progress != NULL) {
        calls_of(request)->progress(request);
    }
    return request->complete;
}

int ckpt_request_wait(MPI_Request request)
{
    MPI_Status status;
    uintptr_t upper;
    int code;

    while (!request->complete) {
        if (request->handle.lower == NULL) { /* below: none, or held */
            if (ckpt_request_progress(request)) {
                break;
            }
            ckpt_end();
            ckpt_poll_failed();
            sched_yield();
            ckpt_begin();
            continue;
        }
        ckpt_state = CKPT_STATE_WAITING;
        upper = ckpt_enter();
        code = ckpt_lower.wait(&request->handle.lower, &status);
        ckpt_leave(upper);
        ckpt_state = CKPT_STATE_CRITICAL;
        if (__builtin_expect(code != CKPT_INTERRUPTED, 1)) {
            ckpt_request_completed(request, &status, code);
            continue; /* complete, unless it is held */
        }
        ckpt_end(); /* serves */
        ckpt_poll_failed();
        ckpt_begin();
    }
    ckpt_wait_over();
    return request->code;
}

/* Number of requests to free before the next search for complete ones. */
static unsigned until_look = BATCH;

/* Retires the freed requests that are complete. Returns the number of all
 * requests. */
static unsigned collect_forgotten(void)
{
    struct ckpt_handle *handle = ckpt_live(CKPT_REQUEST), *next;
    unsigned all = 0;

    for (; handle != NULL; handle = next) {
        MPI_Request request = (MPI_Request)handle;

        next = ckpt_live_next(handle);
        all++;
        if ((handle->flags & CKPT_HANDLE_FREED) != 0 &&
            request->request_kind != CKPT_REQUEST_COLLECTIVE &&
            ckpt_request_progress(request)) {
            ckpt_request_retire(request);
        }
    }
    return all;
}

void ckpt_request_forget(MPI_Request request)
{
    request->handle.flags |= CKPT_HANDLE_FREED;
    CKPT_INVARIANT(until_look > 0);
    if (--until_look == 0) {
        const unsigned all = collect_forgotten();

        until_look = all / 8 > BATCH ? all / 8 : BATCH; /* spreads the cost */
    }
}

int ckpt_request_rebuild(MPI_Request request)
{
    int code = MPI_SUCCESS;

    ckpt_request_changes++;
    if (request->request_kind == CKPT_REQUEST_COLLECTIVE) {
        request->handle.lower = NULL; /* begun when the threads run again */
        request->deferred = 0;
        return code;
    }
    if (request->complete) {
        return code;
    }
    switch (request->request_kind) {
    case CKPT_REQUEST_RECEIVE:
        if (calls_of(request)->take_logged(request)) {
            break;
        }
        CKPT_CALL(code, Irecv, request->buffer, request->count,
                  CKPT_LOWER(request->datatype), request->peer, request->tag,
                  CKPT_CHANNEL(request->communicator),
                  (MPI_Request *)&request->handle.lower);
        break;
    case CKPT_REQUEST_SEND: /* its message is in the receiver's log */
        ckpt_request_completed(request, &ckpt_empty_status, MPI_SUCCESS);
        break;
    default: /* not in the lower half, or complete at a cut */
        break;
    }
    return code;
}

/* Makes a request of a kind that belongs to no communicator. */
static MPI_Request adopt(enum ckpt_request_kind kind, MPI_Request lower,
                         const char *creator, void *site)
{
    MPI_Request request = ckpt_request_new(kind, creator, site);

    if (request == NULL) {
        return MPI_REQUEST_NULL;
    }
    request->handle.lower = lower;
    request->communicator = NULL;
    ckpt_request_activate(request);
    return request;
}

MPI_Request ckpt_request_file(MPI_Request lower, MPI_File file,
                              const char *creator, void *site)
{
    MPI_Request request = adopt(CKPT_REQUEST_FILE, lower, creator, site);

    if (request != MPI_REQUEST_NULL) {
        request->file = file;
    }
    return request;
}

MPI_Request ckpt_request_remote(MPI_Request lower, const char *creator,
                                void *site)
{
    return adopt(CKPT_REQUEST_REMOTE, lower, creator, site);
}
