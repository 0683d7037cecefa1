/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * withhold.c - withhold completions until it is known on which side of the cut
 * they are.
 */
#include "cut/withhold.h"

#include "cut/epoch.h"
#include "cut/nonblocking.h"
#include "cut/report.h"
#include "cut/synchronous_send.h"
#include "handles/kinds.h"
#include "runtime/lane.h"

static int withheld; /* 1 if any request may be withheld */

int ckpt_withhold_is_due(void)
{
    return ckpt_checkpoint.armed && ckpt_checkpoint.moving &&
           !ckpt_epoch_open && !ckpt_multiple;
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

int ckpt_withhold(MPI_Request request)
{
    if (!ckpt_withhold_is_due() || !is_doubtful(request)) {
        return 0;
    }
    if (request->request_kind == CKPT_REQUEST_COLLECTIVE) {
        ckpt_nonblocking_withheld(request);
    }
    request->withheld = 1;
    withheld = 1;
    return 1;
}

void ckpt_withheld_report(void)
{
    if (withheld && ckpt_withhold_is_due() && !ckpt_checkpoint.hold &&
        !ckpt_checkpoint.cut_due) {
        ckpt_checkpoint.hold = 1;
        ckpt_report_place(CKPT_MSG_REPORT, CKPT_PLACE_FREE, 0, 0, 1);
    }
}

void ckpt_withhold_synchronous(void)
{
    ckpt_begin();
    ckpt_synchronous_used = 1;
    withheld |= ckpt_withhold_is_due();
    ckpt_end_quietly();
    ckpt_service();
}

static void let_complete(MPI_Request request)
{
    request->withheld = 0;
    request->complete = 1;
    if (request->request_kind == CKPT_REQUEST_COLLECTIVE) {
        ckpt_nonblocking_confirmed(request);
    }
}

void ckpt_withheld_cut(void)
{
    struct ckpt_handle *handle = ckpt_live(CKPT_REQUEST);

    for (; handle != NULL && withheld; handle = ckpt_live_next(handle)) {
        const MPI_Request request = (MPI_Request)handle;

        if (!request->withheld ||
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

void ckpt_withheld_confirm(void)
{
    struct ckpt_handle *handle = ckpt_live(CKPT_REQUEST);

    for (; handle != NULL && withheld; handle = ckpt_live_next(handle)) {
        if (((MPI_Request)handle)->withheld) {
            let_complete((MPI_Request)handle);
        }
    }
    withheld = 0;
}
