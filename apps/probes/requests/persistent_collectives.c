/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * persistent_collectives.c - every persistent collective, out of place and in
 * place: inactive; started by one rank and not yet by the other; started in a
 * different order by each; and complete at the root, which has started it
 * again.
 */
#include "collective_op.h"
#include "probes/probe.h"

#define COUNT 5
#define OPS   (2 * PLAIN_COLLECTIVES + ALL_COLLECTIVES - PLAIN_COLLECTIVES)

static struct collective_op op[OPS], idle, early;
static MPI_Comm world, ring;

static void make_all(void)
{
    int periods[] = {1};

    MPI_Comm_dup(MPI_COMM_WORLD, &world);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &probe_size, periods, 0, &ring);
    for (int i = 0; i < OPS; i++) {
        const int plain = i < 2 * PLAIN_COLLECTIVES;
        const int what = plain ? i % PLAIN_COLLECTIVES : i - PLAIN_COLLECTIVES;

        collective_begin(&op[i], (enum collective)what, plain ? world : ring,
                         i % 2, COUNT, i >= PLAIN_COLLECTIVES, (uint64_t)i);
    }
    collective_begin(&idle, ALLREDUCE, world, 0, COUNT, 0, 77);
    collective_begin(&early, BCAST, world, 0, COUNT, 0, 78);
}

/* Starts all, in a different order in each rank. */
static void start_all(uint64_t round)
{
    for (int i = 0; i < OPS; i++) {
        const int which = probe_rank == 0 ? i : OPS - 1 - i;

        collective_start(&op[which], 1000 * round + (uint64_t)which);
    }
}

static void complete_all(void)
{
    MPI_Request requests[OPS];

    for (int i = 0; i < OPS; i++) {
        requests[i] = op[i].request;
    }
    MPI_Waitall(OPS, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < OPS; i++) {
        CHECK(requests[i] == op[i].request);
        collective_check(&op[i]);
    }
}

static void use(struct collective_op *one, uint64_t data)
{
    collective_start(one, data);
    MPI_Wait(&one->request, MPI_STATUS_IGNORE);
    collective_check(one);
}

int main(int argc, char **argv)
{
    probe_begin(argc, argv, 2);
    make_all();
    use(&idle, 1);
    for (uint64_t round = 0; round < 6; round++) {
        if (probe_rank == 0 || round != 3) {
            start_all(round);
        }
        if (round == 3) {
            if (probe_rank == 0) {
                use(&early, 5);
                collective_start(&early, 6);
            }
            probe_gate();
        }
        if (probe_rank == 1 && round == 3) {
            use(&early, 5);
            start_all(round);
            collective_start(&early, 6);
        }
        complete_all();
        if (round == 3) {
            MPI_Wait(&early.request, MPI_STATUS_IGNORE);
        }
    }
    use(&idle, 2);
    collective_end(&idle);
    collective_end(&early);
    for (int i = 0; i < OPS; i++) {
        collective_end(&op[i]);
    }
    MPI_Comm_free(&world);
    MPI_Comm_free(&ring);
    return probe_end();
}
