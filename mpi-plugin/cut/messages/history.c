/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * history.c - what this rank sees of the checkpoint under way.
 */
#include "cut/messages/history.h"

#include "link/rank_page.h"
#include "base/invariant.h"
#include "sys/syscall.h"

#include <string.h>
#include <time.h>

static uint64_t now(void)
{
    struct timespec time;

    ckpt_sys_clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

void ckpt_history_begin(void)
{
    struct ckpt_history *history = &ckpt_rank_page()->history;

    memset(history->count, 0, sizeof(history->count));
    history->logged_bytes = 0;
    history->kept = 0;
    ckpt_history_add(CKPT_SEEN_CUT, -1, 0);
}

void ckpt_history_add(enum ckpt_seen_kind kind, int peer, uint64_t value)
{
    struct ckpt_history *history = &ckpt_rank_page()->history;

    CKPT_INVARIANT((unsigned)kind < CKPT_SEEN_KINDS && history->kept <= CKPT_HISTORY_EVENTS);
    history->count[kind]++;
    history->logged_bytes += kind == CKPT_SEEN_LOGGED ? value : 0;
    if (history->kept < CKPT_HISTORY_EVENTS) {
        history->event[history->kept++] =
            (struct ckpt_seen){now(), value, kind, peer};
    }
}
