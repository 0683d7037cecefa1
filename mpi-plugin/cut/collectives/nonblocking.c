/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * nonblocking.c - begin, complete, and begin again nonblocking collectives.
 */
#include "cut/collectives/nonblocking.h"

#include "base/arena.h"
#include "cut/collectives/collective.h"
#include "cut/collectives/contribution.h"
#include "cut/collectives/copy_budget.h"
#include "cut/collectives/deferred_completion.h"
#include "base/invariant.h"
#include "handles/kinds.h"
#include "handles/wrapper.h"

#include <errno.h>

/* Limit of bytes in copies of in-place inputs, which would otherwise take too much
 * memory. The budget limits the time that these and the other copies cost. */
#define IN_PLACE_LIMIT (UINT64_C(64) << 20)

/* Limits for the copies kept for collectives that the application has seen
 * complete: their number, and their bytes. Beyond them the oldest are settled. */
#define TOLD_LIMIT 256
#define TOLD_BYTES (UINT64_C(4) << 20)

static uint64_t in_place_bytes;

static struct ckpt_copy_budget budget;

/* The completed collectives that are kept, oldest first. */
static struct {
    MPI_Request first;
    MPI_Request last;
    int count;
    uint64_t bytes;
} told;

static void settle(const struct ckpt_nonblocking *call)
{
    struct ckpt_clock *clock = call->communicator->clock;

    CKPT_INVARIANT(call->number <= clock->left);
    if (clock->settled < call->number) {
        clock->settled = call->number;
    }
}

static int is_settled(const struct ckpt_nonblocking *call)
{
    return call->number <= call->communicator->clock->settled;
}

/* ---- Beginning ----------------------------------------------------------- */

void ckpt_nonblocking_free(struct ckpt_nonblocking *call)
{
    if (call->consumes && call->in_receive) {
        in_place_bytes -= call->input_size;
    }
    ckpt_contribution_drop(call);
    ckpt_contribution_take_back(call);
    ckpt_memory_free(call, call->size);
}

void ckpt_nonblocking_release(struct ckpt_nonblocking *call)
{
    ckpt_nonblocking_drop(call);
    ckpt_nonblocking_free(call);
}

/* Begins the collective in the lower half, with the buffers of `own`. */
static int begin(struct ckpt_nonblocking *call,
                 const struct ckpt_nonblocking *own, MPI_Request *lower)
{
    struct ckpt_clock *clock = call->communicator->clock;
    uintptr_t upper;
    int code;

    upper = ckpt_enter();
    code = call->begin(own, lower);
    ckpt_leave(upper);
    if (code == MPI_SUCCESS) {
        ckpt_uncovered_message();
        clock->entered++;
        call->number = ++clock->left;
        CKPT_INVARIANT(clock->left <= clock->entered);
    }
    return code;
}

/* Copies an in-place input, which the lower half overwrites while it works. */
static int keep_input(struct ckpt_nonblocking *call)
{
    const size_t size = ckpt_contribution_size(call);
    int kept;

    if (size > IN_PLACE_LIMIT - in_place_bytes ||
        !ckpt_copy_budget_take(&budget, size)) {
        return 0;
    }
    kept = ckpt_contribution_keep(call);
    in_place_bytes += call->input_size;
    return kept;
}

static int start(struct ckpt_nonblocking *call, MPI_Request *lower)
{
    int lost = 0, code;

    if (call->in_receive && call->consumes) {
        lost = !keep_input(call);
    }
    code = begin(call, call, lower);
    if (code == MPI_SUCCESS && lost) {
        settle(call);
    }
    return code;
}

static int launch(const struct ckpt_nonblocking *given, MPI_Request request,
                  MPI_Request *lower)
{
    struct ckpt_nonblocking *call = ckpt_nonblocking_copy(given);
    int code;

    if (call == NULL) {
        return MPI_ERR_NO_MEM;
    }
    code = start(call, lower);
    if (code == MPI_SUCCESS) {
        request->nonblocking = call;
        ckpt_nonblocking_retain(call);
        ckpt_request_activate(request);
    } else { /* its arguments may be invalid handles */
        ckpt_nonblocking_free(call);
    }
    return code;
}

int ckpt_nonblocking_launch(const struct ckpt_nonblocking *call,
                            MPI_Request request)
{
    return launch(call, request, (MPI_Request *)&request->handle.lower);
}

int ckpt_nonblocking_start(const struct ckpt_nonblocking *call,
                           MPI_Request *request_p, const char *function,
                           void *site)
{
    MPI_Comm comm = call->communicator;
    MPI_Request request, *lower;
    int code;

    ckpt_collective_begin(comm);
    request = ckpt_request_new(CKPT_REQUEST_COLLECTIVE, function, site);
    if (request == NULL) {
        CKPT_RETURN(comm, MPI_ERR_NO_MEM, function);
    }
    request->communicator = comm;
    lower = (MPI_Request *)&request->handle.lower;
    code = launch(call, request, CKPT_UNLESS_NULL(request_p, lower));
    if (code == MPI_SUCCESS) {
        *request_p = request;
    } else {
        if (request->handle.lower != NULL) { /* the library wrote its null handle */
            *request_p = MPI_REQUEST_NULL;
        }
        ckpt_request_retire(request);
    }
    CKPT_RETURN(comm, code, function);
}

/* ---- Completing ---------------------------------------------------------- */

/* MPI_Comm_idup duplicates two channels, one after the other. */
int ckpt_nonblocking_goes_on(MPI_Request request)
{
    MPI_Comm twin = request->nonblocking->twin;

    if (twin == NULL || twin->making == NULL) {
        return 0;
    }
    request->handle.lower = twin->making;
    twin->making = NULL;
    return 1;
}

/* Returns whether the completion here implies that all members have begun the
 * collective. */
static int all_have_begun(const struct ckpt_nonblocking *call)
{
    const MPI_Comm comm = call->communicator;

    if (call->twin != NULL) {
        return 1;
    }
    if (comm->inter) {
        return 0; /* the result may depend on the other group alone */
    }
    if (comm->size == 1) {
        return 1;
    }
    switch (call->flow) {
    case CKPT_FLOW_ALL:
        break;
    case CKPT_FLOW_TO_ROOT:
        if (call->root != comm->rank) {
            return 0;
        }
        break;
    default:
        return 0;
    }
    return call->receive.blocks == 0 || ckpt_contribution_receives_all(call);
}

static int keep_for_others(struct ckpt_nonblocking *call)
{
    const size_t size = ckpt_contribution_size(call);

    return !call->communicator->foreign && /* it cannot be saved, anyway */
           size <= TOLD_BYTES && ckpt_contribution_fits(call) &&
           (call->has_input || ckpt_copy_budget_take(&budget, size)) &&
           ckpt_contribution_keep(call);
}

/* Returns whether a restart could begin a completed collective again for other
 * members, from the copy that is kept. */
static int is_kept(MPI_Request request)
{
    struct ckpt_nonblocking *call = request->nonblocking;

    return request->code == MPI_SUCCESS && !all_have_begun(call) &&
           keep_for_others(call);
}

static void make_twin(MPI_Request request)
{
    if (request->nonblocking->twin != NULL && request->code == MPI_SUCCESS) {
        ckpt_communicator_twin_made(request->nonblocking->twin);
    }
}

void ckpt_nonblocking_completed(MPI_Request request)
{
    struct ckpt_nonblocking *call = request->nonblocking;

    make_twin(request);
    if (!is_settled(call) &&
        (ckpt_state == CKPT_STATE_SERVICE || !is_kept(request))) {
        settle(call);
    }
}

/* The clock's present value may come from another collective that is deferred. */
void ckpt_nonblocking_deferred(MPI_Request request)
{
    struct ckpt_nonblocking *call = request->nonblocking;

    call->unsettles = is_kept(request);
    if (!call->unsettles) {
        settle(call);
    }
}

void ckpt_nonblocking_confirmed(MPI_Request request)
{
    make_twin(request);
    if (!request->nonblocking->unsettles) {
        settle(request->nonblocking);
    }
}

void ckpt_nonblocking_left_pending(MPI_Request request)
{
    struct ckpt_clock *clock = request->nonblocking->communicator->clock;

    if (clock->settled > clock->target) {
        clock->settled = clock->target;
    }
}

/* Removes a request from the list of kept ones. */
static void forget(MPI_Request request)
{
    MPI_Request *link = &told.first, previous = NULL;

    CKPT_INVARIANT(told.count > 0 && told.bytes >= request->nonblocking->input_size);
    for (; *link != request; link = &previous->nonblocking->next_told) {
        previous = *link;
    }
    *link = request->nonblocking->next_told;
    if (told.last == request) {
        told.last = previous;
    }
    told.count--;
    told.bytes -= request->nonblocking->input_size;
    ckpt_request_retire(request);
}

/* Returns 1 if the lower half has completed a collective that a restart began
 * again. The test may run an operation of the application, and so let other threads
 * run (runtime/callback.h). For them the request is not over, so it stays in its
 * place. */
static int is_over(MPI_Request request)
{
    struct ckpt_nonblocking *call = request->nonblocking;
    int code, flag = 1;

    if (call->in_test) {
        return 0;
    }
    if (request->handle.lower != NULL) {
        call->in_test = 1;
        CKPT_CALL(code, Test, (MPI_Request *)&request->handle.lower, &flag,
                  MPI_STATUS_IGNORE);
        call->in_test = 0;
        (void)code; /* the result is not needed */
    }
    return flag;
}

/* Forgets the settled ones, and the oldest if there are too many. */
static void forget_some(void)
{
    CKPT_INVARIANT((told.first == NULL) == (told.count == 0));
    while (told.first != NULL) {
        struct ckpt_nonblocking *call = told.first->nonblocking;

        if ((told.count > TOLD_LIMIT || told.bytes > TOLD_BYTES) &&
            !ckpt_deferral_is_due()) {
            settle(call);
        }
        if (!is_settled(call) || !is_over(told.first)) {
            break;
        }
        forget(told.first);
    }
}

int ckpt_nonblocking_told(MPI_Request request)
{
    struct ckpt_nonblocking *call = request->nonblocking;

    if (is_settled(call) && is_over(request)) {
        return 0;
    }
    if ((request->handle.flags & CKPT_HANDLE_FREED) == 0) {
        request->handle.flags |= CKPT_HANDLE_FREED;
        CKPT_INVARIANT(told.first == NULL || told.last != NULL);
        call->next_told = NULL;
        *(told.first == NULL ? &told.first : &told.last->nonblocking->next_told) =
            request;
        told.last = request;
        told.count++;
        told.bytes += call->input_size;
        forget_some();
    }
    return 1;
}

MPI_Request ckpt_nonblocking_detach(MPI_Request request)
{
    MPI_Request own =
        ckpt_request_new(CKPT_REQUEST_COLLECTIVE, request->handle.creator,
                         request->handle.site);

    ckpt_handle_unlink(&request->handle);
    request->active = 0;
    if (own == NULL) {
        settle(request->nonblocking);
        ckpt_nonblocking_release(request->nonblocking);
        return NULL;
    }
    own->communicator = request->nonblocking->communicator;
    own->nonblocking = request->nonblocking;
    own->handle.lower = request->handle.lower;
    own->complete = request->complete;
    own->status = request->status;
    own->code = request->code;
    ckpt_request_activate(own);
    return own;
}

void ckpt_nonblocking_disconnect(MPI_Comm comm)
{
    MPI_Request request = told.first, next;

    comm->clock->settled = comm->clock->left;
    for (; request != NULL; request = next) {
        const int over = request->nonblocking->communicator == comm &&
                         is_over(request);

        next = request->nonblocking->next_told; /* the test may change the list */
        if (over) {
            forget(request);
        }
    }
}

/* ---- The cut ------------------------------------------------------------- */

int ckpt_nonblocking_in_cut(MPI_Request request)
{
    const struct ckpt_nonblocking *call = request->nonblocking;

    return call->number <= call->communicator->clock->target;
}

void ckpt_nonblocking_record(void)
{
    struct ckpt_handle *handle = ckpt_live(CKPT_REQUEST);

    for (; handle != NULL; handle = ckpt_live_next(handle)) {
        const MPI_Request request = (MPI_Request)handle;

        if (request->request_kind == CKPT_REQUEST_COLLECTIVE) {
            request->nonblocking->again = !ckpt_nonblocking_in_cut(request);
        }
    }
}

static int begin_again(MPI_Request request)
{
    struct ckpt_nonblocking *call = request->nonblocking, own;
    MPI_Request *lower = (MPI_Request *)&request->handle.lower;
    int code;

    ckpt_contribution_take_back(call);
    call->number = 0; /* settled */
    if (!call->again) {
        return MPI_SUCCESS;
    }
    if (request->complete) {
        code = ckpt_contribution_lend(call, &own);
        return code == MPI_SUCCESS ? begin(call, &own, lower) : code;
    }
    code = ckpt_contribution_restore(call);
    return code == MPI_SUCCESS ? begin(call, call, lower) : code;
}

int ckpt_nonblocking_begin_again(struct ckpt_failure *failure)
{
    struct ckpt_handle *handle = ckpt_live(CKPT_REQUEST);
    int code = MPI_SUCCESS;

    ckpt_thread_context_keep(1); /* no other thread begins a collective before these */
    for (; handle != NULL && code == MPI_SUCCESS;
         handle = ckpt_live_next(handle)) {
        const MPI_Request request = (MPI_Request)handle;

        if (request->request_kind == CKPT_REQUEST_COLLECTIVE) {
            code = begin_again(request);
        }
    }
    ckpt_thread_context_keep(0);
    return code == MPI_SUCCESS
               ? 0
               : ckpt_refuse(failure, CKPT_REFUSAL_MPI_ERROR, -EIO,
                             "the nonblocking collectives cannot be begun again "
                             "(MPI error %d)",
                             code);
}
