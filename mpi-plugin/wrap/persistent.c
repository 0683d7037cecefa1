/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * persistent.c - create, start and free persistent collectives.
 */
#include "wrap/persistent.h"

#include "base/invariant.h"
#include "cut/collectives/collective.h"
#include "handles/kinds.h"
#include "handles/wrapper.h"

static int check_side(const struct ckpt_side *side)
{
    for (int i = 0; i < side->blocks; i++) {
        const MPI_Datatype type =
            side->types != NULL ? side->types[i] : side->type;

        if ((side->counts != NULL ? side->counts[i] : side->count) < 0) {
            return MPI_ERR_COUNT;
        }
        if (!ckpt_datatype_valid(type)) {
            return MPI_ERR_TYPE;
        }
    }
    return MPI_SUCCESS;
}

/* Checks the arguments as a library before MPI 4.0 would when the collective
 * starts. */
static int check_here(const struct ckpt_nonblocking *call)
{
    const MPI_Comm comm = call->communicator;
    const int rooted = call->flow == CKPT_FLOW_TO_ROOT ||
                       call->flow == CKPT_FLOW_FROM_ROOT;
    int code;

    if (rooted && !comm->inter && (call->root < 0 || call->root >= comm->size)) {
        return MPI_ERR_ROOT;
    }
    if (call->op == MPI_OP_NULL) {
        return MPI_ERR_OP;
    }
    code = check_side(&call->send);
    return code == MPI_SUCCESS ? check_side(&call->receive) : code;
}

/* Has the library check the arguments: it makes such a request, which is freed
 * at once. */
static int check(const struct ckpt_nonblocking *call,
                 ckpt_persistent_lower *lower, MPI_Info info,
                 MPI_Request *request_p)
{
    MPI_Request request = NULL;
    uintptr_t upper = ckpt_enter();
    int code = lower(call, CKPT_LOWER(info),
                     CKPT_UNLESS_NULL(request_p, &request));

    if (code == MPI_SUCCESS) {
        (void)CKPT_FUNCTION(Request_free)(&request);
    }
    ckpt_leave(upper);
    if (code == MPI_ERR_UNSUPPORTED_OPERATION) {
        code = request_p == NULL ? MPI_ERR_REQUEST : check_here(call);
    }
    return code;
}

/* Makes the request for the collective that `call` describes, on its own
 * communicator. */
static MPI_Request make(struct ckpt_nonblocking *call, MPI_Comm comm,
                        const char *function, void *site)
{
    MPI_Request request =
        ckpt_request_new(CKPT_REQUEST_COLLECTIVE, function, site);

    if (request != NULL) {
        ckpt_nonblocking_retain(call);
        ckpt_retain(comm);
        request->persistent = 1;
        request->repeated = call;
        request->communicator = comm;
    }
    return request;
}

int ckpt_persistent_init(const struct ckpt_nonblocking *given,
                         ckpt_persistent_lower *lower, MPI_Info info,
                         MPI_Request *request_p, const char *function,
                         void *site)
{
    struct ckpt_nonblocking call = *given, *copy;
    const MPI_Comm comm = given->communicator;
    MPI_Request request = NULL;
    int code;

    code = ckpt_communicator_duplicate(comm, &call.communicator, function, site);
    if (code != MPI_SUCCESS) {
        CKPT_RETURN(comm, code, function);
    }
    copy = ckpt_nonblocking_copy(&call);
    code = copy == NULL ? MPI_ERR_NO_MEM : check(copy, lower, info, request_p);
    if (code == MPI_SUCCESS) {
        request = make(copy, comm, function, site);
        code = request == NULL ? MPI_ERR_NO_MEM : MPI_SUCCESS;
    }
    if (code == MPI_SUCCESS) {
        *request_p = request;
    } else {
        if (copy != NULL) {
            ckpt_nonblocking_free(copy);
        }
        ckpt_release(call.communicator);
    }
    CKPT_RETURN(comm, code, function);
}

int ckpt_persistent_start(MPI_Request request)
{
    CKPT_INVARIANT(request->repeated->communicator != request->communicator); /* a duplicate */
    if (__builtin_expect(ckpt_pending, 0)) {
        ckpt_collective_gate(request->repeated->communicator);
    }
    return ckpt_nonblocking_launch(request->repeated, request);
}

int ckpt_persistent_free(MPI_Request *request_p)
{
    MPI_Request request = *request_p;

    CKPT_INVARIANT(request->repeated != NULL);
    if (request->active && !ckpt_request_progress(request)) {
        return MPI_ERR_REQUEST; /* MPI 4.0, section 3.7.3 */
    }
    ckpt_request_retire(request); /* retires the operation it began */
    CKPT_INVARIANT(!request->active && !request->complete);
    ckpt_release(request->repeated->communicator);
    ckpt_nonblocking_release(request->repeated);
    ckpt_drop(request->communicator);
    request->persistent = 0;
    ckpt_request_retire(request);
    *request_p = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}
