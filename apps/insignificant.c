/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * insignificant.c [multiple] - passes invalid values where MPI ignores the argument. These are
 * arguments that are significant only at the root, types beside MPI_IN_PLACE, the peer communicator
 * at a rank that is not the leader, and commands and ports at all ranks except the root.
 * `insignificant child` is a process that the program spawns.
 */
#include "selfcheck.h"

#include <stdlib.h>
#include <string.h>

/* No object has this address. */
#define NO_TYPE ((MPI_Datatype)(intptr_t)8)
#define NO_COMM ((MPI_Comm)(intptr_t)8)
#define NO_INFO ((MPI_Info)(intptr_t)8)
/* The compiler must not know its value. */
static void *const volatile nothing = (void *)(intptr_t)8;
#define NOTHING nothing

#define ROOT 0

static int rank, size;

static int is_root(void)
{
    return rank == ROOT;
}

static void gather(void)
{
    int own = rank + 1, *all = calloc((size_t)size, sizeof(int)), *counts = NULL, *places = NULL;

    if (is_root()) {
        counts = malloc((size_t)size * sizeof(int));
        places = malloc((size_t)size * sizeof(int));
        for (int i = 0; i < size; i++) {
            counts[i] = 1;
            places[i] = i;
        }
    }
    MPI_Gather(&own, 1, MPI_INT, is_root() ? all : NOTHING, is_root() ? 1 : -5,
               is_root() ? MPI_INT : NO_TYPE, ROOT, MPI_COMM_WORLD);
    CHECK(!is_root() || all[size - 1] == size);
    memset(all, 0, (size_t)size * sizeof(int));
    all[0] = 1;
    MPI_Gather(is_root() ? MPI_IN_PLACE : &own, is_root() ? -3 : 1, is_root() ? NO_TYPE : MPI_INT,
               is_root() ? all : NOTHING, 1, is_root() ? MPI_INT : NO_TYPE, ROOT, MPI_COMM_WORLD);
    CHECK(!is_root() || (all[0] == 1 && all[size - 1] == size));
    MPI_Gatherv(&own, 1, MPI_INT, is_root() ? all : NOTHING, is_root() ? counts : NOTHING,
                is_root() ? places : NOTHING, is_root() ? MPI_INT : NO_TYPE, ROOT, MPI_COMM_WORLD);
    CHECK(!is_root() || all[size - 1] == size);
    own = 0;
    MPI_Scatter(is_root() ? all : NOTHING, is_root() ? 1 : -5, is_root() ? MPI_INT : NO_TYPE, &own,
                1, MPI_INT, ROOT, MPI_COMM_WORLD);
    CHECK(own == rank + 1);
    own = 0;
    MPI_Scatterv(is_root() ? all : NOTHING, is_root() ? counts : NOTHING,
                 is_root() ? places : NOTHING, is_root() ? MPI_INT : NO_TYPE, &own, 1, MPI_INT,
                 ROOT, MPI_COMM_WORLD);
    CHECK(own == rank + 1);
    free(all);
    free(counts);
    free(places);
}

static void reduce(void)
{
    int own = 1, sum = 1;

    MPI_Reduce(&own, is_root() ? &sum : NOTHING, 1, MPI_INT, MPI_SUM, ROOT, MPI_COMM_WORLD);
    CHECK(!is_root() || sum == size);
    sum = 1;
    MPI_Reduce(is_root() ? MPI_IN_PLACE : &own, is_root() ? &sum : NOTHING, 1, MPI_INT, MPI_SUM,
               ROOT, MPI_COMM_WORLD);
    CHECK(!is_root() || sum == size);
}

static void in_place(void)
{
    int *all = calloc((size_t)size, sizeof(int)), *counts = malloc((size_t)size * sizeof(int)),
        *places = malloc((size_t)size * sizeof(int));
    MPI_Datatype *types = malloc((size_t)size * sizeof *types);

    for (int i = 0; i < size; i++) {
        counts[i] = 1;
        places[i] = i;
        types[i] = MPI_INT;
    }
    all[rank] = rank + 1;
    MPI_Allgather(MPI_IN_PLACE, -4, NO_TYPE, all, 1, MPI_INT, MPI_COMM_WORLD);
    CHECK(all[size - 1] == size);
    MPI_Allgatherv(MPI_IN_PLACE, -4, NO_TYPE, all, counts, places, MPI_INT, MPI_COMM_WORLD);
    CHECK(all[0] == 1 && all[size - 1] == size);
    MPI_Alltoall(MPI_IN_PLACE, -4, NO_TYPE, all, 1, MPI_INT, MPI_COMM_WORLD);
    CHECK(all[0] == rank + 1);
    MPI_Alltoallv(MPI_IN_PLACE, NOTHING, NOTHING, NO_TYPE, all, counts, places, MPI_INT,
                  MPI_COMM_WORLD);
    for (int i = 0; i < size; i++) {
        places[i] *= (int)sizeof(int);
    }
    MPI_Alltoallw(MPI_IN_PLACE, NOTHING, NOTHING, NOTHING, all, counts, places, types,
                  MPI_COMM_WORLD);
    free(all);
    free(counts);
    free(places);
    free(types);
}

/* The same with nonblocking calls and waits. */
static void nonblocking(void)
{
    int own = rank + 1, *all = calloc((size_t)size, sizeof(int));
    MPI_Request request;

    MPI_Igather(&own, 1, MPI_INT, is_root() ? all : NOTHING, is_root() ? 1 : -5,
                is_root() ? MPI_INT : NO_TYPE, ROOT, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(!is_root() || all[size - 1] == size);
    own = 0;
    MPI_Iscatter(is_root() ? all : NOTHING, is_root() ? 1 : -5, is_root() ? MPI_INT : NO_TYPE, &own,
                 1, MPI_INT, ROOT, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(own == rank + 1);
    memset(all, 0, (size_t)size * sizeof(int));
    all[rank] = rank + 1;
    MPI_Iallgather(MPI_IN_PLACE, -4, NO_TYPE, all, 1, MPI_INT, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(all[0] == 1 && all[size - 1] == size);
    free(all);
}

static void nonblocking_blocks(void)
{
    int own = rank + 1, sum = 0, *all = calloc((size_t)size, sizeof(int)),
        *counts = malloc((size_t)size * sizeof(int)), *places = malloc((size_t)size * sizeof(int));
    MPI_Request request;

    for (int i = 0; i < size; i++) {
        counts[i] = 1;
        places[i] = i;
    }
    MPI_Igatherv(&own, 1, MPI_INT, is_root() ? all : NOTHING, is_root() ? counts : NOTHING,
                 is_root() ? places : NOTHING, is_root() ? MPI_INT : NO_TYPE, ROOT, MPI_COMM_WORLD,
                 &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(!is_root() || all[size - 1] == size);
    own = 0;
    MPI_Iscatterv(is_root() ? all : NOTHING, is_root() ? counts : NOTHING,
                  is_root() ? places : NOTHING, is_root() ? MPI_INT : NO_TYPE, &own, 1, MPI_INT,
                  ROOT, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(own == rank + 1);
    own = 1;
    MPI_Ireduce(&own, is_root() ? &sum : NOTHING, 1, MPI_INT, MPI_SUM, ROOT, MPI_COMM_WORLD,
                &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(!is_root() || sum == size);
    memset(all, 0, (size_t)size * sizeof(int));
    all[rank] = rank + 1;
    MPI_Iallgatherv(MPI_IN_PLACE, -4, NO_TYPE, all, counts, places, MPI_INT, MPI_COMM_WORLD,
                    &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(all[0] == 1 && all[size - 1] == size);
    free(all);
    free(counts);
    free(places);
}

/* The first rank of the first group gathers from the second group; its neighbours pass
 * MPI_PROC_NULL. */
static void gather_between(int color, MPI_Comm between)
{
    const int is_first = rank == 0, sends = color == 1;
    int own = rank, peers = 0, sum = 0, *all;

    MPI_Comm_remote_size(between, &peers);
    all = calloc((size_t)peers, sizeof(int));
    MPI_Gather(sends ? &own : NOTHING, sends ? 1 : -5, sends ? MPI_INT : NO_TYPE,
               is_first ? all : NOTHING, is_first ? 1 : -5, is_first ? MPI_INT : NO_TYPE,
               sends      ? 0
               : is_first ? MPI_ROOT
                          : MPI_PROC_NULL,
               between);
    CHECK(!is_first || (all[0] == 1 && all[peers - 1] == 2 * peers - 1));
    own = 1;
    MPI_Reduce(sends ? &own : NOTHING, is_first ? &sum : NOTHING, 1, MPI_INT, MPI_SUM,
               sends      ? 0
               : is_first ? MPI_ROOT
                          : MPI_PROC_NULL,
               between);
    CHECK(!is_first || sum == peers);
    free(all);
}

/* Two groups; ranks of the second half that are not leaders pass no valid peer communicator. */
static void between_groups(void)
{
    MPI_Comm half, between;
    const int color = rank % 2;
    int value = color == 0 ? 42 : 0;

    MPI_Comm_split(MPI_COMM_WORLD, color, rank, &half);
    MPI_Intercomm_create(half, 0, rank < 2 ? MPI_COMM_WORLD : NO_COMM, rank < 2 ? 1 - color : -77,
                         3, &between);
    MPI_Bcast(color == 0 && rank != 0 ? NOTHING : &value, 1, MPI_INT,
              color == 1 ? 0 : rank == 0 ? MPI_ROOT
                                         : MPI_PROC_NULL,
              between);
    CHECK(value == 42);
    gather_between(color, between);
    MPI_Comm_free(&between);
    MPI_Comm_free(&half);
}

/* Only the root's command is significant. */
static void spawn(const char *self)
{
    char *child[] = {"child", NULL}, **children[] = {child}, *commands[] = {(char *)self};
    const int one = 1;
    const MPI_Info plain = MPI_INFO_NULL;
    MPI_Comm between;

    MPI_Comm_spawn(is_root() ? self : NOTHING, is_root() ? child : NOTHING, is_root() ? 1 : -5,
                   is_root() ? MPI_INFO_NULL : NO_INFO, ROOT, MPI_COMM_WORLD, &between,
                   MPI_ERRCODES_IGNORE);
    MPI_Comm_disconnect(&between);
    MPI_Comm_spawn_multiple(is_root() ? 1 : -5, is_root() ? commands : NOTHING,
                            is_root() ? children : NOTHING, is_root() ? &one : NOTHING,
                            is_root() ? &plain : NOTHING, ROOT, MPI_COMM_WORLD, &between,
                            MPI_ERRCODES_IGNORE);
    MPI_Comm_disconnect(&between);
}

static int be_child(void)
{
    MPI_Comm parent;

    MPI_Init(NULL, NULL);
    MPI_Comm_get_parent(&parent);
    MPI_Comm_disconnect(&parent);
    return MPI_Finalize();
}

/* Only the roots know the port. (Open MPI 4.1 reads the info of every rank.) */
static void meet(void)
{
    char port[MPI_MAX_PORT_NAME] = "";
    const int color = rank % 2;
    MPI_Comm half, between;

    MPI_Comm_split(MPI_COMM_WORLD, color, rank, &half);
    if (rank == 0) {
        MPI_Open_port(MPI_INFO_NULL, port);
        MPI_Send(port, sizeof port, MPI_CHAR, 1, 5, MPI_COMM_WORLD);
    } else if (rank == 1) {
        MPI_Recv(port, sizeof port, MPI_CHAR, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    (color == 0 ? MPI_Comm_accept : MPI_Comm_connect)(
        rank < 2 ? port : NOTHING, MPI_INFO_NULL, 0, half, &between);
    MPI_Comm_disconnect(&between);
    if (rank == 0) {
        MPI_Close_port(port);
    }
    MPI_Comm_free(&half);
}

int main(int argc, char **argv)
{
    int provided;

    if (argc > 1 && strcmp(argv[1], "child") == 0) {
        return be_child();
    }

    MPI_Init_thread(&argc, &argv, argc > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    gather();
    reduce();
    in_place();
    nonblocking();
    nonblocking_blocks();
    between_groups();
    spawn(argv[0]);
    meet();
    print_answer(0);
    return MPI_Finalize();
}
