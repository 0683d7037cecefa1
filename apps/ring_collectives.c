/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ring_collectives.c - every collective operation of MPI, checked.
 *
 * Each function calls its operation, blocking or nonblocking with an immediate
 * wait, and compares all received data with the data that the other ranks must
 * have sent.
 */
#include "ring_collectives.h"

#include "selfcheck.h"

#define WIDTH 5 /* elements per pair of ranks */

/* Calls one form of an operation; both forms have the same arguments, except
 * for the request. Needs `immediate` in scope. */
#define COLLECTIVE(blocking, nonblocking, ...)     \
    do {                                           \
        if (immediate) {                           \
            MPI_Request request;                   \
            nonblocking(__VA_ARGS__, &request);    \
            MPI_Wait(&request, MPI_STATUS_IGNORE); \
            CHECK(request == MPI_REQUEST_NULL);    \
        } else {                                   \
            blocking(__VA_ARGS__);                 \
        }                                          \
    } while (0)

/* Returns element `i` of the data that rank `from` sends to rank `to`. */
static uint64_t item(const struct place *p, int from, int to, int i)
{
    return mix4(p->step, (uint64_t)from, (uint64_t)to, (uint64_t)i);
}

static void put(const struct place *p, uint64_t *data, int from, int to, int n)
{
    for (int i = 0; i < n; i++) {
        data[i] = item(p, from, to, i);
    }
}

static void check(const struct place *p, const uint64_t *data, int from, int to,
                  int n)
{
    for (int i = 0; i < n; i++) {
        CHECK(data[i] == item(p, from, to, i));
    }
}

/* Returns the sum of element `i` that ranks [0, last] send to `to`. */
static uint64_t sum_of(const struct place *p, int last, int to, int i)
{
    uint64_t sum = 0;

    for (int from = 0; from <= last; from++) {
        sum += item(p, from, to, i);
    }
    return sum;
}

static void check_sum(const struct place *p, const uint64_t *data, int last,
                      int to, int n)
{
    for (int i = 0; i < n; i++) {
        CHECK(data[i] == sum_of(p, last, to, i));
    }
}

static int root_of(const struct place *p)
{
    return (int)(p->step % (uint64_t)p->size);
}

/* Uneven counts for the v operations: between 1 and WIDTH elements. */
static int count_of(int rank)
{
    return 1 + rank % WIDTH;
}

static void uneven(const struct place *p, int *counts, int *places)
{
    for (int r = 0; r < p->size; r++) {
        counts[r] = count_of(r);
        places[r] = r * WIDTH + r % 2;
    }
}

static uint64_t sum_up(const uint64_t *data, int n)
{
    return checksum(0, data, (size_t)n * sizeof *data);
}

static uint64_t barrier(const struct place *p, int immediate)
{
    COLLECTIVE(MPI_Barrier, MPI_Ibarrier, p->comm);
    return 1;
}

static uint64_t bcast(const struct place *p, int immediate)
{
    uint64_t data[WIDTH] = {0};
    int root = root_of(p);

    if (p->rank == root) {
        put(p, data, root, 0, WIDTH);
    }
    COLLECTIVE(MPI_Bcast, MPI_Ibcast, data, WIDTH, MPI_UINT64_T, root, p->comm);
    check(p, data, root, 0, WIDTH);
    return sum_up(data, WIDTH);
}

static uint64_t gather(const struct place *p, int immediate)
{
    uint64_t in[WIDTH], out[MAX_RANKS * WIDTH] = {0};
    int root = root_of(p);

    put(p, in, p->rank, root, WIDTH);
    COLLECTIVE(MPI_Gather, MPI_Igather, in, WIDTH, MPI_UINT64_T, out, WIDTH,
               MPI_UINT64_T, root, p->comm);
    for (int r = 0; r < p->size && p->rank == root; r++) {
        check(p, out + r * WIDTH, r, root, WIDTH);
    }
    return sum_up(out, p->size * WIDTH);
}

static uint64_t gatherv(const struct place *p, int immediate)
{
    uint64_t in[WIDTH], out[MAX_RANKS * WIDTH + 1] = {0};
    int counts[MAX_RANKS], places[MAX_RANKS];
    int root = root_of(p);

    uneven(p, counts, places);
    put(p, in, p->rank, root, counts[p->rank]);
    COLLECTIVE(MPI_Gatherv, MPI_Igatherv, in, counts[p->rank], MPI_UINT64_T,
               out, counts, places, MPI_UINT64_T, root, p->comm);
    for (int r = 0; r < p->size && p->rank == root; r++) {
        check(p, out + places[r], r, root, counts[r]);
    }
    return sum_up(out, p->size * WIDTH);
}

static uint64_t scatter(const struct place *p, int immediate)
{
    uint64_t in[MAX_RANKS * WIDTH], out[WIDTH] = {0};
    int root = root_of(p);

    for (int r = 0; r < p->size; r++) {
        put(p, in + r * WIDTH, root, r, WIDTH);
    }
    COLLECTIVE(MPI_Scatter, MPI_Iscatter, in, WIDTH, MPI_UINT64_T, out, WIDTH,
               MPI_UINT64_T, root, p->comm);
    check(p, out, root, p->rank, WIDTH);
    return sum_up(out, WIDTH);
}

static uint64_t scatterv(const struct place *p, int immediate)
{
    uint64_t in[MAX_RANKS * WIDTH + 1], out[WIDTH] = {0};
    int counts[MAX_RANKS], places[MAX_RANKS];
    int root = root_of(p);

    uneven(p, counts, places);
    for (int r = 0; r < p->size; r++) {
        put(p, in + places[r], root, r, counts[r]);
    }
    COLLECTIVE(MPI_Scatterv, MPI_Iscatterv, in, counts, places, MPI_UINT64_T,
               out, counts[p->rank], MPI_UINT64_T, root, p->comm);
    check(p, out, root, p->rank, counts[p->rank]);
    return sum_up(out, WIDTH);
}

static uint64_t allgather(const struct place *p, int immediate)
{
    uint64_t in[WIDTH], out[MAX_RANKS * WIDTH] = {0};

    put(p, in, p->rank, 0, WIDTH);
    COLLECTIVE(MPI_Allgather, MPI_Iallgather, in, WIDTH, MPI_UINT64_T, out,
               WIDTH, MPI_UINT64_T, p->comm);
    for (int r = 0; r < p->size; r++) {
        check(p, out + r * WIDTH, r, 0, WIDTH);
    }
    return sum_up(out, p->size * WIDTH);
}

static uint64_t allgatherv(const struct place *p, int immediate)
{
    uint64_t in[WIDTH], out[MAX_RANKS * WIDTH + 1] = {0};
    int counts[MAX_RANKS], places[MAX_RANKS];

    uneven(p, counts, places);
    put(p, in, p->rank, 0, counts[p->rank]);
    COLLECTIVE(MPI_Allgatherv, MPI_Iallgatherv, in, counts[p->rank],
               MPI_UINT64_T, out, counts, places, MPI_UINT64_T, p->comm);
    for (int r = 0; r < p->size; r++) {
        check(p, out + places[r], r, 0, counts[r]);
    }
    return sum_up(out, p->size * WIDTH);
}

static uint64_t alltoall(const struct place *p, int immediate)
{
    uint64_t in[MAX_RANKS * WIDTH], out[MAX_RANKS * WIDTH] = {0};

    for (int r = 0; r < p->size; r++) {
        put(p, in + r * WIDTH, p->rank, r, WIDTH);
    }
    COLLECTIVE(MPI_Alltoall, MPI_Ialltoall, in, WIDTH, MPI_UINT64_T, out, WIDTH,
               MPI_UINT64_T, p->comm);
    for (int r = 0; r < p->size; r++) {
        check(p, out + r * WIDTH, r, p->rank, WIDTH);
    }
    return sum_up(out, p->size * WIDTH);
}

/* In the v and w forms rank a sends count_of(a + b) elements to rank b. */
static uint64_t alltoallv(const struct place *p, int immediate)
{
    uint64_t in[MAX_RANKS * WIDTH], out[MAX_RANKS * WIDTH] = {0};
    int counts[MAX_RANKS], places[MAX_RANKS];

    for (int r = 0; r < p->size; r++) {
        counts[r] = count_of(p->rank + r);
        places[r] = r * WIDTH;
        put(p, in + places[r], p->rank, r, counts[r]);
    }
    COLLECTIVE(MPI_Alltoallv, MPI_Ialltoallv, in, counts, places, MPI_UINT64_T,
               out, counts, places, MPI_UINT64_T, p->comm);
    for (int r = 0; r < p->size; r++) {
        check(p, out + places[r], r, p->rank, counts[r]);
    }
    return sum_up(out, p->size * WIDTH);
}

static uint64_t alltoallw(const struct place *p, int immediate)
{
    uint64_t in[MAX_RANKS * WIDTH], out[MAX_RANKS * WIDTH] = {0};
    int counts[MAX_RANKS], places[MAX_RANKS]; /* places: bytes */
    MPI_Datatype types[MAX_RANKS];

    for (int r = 0; r < p->size; r++) {
        counts[r] = count_of(p->rank + r);
        places[r] = r * WIDTH * (int)sizeof in[0];
        types[r] = MPI_UINT64_T;
        put(p, in + r * WIDTH, p->rank, r, counts[r]);
    }
    COLLECTIVE(MPI_Alltoallw, MPI_Ialltoallw, in, counts, places, types, out,
               counts, places, types, p->comm);
    for (int r = 0; r < p->size; r++) {
        check(p, out + r * WIDTH, r, p->rank, counts[r]);
    }
    return sum_up(out, p->size * WIDTH);
}

static uint64_t reduce(const struct place *p, int immediate)
{
    uint64_t in[WIDTH], out[WIDTH] = {0};
    int root = root_of(p);

    put(p, in, p->rank, 0, WIDTH);
    COLLECTIVE(MPI_Reduce, MPI_Ireduce, in, out, WIDTH, MPI_UINT64_T, MPI_SUM,
               root, p->comm);
    if (p->rank == root) {
        check_sum(p, out, p->size - 1, 0, WIDTH);
    }
    return p->rank == root ? sum_up(out, WIDTH) : 0;
}

static uint64_t allreduce(const struct place *p, int immediate)
{
    uint64_t in[WIDTH], out[WIDTH] = {0};

    put(p, in, p->rank, 0, WIDTH);
    COLLECTIVE(MPI_Allreduce, MPI_Iallreduce, in, out, WIDTH, MPI_UINT64_T,
               MPI_SUM, p->comm);
    check_sum(p, out, p->size - 1, 0, WIDTH);
    return sum_up(out, WIDTH);
}

static uint64_t reduce_scatter(const struct place *p, int immediate)
{
    uint64_t in[MAX_RANKS * WIDTH], out[WIDTH] = {0};
    int counts[MAX_RANKS];
    int at = 0;

    for (int r = 0; r < p->size; r++) {
        counts[r] = count_of(r);
        put(p, in + at, p->rank, r, counts[r]);
        at += counts[r];
    }
    COLLECTIVE(MPI_Reduce_scatter, MPI_Ireduce_scatter, in, out, counts,
               MPI_UINT64_T, MPI_SUM, p->comm);
    check_sum(p, out, p->size - 1, p->rank, counts[p->rank]);
    return sum_up(out, WIDTH);
}

static uint64_t reduce_scatter_block(const struct place *p, int immediate)
{
    uint64_t in[MAX_RANKS * WIDTH], out[WIDTH] = {0};

    for (int r = 0; r < p->size; r++) {
        put(p, in + r * WIDTH, p->rank, r, WIDTH);
    }
    COLLECTIVE(MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block, in, out,
               WIDTH, MPI_UINT64_T, MPI_SUM, p->comm);
    check_sum(p, out, p->size - 1, p->rank, WIDTH);
    return sum_up(out, WIDTH);
}

static uint64_t scan(const struct place *p, int immediate)
{
    uint64_t in[WIDTH], out[WIDTH] = {0};

    put(p, in, p->rank, 0, WIDTH);
    COLLECTIVE(MPI_Scan, MPI_Iscan, in, out, WIDTH, MPI_UINT64_T, MPI_SUM,
               p->comm);
    check_sum(p, out, p->rank, 0, WIDTH);
    return sum_up(out, WIDTH);
}

static uint64_t exscan(const struct place *p, int immediate)
{
    uint64_t in[WIDTH], out[WIDTH] = {0};

    put(p, in, p->rank, 0, WIDTH);
    COLLECTIVE(MPI_Exscan, MPI_Iexscan, in, out, WIDTH, MPI_UINT64_T, MPI_SUM,
               p->comm);
    if (p->rank == 0) {
        return 0; /* the result of rank 0 is undefined */
    }
    check_sum(p, out, p->rank - 1, 0, WIDTH);
    return sum_up(out, WIDTH);
}

static uint64_t (*const operations[])(const struct place *, int) = {
    barrier,
    bcast,
    gather,
    gatherv,
    scatter,
    scatterv,
    allgather,
    allgatherv,
    alltoall,
    alltoallv,
    alltoallw,
    reduce,
    allreduce,
    reduce_scatter,
    scan,
    reduce_scatter_block,
    exscan,
};

int collective_count(void)
{
    return 2 * (int)(sizeof operations / sizeof operations[0]);
}

uint64_t run_collective(int which, const struct place *place)
{
    CHECK(place->size <= MAX_RANKS);
    return operations[which / 2](place, which % 2);
}
