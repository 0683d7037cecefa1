/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * remote.c [STEPS [STOP_FILE]] - ranks that work in each other's memory, by every kind of window
 * and of synchronisation.
 *
 * Each step has these parts: a halo between fences; a ring of post and start; a hash table under
 * exclusive locks; counters inside of one MPI_Win_lock_all that never ends; stores into shared
 * memory under a lock made of compare-and-swap; and now and then memory that is attached for one
 * use. The step determines all results, so the program detects an access that is lost, duplicated,
 * too early or too late. With STEPS 0 it runs until STOP_FILE exists.
 */
#include "selfcheck.h"

#include <unistd.h>

#define HALO           700 /* numbers */
#define BUCKET         64  /* keys of one rank's part of the table */
#define KEYS           5   /* inserted by each rank at each step */
#define STEPS_PER_LINE 16  /* of progress output, and between checks for the file */
#define LIFE           96  /* steps after which all windows are made again */

enum {
    COUNTER,
    SUM,
    COUNTERS
};
enum {
    LOCK,
    TOTAL,
    SHARED
};

static int rank, size, left, right;
static int node_rank, node_size;
static MPI_Comm node; /* ranks that can share memory */
static MPI_Win halo, ring, table, counters, shared, attached;
static MPI_Group left_group, right_group;

static uint64_t halo_cells[2 * HALO]; /* from the left, from the right */
static uint64_t *ring_cell, *counter_cells, *shared_cells;
static uint64_t bucket[1 + BUCKET]; /* number of keys, then the keys */

static void open_windows(void)
{
    MPI_Win_create(halo_cells, sizeof halo_cells, sizeof *halo_cells,
                   MPI_INFO_NULL, MPI_COMM_WORLD, &halo);
    MPI_Win_allocate(sizeof *ring_cell, 1, MPI_INFO_NULL, MPI_COMM_WORLD,
                     &ring_cell, &ring);
    MPI_Win_create(bucket, sizeof bucket, sizeof *bucket, MPI_INFO_NULL,
                   MPI_COMM_WORLD, &table);
    MPI_Win_allocate(COUNTERS * sizeof *counter_cells, sizeof *counter_cells,
                     MPI_INFO_NULL, MPI_COMM_WORLD, &counter_cells, &counters);
    MPI_Win_allocate_shared(SHARED * sizeof *shared_cells, sizeof *shared_cells,
                            MPI_INFO_NULL, node, &shared_cells, &shared);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &attached);
    memset(counter_cells, 0, COUNTERS * sizeof *counter_cells);
    memset(shared_cells, 0, SHARED * sizeof *shared_cells);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, counters);
    MPI_Win_lock_all(0, shared);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, attached);
    MPI_Win_fence(0, halo);
}

static void close_windows(void)
{
    MPI_Win_fence(MPI_MODE_NOSUCCEED, halo);
    MPI_Win_unlock_all(counters);
    MPI_Win_unlock_all(shared);
    MPI_Win_unlock_all(attached);
    MPI_Win_free(&halo);
    MPI_Win_free(&ring);
    MPI_Win_free(&table);
    MPI_Win_free(&counters);
    MPI_Win_free(&shared);
    MPI_Win_free(&attached);
}

/* Puts each rank's row to both neighbours, between two fences. */
static void exchange_halo(uint64_t step)
{
    static uint64_t row[HALO];

    fill(row, sizeof row, mix4(1, step, (uint64_t)rank, 0));
    MPI_Put(row, HALO, MPI_UINT64_T, right, 0, HALO, MPI_UINT64_T, halo);
    MPI_Put(row, HALO, MPI_UINT64_T, left, HALO, HALO, MPI_UINT64_T, halo);
    MPI_Win_fence(0, halo);
    CHECK(is_filled(halo_cells, sizeof row, mix4(1, step, (uint64_t)left, 0)));
    CHECK(is_filled(halo_cells + HALO, sizeof row,
                    mix4(1, step, (uint64_t)right, 0)));
    MPI_Win_fence(0, halo);
}

/* Each rank puts into the right neighbour's cell, for which the neighbour has called post. */
static void pass_ring(uint64_t step)
{
    uint64_t mine = mix4(2, step, (uint64_t)rank, 0);
    int done = 0;

    *ring_cell = 0;
    MPI_Win_post(left_group, 0, ring);
    MPI_Win_start(right_group, 0, ring);
    MPI_Put(&mine, 1, MPI_UINT64_T, right, 0, 1, MPI_UINT64_T, ring);
    MPI_Win_complete(ring);
    if (step % 2 == 0) {
        MPI_Win_wait(ring);
    }
    while (step % 2 != 0 && !done) {
        MPI_Win_test(ring, &done);
    }
    CHECK(*ring_cell == mix4(2, step, (uint64_t)left, 0));
}

static void insert(uint64_t key)
{
    const int owner = (int)(key % (uint64_t)size);
    uint64_t count;

    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, owner, 0, table);
    MPI_Get(&count, 1, MPI_UINT64_T, owner, 0, 1, MPI_UINT64_T, table);
    MPI_Win_flush(owner, table);
    CHECK(count < BUCKET);
    count++;
    MPI_Put(&key, 1, MPI_UINT64_T, owner, (MPI_Aint)count, 1, MPI_UINT64_T,
            table);
    MPI_Put(&count, 1, MPI_UINT64_T, owner, 0, 1, MPI_UINT64_T, table);
    MPI_Win_unlock(owner, table);
}

static uint64_t key_of(uint64_t step, int inserter, int number)
{
    return mix4(3, step, (uint64_t)inserter, (uint64_t)number);
}

/* All ranks insert keys; each checks that its part holds the right keys. */
static uint64_t fill_table(uint64_t step)
{
    uint64_t expected = 0, found = 0, sum;

    for (int i = 0; i < KEYS; i++) {
        insert(key_of(step, rank, i));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < size * KEYS; i++) {
        uint64_t key = key_of(step, i / KEYS, i % KEYS);

        expected += key % (uint64_t)size == (uint64_t)rank ? mix(key) : 0;
    }
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, table);
    for (uint64_t i = 1; i <= bucket[0]; i++) {
        found += mix(bucket[i]);
    }
    sum = found;
    MPI_Win_unlock(rank, table);
    CHECK(found == expected);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, table);
    bucket[0] = 0;
    MPI_Win_unlock(rank, table);
    MPI_Barrier(MPI_COMM_WORLD);
    return sum;
}

/* Draws numbers from the counter of the right neighbour, which no other rank uses, and adds to a
 * sum at every rank. */
static void count(uint64_t age)
{
    uint64_t one = 1, drawn = 0, value = age + (uint64_t)rank, seen = 0;
    MPI_Request request;

    MPI_Fetch_and_op(&one, &drawn, MPI_UINT64_T, right, COUNTER, MPI_SUM,
                     counters);
    for (int to = 0; to < size; to++) {
        MPI_Accumulate(&value, 1, MPI_UINT64_T, to, SUM, 1, MPI_UINT64_T,
                       MPI_SUM, counters);
    }
    MPI_Win_flush_all(counters);
    CHECK(drawn == age);
    MPI_Rget(&seen, 1, MPI_UINT64_T, right, COUNTER, 1, MPI_UINT64_T, counters,
             &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(seen == age + 1);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(counters);
    CHECK(counter_cells[SUM] ==
          (uint64_t)size * (age * (age + 1) / 2) +
              (age + 1) * (uint64_t)(size * (size - 1) / 2));
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Adds to a number of the node's first rank by load and store, under a lock made of
 * compare-and-swap. */
static void add_shared(uint64_t age)
{
    const uint64_t nobody = 0, me = (uint64_t)node_rank + 1;
    volatile uint64_t *cells;
    uint64_t before;
    MPI_Aint bytes;
    int unit;

    MPI_Win_shared_query(shared, 0, &bytes, &unit, &cells);
    do {
        MPI_Compare_and_swap(&me, &nobody, &before, MPI_UINT64_T, 0, LOCK,
                             shared);
        MPI_Win_flush(0, shared);
    } while (before != nobody);
    cells[TOTAL] = cells[TOTAL] + me;
    MPI_Win_sync(shared);
    MPI_Accumulate(&nobody, 1, MPI_UINT64_T, 0, LOCK, 1, MPI_UINT64_T,
                   MPI_REPLACE, shared);
    MPI_Win_flush(0, shared);
    MPI_Barrier(node);
    MPI_Win_sync(shared);
    CHECK(cells[TOTAL] ==
          (age + 1) * (uint64_t)(node_size * (node_size + 1) / 2));
    MPI_Barrier(node);
}

static void use_attached(uint64_t step)
{
    uint64_t *cells = malloc(HALO * sizeof *cells), mine;
    MPI_Aint here, there;

    MPI_Win_attach(attached, cells, HALO * sizeof *cells);
    MPI_Get_address(&cells[HALO - 1], &here);
    MPI_Sendrecv(&here, 1, MPI_AINT, left, 0, &there, 1, MPI_AINT, right, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    mine = mix4(4, step, (uint64_t)rank, 0);
    MPI_Put(&mine, 1, MPI_UINT64_T, right, there, 1, MPI_UINT64_T, attached);
    MPI_Win_flush(right, attached);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(cells[HALO - 1] == mix4(4, step, (uint64_t)left, 0));
    MPI_Win_detach(attached, cells);
    free(cells);
}

/* Runs one step; returns its contribution to the answer. */
static uint64_t work(uint64_t step)
{
    uint64_t sum;

    exchange_halo(step);
    pass_ring(step);
    sum = fill_table(step);
    count(step % LIFE);
    add_shared(step % LIFE);
    if (step % 8 == 0) {
        use_attached(step);
    }
    return sum;
}

static void make_groups(void)
{
    MPI_Group world;

    left = (rank + size - 1) % size;
    right = (rank + 1) % size;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &left, &left_group);
    MPI_Group_incl(world, 1, &right, &right_group);
    MPI_Group_free(&world);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL,
                        &node);
    MPI_Comm_rank(node, &node_rank);
    MPI_Comm_size(node, &node_size);
}

int main(int argc, char **argv)
{
    uint64_t steps, sum = 0;
    int last = 0;

    MPI_Init(&argc, &argv);
    steps = (uint64_t)number_argument(argc, argv, 1, 200);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    make_groups();
    for (uint64_t step = 0; !last; step++) {
        if (step % LIFE == 0) {
            open_windows();
        }
        sum += work(step);
        if (step % LIFE == LIFE - 1) {
            close_windows();
        }
        if (step % STEPS_PER_LINE == 0) {
            last = steps == 0 && access(argv[2], F_OK) == 0;
            MPI_Bcast(&last, 1, MPI_INT, 0, MPI_COMM_WORLD);
            if (rank == 0) {
                printf("step %" PRIu64 "\n", step);
                fflush(stdout);
            }
        }
        last = last || step + 1 == steps;
        if (last && step % LIFE != LIFE - 1) {
            close_windows();
        }
    }
    MPI_Group_free(&left_group);
    MPI_Group_free(&right_group);
    print_answer(sum);
    MPI_Finalize();
    return 0;
}
