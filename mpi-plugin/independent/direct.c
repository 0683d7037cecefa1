/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * direct.c - decide when a put may be in place before its delivery.
 */
#include "independent/direct.h"

#include "base/invariant.h"
#include "handles/info.h"
#include "independent/delivery.h"
#include "independent/fault_injection.h"
#include "independent/log/quiet.h"
#include "independent/replay.h"
#include "runtime/runtime.h"

#include <string.h>

int ckpt_direct_is_wanted(MPI_Win win)
{
    const char *hint = ckpt_info_value(win->infos, "ckpt_direct");
    const char *all = ckpt_runtime_getenv("CKPT_WINDOWS");

    if (win->flavor != MPI_WIN_FLAVOR_ALLOCATE) {
        return 0;
    }
    return hint != NULL ? strcmp(hint, "true") == 0
                        : all != NULL && strcmp(all, "direct") == 0;
}

/* ---- Origins ------------------------------------------------------------------ */

/* The target makes its copy while it holds the piece. So the first put of an origin must
 * hold the piece, too. Later puts need not until the next delivery. */
static int may_put(MPI_Win win, int piece)
{
    struct ckpt_record *record = win->independent->record;
    const int origin = win->comm->rank;
    int allowed;

    if (ckpt_quiet_is_broken(record, origin, piece)) {
        return 1;
    }
    ckpt_record_take(win, piece);
    allowed = ckpt_quiet_break(record, origin, piece);
    ckpt_record_give(win, piece);
    return allowed;
}

/* Returns whether all earlier staged records for the piece are in place. Otherwise the
 * put would overtake an accumulate, or a staged put, that comes before it in the log. */
static int is_next(const struct ckpt_independent_window *one, int piece)
{
    return one->placed[piece] + 1 == one->staged[piece];
}

/* In a replay the put is never placed. The rank may have been killed after this put, but
 * its later changes of its own memory may not be restored yet: it becomes live only
 * later. */
void ckpt_direct_put(MPI_Win win, struct ckpt_log_record *record)
{
    struct ckpt_independent_window *one = win->independent;
    const int piece = record->target;

    if (one->is_direct && !ckpt_replaying && is_next(one, piece) && may_put(win, piece)) {
        ckpt_rank_fault_kill(CKPT_FAULT_BEFORE_PLACE);
        ckpt_record_apply(record, ckpt_piece_memory(win, piece));
        ckpt_rank_fault_kill(CKPT_FAULT_AFTER_PLACE);
        record->kind = CKPT_LOGGED_PLACED;
        one->placed[piece]++;
    }
}

void ckpt_direct_delivered(MPI_Win win, int piece)
{
    struct ckpt_record *record = win->independent->record;

    CKPT_INVARIANT(win->independent->staged[piece] == 0);
    win->independent->placed[piece] = 0;
    if (ckpt_quiet_is_broken(record, win->comm->rank, piece)) {
        ckpt_quiet_restore(record, win->comm->rank, piece);
    }
}

/* ---- Targets ------------------------------------------------------------------- */

/* Checks all windows: only origins decide about direct puts, and their infos may
 * differ. */
int ckpt_direct_is_quiet(void)
{
    for (MPI_Win win = ckpt_independent_first(); win != NULL;
         win = ckpt_independent_next(win)) {
        if (!ckpt_quiet_is_kept(win->independent->record, ckpt_own_piece(win))) {
            return 0;
        }
    }
    return 1;
}

void ckpt_direct_ask(int asked)
{
    for (MPI_Win win = ckpt_independent_first(); win != NULL;
         win = ckpt_independent_next(win)) {
        if (!ckpt_window_is_shared(win)) {
            ckpt_quiet_ask(win->independent->record, win->comm->rank, asked);
        }
    }
}
