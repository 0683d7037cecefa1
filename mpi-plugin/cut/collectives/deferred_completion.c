/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * deferred_completion.c - defer completions until it is known on which side of the cut
 * they are.
 */
#include "cut/collectives/deferred_completion.h"

#include "cut/collectives/nonblocking.h"
#include "cut/messages/rank_cut.h"
#include "cut/messages/report.h"
#include "cut/messages/synchronous_send.h"
#include "handles/kinds.h"
#include "runtime/crossing.h"

static int deferred; /* 1 if any request may be deferred */

int ckpt_deferral_is_due(void)
{
    return ckpt_checkpoint.armed && ckpt_checkpoint.moving &&
           !ckpt_rank_cut_open && !ckpt_multiple;
}

/* Returns whether a completion may belong to the time after the cut. A freed
 * request has no one to notify, and a collective up to the target completes
 * before any cut. */
static int is_doubtful(MPI_Request request)
{
    if (request->request_kind == CKPT_REQUEST_COLLECTIVE) {
        return !ckpt_nonblocking_in_cut(request);
    }
    return ckpt_request_is_synchronous(request) && request->peer >= 0 &&
           !request->status._cancelled && request->code == MPI_SUCCESS &&
           (request->handle.flags & CKPT_HANDLE_FREED) == 0;
}

int ckpt_defer_completion(MPI_Request request)
{
    if (!ckpt_deferral_is_due() || !is_doubtful(request)) {
        return 0;
    }
    if (request->request_kind == CKPT_REQUEST_COLLECTIVE) {
        ckpt_nonblocking_deferred(request);
    }
    request->deferred = 1;
    deferred = 1;
    return 1;
}

void ckpt_deferred_report(void)
{
    if (deferred && ckpt_deferral_is_due() && !ckpt_checkpoint.hold &&
        !ckpt_checkpoint.cut_due) {
        ckpt_checkpoint.hold = 1;
        ckpt_report_place(CKPT_MSG_REPORT, CKPT_PLACE_FREE, 0, 0, 1);
    }
}

void ckpt_defer_synchronous(void)
{
    ckpt_begin();
    ckpt_synchronous_used = 1;
    deferred |= ckpt_deferral_is_due();
    ckpt_end_quietly();
    ckpt_service();
}

static void let_complete(MPI_Request request)
{
    request->deferred = 0;
    request->complete = 1;
    if (request->request_kind == CKPT_REQUEST_COLLECTIVE) {
        ckpt_nonblocking_confirmed(request);
    }
}

void ckpt_deferred_cut(void)
{
    struct ckpt_handle *handle = ckpt_live(CKPT_REQUEST);

    for (; handle != NULL && deferred; handle = ckpt_live_next(handle)) {
        const MPI_Request request = (MPI_Request)handle;

        if (!request->deferred ||
            request->request_kind != CKPT_REQUEST_COLLECTIVE) {
            continue;
        }
        if (ckpt_nonblocking_in_cut(request)) {
            let_complete(request);
        } else {
            ckpt_nonblocking_left_pending(request);
        }
    }
}

void ckpt_deferred_confirm(void)
{
    struct ckpt_handle *handle = ckpt_live(CKPT_REQUEST);

    for (; handle != NULL && deferred; handle = ckpt_live_next(handle)) {
        if (((MPI_Request)handle)->deferred) {
            let_complete((MPI_Request)handle);
        }
    }
    deferred = 0;
}
