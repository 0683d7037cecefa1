/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pause.c - see pause.h.
 */
#include "independent/pause.h"

#include "handles/message_log.h"
#include "handles/request.h"
#include "independent/overhead.h"
#include "runtime/crossing.h"

#include <sched.h>
#include <stdint.h>
#include <unistd.h>

/* Turns that are further apart than this belong to different waits. */
#define ONE_WAIT_NS 20000
/* A wait up to this long is probably for a rank that is running. */
#define SHORT_WAIT_NS 1000000
/* One turn in so many does more than pause, which takes a microsecond or
 * two. */
#define TURNS 32

static int has_processor;
static uint64_t began, last_turn;

void ckpt_independent_pause_open(int rank_count)
{
    has_processor = rank_count <= sysconf(_SC_NPROCESSORS_ONLN);
}

static int is_short(void)
{
    const uint64_t now = ckpt_overhead_clock();

    if (now - last_turn > ONE_WAIT_NS) {
        began = now;
    }
    last_turn = now;
    return now - began < SHORT_WAIT_NS;
}

void ckpt_independent_pause(void)
{
    static uint32_t turns;

    if (has_processor && ++turns % TURNS != 0) {
        __builtin_ia32_pause();
        return;
    }
    ckpt_log_progress(); /* the rank that we wait for may need it */
    ckpt_end();
    ckpt_poll_failed();
    if (!has_processor || !is_short()) {
        sched_yield();
    }
    ckpt_begin();
}
