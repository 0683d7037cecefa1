/* SPDX-License-Identifier: BSD-3-Clause */
/* pending_set.c - see pending_set.h. */
#include "wrap/pending_set.h"

#include "base/invariant.h"
#include "handles/kinds.h"
#include "runtime/crossing.h"

#include <stdlib.h>
#include <string.h>

static struct {
    int count;          /* elements of `given`; 0: no array is kept */
    int active;         /* elements of `owner` and `lower` */
    int room;           /* capacity of each of the three */
    uint64_t changes;   /* ckpt_request_changes when the array was kept */
    MPI_Request *given; /* copy of the application's array */
    MPI_Request *owner; /* its requests that are not MPI_REQUEST_NULL */
    MPI_Request *lower; /* their requests in the lower half */
} kept;

/* The array of the last unsuccessful pass. */
static struct {
    MPI_Request const *requests;
    int count;
} last;

int ckpt_pending_set_is(int count, MPI_Request const requests[])
{
    return count == kept.count && kept.changes == ckpt_request_changes &&
           memcmp(requests, kept.given, (size_t)count * sizeof *requests) == 0;
}

int ckpt_pending_set_test(void)
{
    MPI_Status status;
    int place = MPI_UNDEFINED, flag = 0, code;
    MPI_Request request;

    CKPT_CALL(code, Testany, kept.active, kept.lower, &place, &flag, &status);
    if (__builtin_expect(code == MPI_SUCCESS && !flag, 1)) {
        return 0;
    }
    kept.count = 0;
    if (place != MPI_UNDEFINED) {
        CKPT_INVARIANT(place >= 0 && place < kept.active);
        request = kept.owner[place];
        request->handle.lower = kept.lower[place];
        ckpt_request_completed(request, &status, code);
    }
    return 1;
}

int ckpt_pending_set_active(void)
{
    return kept.active;
}

static int make_room(int count)
{
    if (count > kept.room) {
        const size_t bytes = (size_t)count * sizeof(MPI_Request);
        MPI_Request *all = malloc(3 * bytes);

        if (all == NULL) {
            return 0;
        }
        free(kept.given);
        kept.given = all;
        kept.owner = all + count;
        kept.lower = all + 2 * (size_t)count;
        kept.room = count;
    }
    return 1;
}

/* A collective or partitioned operation needs more than a test, so it is not in
 * the set. */
static int is_pending_below(MPI_Request request)
{
    return request->active && !request->complete && request->handle.lower != NULL &&
           (request->request_kind == CKPT_REQUEST_SEND ||
            request->request_kind == CKPT_REQUEST_RECEIVE ||
            request->request_kind == CKPT_REQUEST_FILE ||
            request->request_kind == CKPT_REQUEST_REMOTE);
}

/* Fills `owner` and `lower`. Returns 0 if the requests cannot all be tested
 * together. */
static int gather(int count, MPI_Request const requests[])
{
    kept.active = 0;
    for (int i = 0; i < count; i++) {
        if (requests[i] == MPI_REQUEST_NULL) {
            continue;
        }
        if (!is_pending_below(requests[i])) {
            return 0;
        }
        CKPT_INVARIANT(kept.active < kept.room);
        kept.owner[kept.active] = requests[i];
        kept.lower[kept.active++] = requests[i]->handle.lower;
    }
    return kept.active > 0;
}

void ckpt_pending_set_note(int count, MPI_Request const requests[])
{
    kept.count = 0;
    if (requests != last.requests || count != last.count) {
        last.requests = requests;
        last.count = count;
        return;
    }
    if (make_room(count) && gather(count, requests)) {
        CKPT_INVARIANT(kept.active <= count && count <= kept.room);
        memcpy(kept.given, requests, (size_t)count * sizeof *requests);
        kept.changes = ckpt_request_changes;
        kept.count = count;
    }
}
