/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * area.c - see area.h.
 */
#include "area.h"

#include "seen.h"

/* Finds the parts of other ranks that this rank can load from. */
static void find_parts(struct area *area, int shared)
{
    int rank, unit;
    MPI_Aint size;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    area->part = calloc((size_t)area->ranks, sizeof *area->part);
    CHECK(area->part != NULL);
    for (int i = 0; shared && i < area->ranks; i++) {
        MPI_Win_shared_query(area->window, i, &size, &unit, &area->part[i]);
    }
    area->part[rank] = area->own;
}

void area_make_with(struct area *area, size_t bytes, int shared, MPI_Info info)
{
    const MPI_Aint size = (MPI_Aint)bytes;

    MPI_Comm_size(MPI_COMM_WORLD, &area->ranks);
    if (shared) {
        MPI_Win_allocate_shared(size, 1, info, MPI_COMM_WORLD, &area->own,
                                &area->window);
    } else {
        MPI_Win_allocate(size, 1, info, MPI_COMM_WORLD, &area->own,
                         &area->window);
    }
    find_parts(area, shared);
    MPI_Win_lock_all(0, area->window);
    memset(area->own, 0, bytes);
    area_meet(area);
}

void area_make(struct area *area, size_t bytes, int shared)
{
    area_make_with(area, bytes, shared, MPI_INFO_NULL);
}

void area_free(struct area *area)
{
    MPI_Win_unlock_all(area->window);
    MPI_Win_free(&area->window);
    free(area->part);
}

void area_read(const struct area *area, int rank, size_t at, void *to,
               size_t bytes)
{
    if (area->part[rank] != NULL) {
        memcpy(to, area->part[rank] + at, bytes);
    } else {
        MPI_Get(to, (int)bytes, MPI_BYTE, rank, (MPI_Aint)at, (int)bytes, MPI_BYTE,
                area->window);
        MPI_Win_flush(rank, area->window);
    }
    seen(to, bytes);
}

void area_write(const struct area *area, int rank, size_t at, const void *from,
                size_t bytes)
{
    MPI_Request request;

    if (area->part[rank] != NULL) {
        memcpy(area->part[rank] + at, from, bytes);
        return;
    }
    MPI_Rput(from, (int)bytes, MPI_BYTE, rank, (MPI_Aint)at, (int)bytes,
             MPI_BYTE, area->window, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

void area_flush(const struct area *area, int rank)
{
    MPI_Win_flush(rank, area->window);
    MPI_Win_sync(area->window);
}

void area_meet(const struct area *area)
{
    MPI_Win_flush_all(area->window);
    MPI_Win_sync(area->window);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(area->window);
}

static uint64_t fetch_and(const struct area *area, int rank, size_t at,
                          uint64_t number, MPI_Op op)
{
    uint64_t before;

    MPI_Fetch_and_op(&number, &before, MPI_UINT64_T, rank, (MPI_Aint)at, op,
                     area->window);
    MPI_Win_flush(rank, area->window);
    seen(&before, sizeof before);
    return before;
}

uint64_t area_fetch_add(const struct area *area, int rank, size_t at,
                        uint64_t number)
{
    return fetch_and(area, rank, at, number, MPI_SUM);
}

uint64_t area_fetch(const struct area *area, int rank, size_t at)
{
    return fetch_and(area, rank, at, 0, MPI_NO_OP);
}

void area_replace(const struct area *area, int rank, size_t at, uint64_t number)
{
    MPI_Accumulate(&number, 1, MPI_UINT64_T, rank, (MPI_Aint)at, 1,
                   MPI_UINT64_T, MPI_REPLACE, area->window);
    MPI_Win_flush(rank, area->window);
}

uint64_t area_compare_and_swap(const struct area *area, int rank, size_t at,
                               uint64_t expected, uint64_t number)
{
    uint64_t before;

    MPI_Compare_and_swap(&number, &expected, &before, MPI_UINT64_T, rank,
                         (MPI_Aint)at, area->window);
    MPI_Win_flush(rank, area->window);
    seen(&before, sizeof before);
    return before;
}
