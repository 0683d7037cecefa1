/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * halo.c - see halo.h.
 *
 * With HALO_LOCK and HALO_LOCK_ALL one barrier in each step is enough. Before a rank writes into a
 * neighbour's copy again, it has met the neighbour after the neighbour's last read of that copy.
 */
#include "halo.h"

#include "blocks.h"
#include "seen.h"

const char *const halo_modes[] = {"fence", "lock", "lockall", "pscw", NULL};

/* Returns the position of row `row` of a copy in the part of a rank with `rows` rows. */
static size_t place(const struct halo *halo, long rows, int copy, long row)
{
    return (size_t)((copy * (rows + 2) + row) * halo->side);
}

uint32_t *halo_row(const struct halo *halo, int copy, long row)
{
    return halo->cells + place(halo, halo->rows, copy, row);
}

/* ---- The window ---------------------------------------------------------- */

static void find_neighbours(struct halo *halo)
{
    int ranks, members[2];
    MPI_Group all;

    MPI_Comm_rank(MPI_COMM_WORLD, &halo->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    CHECK(halo->side >= ranks);
    halo->up = (halo->rank + ranks - 1) % ranks;
    halo->down = (halo->rank + 1) % ranks;
    halo->rows = blocks_count(halo->side, ranks, halo->rank);
    halo->up_rows = blocks_count(halo->side, ranks, halo->up);
    halo->down_rows = blocks_count(halo->side, ranks, halo->down);
    members[0] = halo->up;
    members[1] = halo->down;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, halo->up == halo->down ? 1 : 2, members,
                   &halo->neighbours);
    MPI_Group_free(&all);
}

static void make_window(struct halo *halo, int shared)
{
    const size_t cells = place(halo, halo->rows, HALO_COPIES, 0);
    const MPI_Aint bytes = (MPI_Aint)(cells * sizeof *halo->cells);
    MPI_Aint size;
    int unit;

    halo->stored[0] = halo->stored[1] = NULL;
    if (shared) {
        MPI_Win_allocate_shared(bytes, sizeof *halo->cells, MPI_INFO_NULL,
                                MPI_COMM_WORLD, &halo->cells, &halo->window);
        MPI_Win_shared_query(halo->window, halo->up, &size, &unit,
                             &halo->stored[0]);
        MPI_Win_shared_query(halo->window, halo->down, &size, &unit,
                             &halo->stored[1]);
    } else {
        MPI_Win_allocate(bytes, sizeof *halo->cells, MPI_INFO_NULL,
                         MPI_COMM_WORLD, &halo->cells, &halo->window);
    }
    memset(halo->cells, 0, (size_t)bytes);
}

void halo_make(struct halo *halo, enum halo_mode mode, long side, int shared)
{
    halo->mode = mode;
    halo->side = side;
    find_neighbours(halo);
    make_window(halo, shared);
    if (mode == HALO_LOCK_ALL) {
        MPI_Win_lock_all(0, halo->window);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

void halo_free(struct halo *halo)
{
    if (halo->mode == HALO_LOCK_ALL) {
        MPI_Win_unlock_all(halo->window);
    }
    MPI_Win_free(&halo->window);
    MPI_Group_free(&halo->neighbours);
}

/* ---- The ways to exchange ------------------------------------------------ */

static void put_up(const struct halo *halo, int copy)
{
    MPI_Put(halo_row(halo, copy, 1), (int)halo->side, MPI_UINT32_T, halo->up,
            (MPI_Aint)place(halo, halo->up_rows, copy, halo->up_rows + 1),
            (int)halo->side, MPI_UINT32_T, halo->window);
}

static void put_down(const struct halo *halo, int copy)
{
    MPI_Put(halo_row(halo, copy, halo->rows), (int)halo->side, MPI_UINT32_T,
            halo->down, (MPI_Aint)place(halo, halo->down_rows, copy, 0),
            (int)halo->side, MPI_UINT32_T, halo->window);
}

static void exchange_fence(const struct halo *halo, int copy)
{
    const int side = (int)halo->side;

    MPI_Win_fence(MPI_MODE_NOPRECEDE, halo->window);
    MPI_Get(halo_row(halo, copy, 0), side, MPI_UINT32_T, halo->up,
            (MPI_Aint)place(halo, halo->up_rows, copy, halo->up_rows), side,
            MPI_UINT32_T, halo->window);
    MPI_Get(halo_row(halo, copy, halo->rows + 1), side, MPI_UINT32_T,
            halo->down, (MPI_Aint)place(halo, halo->down_rows, copy, 1), side,
            MPI_UINT32_T, halo->window);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, halo->window);
}

static void exchange_lock(const struct halo *halo, int copy)
{
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, halo->up, 0, halo->window);
    put_up(halo, copy);
    MPI_Win_unlock(halo->up, halo->window);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, halo->down, 0, halo->window);
    put_down(halo, copy);
    MPI_Win_unlock(halo->down, halo->window);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, halo->rank, 0, halo->window);
    MPI_Win_unlock(halo->rank, halo->window); /* this rank sees the puts */
}

static void rput_both(const struct halo *halo, int copy)
{
    const int side = (int)halo->side;
    MPI_Request requests[2];

    MPI_Rput(halo_row(halo, copy, 1), side, MPI_UINT32_T, halo->up,
             (MPI_Aint)place(halo, halo->up_rows, copy, halo->up_rows + 1),
             side, MPI_UINT32_T, halo->window, &requests[0]);
    MPI_Rput(halo_row(halo, copy, halo->rows), side, MPI_UINT32_T, halo->down,
             (MPI_Aint)place(halo, halo->down_rows, copy, 0), side,
             MPI_UINT32_T, halo->window, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Win_flush_all(halo->window);
}

static void store_both(const struct halo *halo, int copy)
{
    const size_t bytes = (size_t)halo->side * sizeof *halo->cells;

    memcpy(halo->stored[0] +
               place(halo, halo->up_rows, copy, halo->up_rows + 1),
           halo_row(halo, copy, 1), bytes);
    memcpy(halo->stored[1] + place(halo, halo->down_rows, copy, 0),
           halo_row(halo, copy, halo->rows), bytes);
}

static void exchange_lock_all(const struct halo *halo, int copy)
{
    if (halo->stored[0] != NULL) {
        store_both(halo, copy);
    } else {
        rput_both(halo, copy);
    }
    MPI_Win_sync(halo->window);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(halo->window);
}

static void exchange_pscw(const struct halo *halo, int copy)
{
    MPI_Win_post(halo->neighbours, 0, halo->window);
    MPI_Win_start(halo->neighbours, 0, halo->window);
    put_up(halo, copy);
    put_down(halo, copy);
    MPI_Win_complete(halo->window);
    MPI_Win_wait(halo->window);
}

void halo_exchange(const struct halo *halo, int copy)
{
    switch (halo->mode) {
    case HALO_FENCE:
        exchange_fence(halo, copy);
        break;
    case HALO_LOCK:
        exchange_lock(halo, copy);
        break;
    case HALO_LOCK_ALL:
        exchange_lock_all(halo, copy);
        break;
    case HALO_PSCW:
        exchange_pscw(halo, copy);
        break;
    }
    seen(halo_row(halo, copy, 0), (size_t)halo->side * sizeof *halo->cells);
    seen(halo_row(halo, copy, halo->rows + 1), (size_t)halo->side * sizeof *halo->cells);
}
