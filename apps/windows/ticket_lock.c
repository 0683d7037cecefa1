/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ticket_lock.c - see ticket_lock.h.
 */
#include "ticket_lock.h"

#include <sched.h>

#define TURN sizeof(uint64_t) /* after the next ticket */

void ticket_lock(const struct area *area, int rank, size_t at)
{
    const uint64_t ticket = area_fetch_add(area, rank, at, 1);

    while (area_fetch(area, rank, at + TURN) != ticket) {
        sched_yield();
    }
    MPI_Win_sync(area->window);
}

void ticket_unlock(const struct area *area, int rank, size_t at)
{
    area_flush(area, rank);
    area_fetch_add(area, rank, at + TURN, 1);
}
