/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * entry.c - operations with requests: a staged or finished operation is complete at the
 * origin.
 */
#include "independent/calls/entry.h"

#include "base/invariant.h"
#include "handles/request.h"

/* Makes a complete request. `code`: of its operation. */
static int complete(int code, MPI_Request *request, const char *name)
{
    MPI_Request one;

    if (code != MPI_SUCCESS) {
        return code;
    }
    if (request == NULL) {
        return MPI_ERR_REQUEST;
    }
    one = ckpt_request_remote(NULL, name, NULL);
    if (one == MPI_REQUEST_NULL) {
        return MPI_ERR_NO_MEM;
    }
    CKPT_INVARIANT(one->active && one->handle.lower == NULL); /* nothing to wait for */
    one->status = ckpt_empty_status;
    one->code = MPI_SUCCESS;
    one->complete = 1;
    *request = one;
    return MPI_SUCCESS;
}

int ckpt_independent_Fetch_and_op(const void *origin, void *result, MPI_Datatype type,
                                  int target, MPI_Aint place, MPI_Op op, MPI_Win win)
{
    return ckpt_access_get_accumulate(origin, 1, type, result, 1, type, target, place, 1,
                                      type, op, win);
}

int ckpt_independent_Rput(const void *origin, int origin_count, MPI_Datatype origin_type,
                          int target, MPI_Aint place, int target_count,
                          MPI_Datatype target_type, MPI_Win win, MPI_Request *request)
{
    const int code = ckpt_access_put(origin, origin_count, origin_type, target, place,
                                     target_count, target_type, win);

    return complete(code, request, "MPI_Rput");
}

int ckpt_independent_Rget(void *origin, int origin_count, MPI_Datatype origin_type,
                          int target, MPI_Aint place, int target_count,
                          MPI_Datatype target_type, MPI_Win win, MPI_Request *request)
{
    const int code = ckpt_access_get(origin, origin_count, origin_type, target, place,
                                     target_count, target_type, win);

    return complete(code, request, "MPI_Rget");
}

int ckpt_independent_Raccumulate(const void *origin, int origin_count,
                                 MPI_Datatype origin_type, int target, MPI_Aint place,
                                 int target_count, MPI_Datatype target_type, MPI_Op op,
                                 MPI_Win win, MPI_Request *request)
{
    const int code = ckpt_access_accumulate(origin, origin_count, origin_type, target, place,
                                            target_count, target_type, op, win);

    return complete(code, request, "MPI_Raccumulate");
}

int ckpt_independent_Rget_accumulate(const void *origin, int origin_count,
                                     MPI_Datatype origin_type, void *result,
                                     int result_count, MPI_Datatype result_type, int target,
                                     MPI_Aint place, int target_count,
                                     MPI_Datatype target_type, MPI_Op op, MPI_Win win,
                                     MPI_Request *request)
{
    const int code = ckpt_access_get_accumulate(
        origin, origin_count, origin_type, result, result_count, result_type, target, place,
        target_count, target_type, op, win);

    return complete(code, request, "MPI_Rget_accumulate");
}
