/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * log_limit.c - decide which rank must take a checkpoint so that a log can be
 * trimmed.
 */
#include "independent/log_limit.h"

#include "independent/interval.h"
#include "independent/page.h"
#include "independent/replay.h"
#include "independent/staging.h"
#include "independent/window.h"

/* Asks for the oldest record, as rings are trimmed from the front. A record
 * that is not delivered yet waits for this rank itself. */
static void ask_for_oldest(void)
{
    uint64_t position = ckpt_log->writes.head;
    const struct ckpt_log_record *record =
        ckpt_log_find(ckpt_log, &ckpt_log->writes, &position);
    MPI_Win win = record == NULL || record->interval == 0
                      ? NULL
                      : ckpt_independent_find(record->window);

    if (win != NULL) {
        ckpt_piece_ask(win, record->target, record->interval);
    }
}

void ckpt_log_limit_look(void)
{
    if (ckpt_replaying) {
        return;
    }
    if (ckpt_log_is_above_limit(&ckpt_log->writes)) {
        ckpt_writes_trim();
    }
    if (ckpt_log_is_above_limit(&ckpt_log->writes)) {
        ask_for_oldest();
    }
    if (ckpt_log_is_above_limit(&ckpt_log->events)) {
        ckpt_rank_ask(ckpt_independent_self);
    }
}
