/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpi4.c - functions of MPI 4.0, as far as Open MPI 5.0 has them. At the gate
 * persistent collectives and a partitioned transfer are started, and sessions
 * open.
 */
#include "collective_op.h"
#include "coverage.h"

#define PARTITIONS 6

static int out[ALL_COLLECTIVES][2], in[ALL_COLLECTIVES][2];
static const int ones[] = {1, 1}, places[] = {0, 1}, bytes[] = {0, sizeof(int)};
static const MPI_Aint offsets[] = {0, sizeof(int)};
static MPI_Datatype ints[2];
static MPI_Request collectives[ALL_COLLECTIVES];
static MPI_Comm world, ring;

static int parts_out[PARTITIONS], parts_in[PARTITIONS];
static MPI_Request partitioned[2]; /* send, receive */

static MPI_Session session;
static MPI_Fint session_number;
static MPI_Errhandler handler;
static MPI_Comm everybody, inter;
static int handler_calls;

static MPI_Request exchanges[2], duplication;
static int exchanged, replaced;
static MPI_Comm duplicate;
static MPI_Info hints;

static int value(int what, int rank, int i)
{
    return 100 * what + 10 * rank + i;
}

#define BUFFERS(WHAT, n)  out[WHAT], (n), MPI_INT, in[WHAT], (n), MPI_INT
#define OPERANDS(WHAT, n) out[WHAT], in[WHAT], (n), MPI_INT, MPI_SUM
#define VECTORS(WHAT) \
    out[WHAT], ones, places, MPI_INT, in[WHAT], ones, places, MPI_INT
#define END(comm, WHAT) comm, MPI_INFO_NULL, &collectives[WHAT]

static void make_rooted(void)
{
    MPI_Barrier_init(END(world, BARRIER));
    MPI_Bcast_init(in[BCAST], 2, MPI_INT, 0, END(world, BCAST));
    MPI_Gather_init(BUFFERS(GATHER, 1), 0, END(world, GATHER));
    MPI_Gatherv_init(out[GATHERV], 1, MPI_INT, in[GATHERV], ones, places,
                     MPI_INT, 0, END(world, GATHERV));
    MPI_Scatter_init(BUFFERS(SCATTER, 1), 0, END(world, SCATTER));
    MPI_Scatterv_init(out[SCATTERV], ones, places, MPI_INT, in[SCATTERV], 1,
                      MPI_INT, 0, END(world, SCATTERV));
    MPI_Reduce_init(OPERANDS(REDUCE, 2), 0, END(world, REDUCE));
}

static void make_symmetrical(void)
{
    MPI_Allgather_init(BUFFERS(ALLGATHER, 1), END(world, ALLGATHER));
    MPI_Allgatherv_init(out[ALLGATHERV], 1, MPI_INT, in[ALLGATHERV], ones, places,
                        MPI_INT, END(world, ALLGATHERV));
    MPI_Alltoall_init(BUFFERS(ALLTOALL, 1), END(world, ALLTOALL));
    MPI_Alltoallv_init(VECTORS(ALLTOALLV), END(world, ALLTOALLV));
    MPI_Alltoallw_init(out[ALLTOALLW], ones, bytes, ints, in[ALLTOALLW], ones,
                       bytes, ints, END(world, ALLTOALLW));
    MPI_Allreduce_init(OPERANDS(ALLREDUCE, 2), END(world, ALLREDUCE));
    MPI_Reduce_scatter_init(out[REDUCE_SCATTER], in[REDUCE_SCATTER], ones,
                            MPI_INT, MPI_SUM, END(world, REDUCE_SCATTER));
    MPI_Reduce_scatter_block_init(OPERANDS(REDUCE_SCATTER_BLOCK, 1),
                                  END(world, REDUCE_SCATTER_BLOCK));
    MPI_Scan_init(OPERANDS(SCAN, 2), END(world, SCAN));
    MPI_Exscan_init(OPERANDS(EXSCAN, 2), END(world, EXSCAN));
}

static void make_neighbors(void)
{
    MPI_Neighbor_allgather_init(BUFFERS(NEIGHBOR_ALLGATHER, 1),
                                END(ring, NEIGHBOR_ALLGATHER));
    MPI_Neighbor_allgatherv_init(out[NEIGHBOR_ALLGATHERV], 1, MPI_INT,
                                 in[NEIGHBOR_ALLGATHERV], ones, places, MPI_INT,
                                 END(ring, NEIGHBOR_ALLGATHERV));
    MPI_Neighbor_alltoall_init(BUFFERS(NEIGHBOR_ALLTOALL, 1),
                               END(ring, NEIGHBOR_ALLTOALL));
    MPI_Neighbor_alltoallv_init(VECTORS(NEIGHBOR_ALLTOALLV),
                                END(ring, NEIGHBOR_ALLTOALLV));
    MPI_Neighbor_alltoallw_init(out[NEIGHBOR_ALLTOALLW], ones, offsets, ints,
                                in[NEIGHBOR_ALLTOALLW], ones, offsets, ints,
                                END(ring, NEIGHBOR_ALLTOALLW));
}

static void begin_collectives(void)
{
    const int size = RANKS, periods = 1;

    ints[0] = ints[1] = MPI_INT;
    MPI_Comm_dup(MPI_COMM_WORLD, &world);
    MPI_Cart_create(world, 1, &size, &periods, 0, &ring);
    make_rooted();
    make_symmetrical();
    make_neighbors();
    for (int what = 0; what < ALL_COLLECTIVES; what++) {
        for (int i = 0; i < 2; i++) {
            out[what][i] = value(what, this_rank, i);
            in[what][i] = what == BCAST && this_rank == 0 ? out[what][i] : -1;
        }
    }
    MPI_Startall(ALL_COLLECTIVES, collectives);
}

/* Element i of the result of one collective. */
static int expected(int what, int i)
{
    const int sum = value(what, 0, i) + value(what, 1, i);

    switch (what) {
    case BCAST:
        return value(what, 0, i);
    case SCATTER:
    case SCATTERV:
        return i == 0 ? value(what, 0, this_rank) : -1;
    case GATHER:
    case GATHERV:
        return this_rank == 0 ? value(what, i, 0) : -1;
    case ALLGATHER:
    case ALLGATHERV:
        return value(what, i, 0);
    case ALLTOALL:
    case ALLTOALLV:
    case ALLTOALLW:
        return value(what, i, this_rank);
    case REDUCE:
        return this_rank == 0 ? sum : -1;
    case ALLREDUCE:
        return sum;
    case SCAN:
        return this_rank == 0 ? value(what, 0, i) : sum;
    case EXSCAN:
        return this_rank == 0 ? in[what][i] : value(what, 0, i);
    case NEIGHBOR_ALLGATHER:
    case NEIGHBOR_ALLGATHERV:
        return value(what, OTHER, 0);
    default:
        return -1;
    }
}

static void check_collective(int what)
{
    if (what == REDUCE_SCATTER || what == REDUCE_SCATTER_BLOCK) {
        CHECK(in[what][0] ==
              value(what, 0, this_rank) + value(what, 1, this_rank));
    } else if (what >= NEIGHBOR_ALLTOALL) { /* both neighbours are the same */
        CHECK(in[what][0] + in[what][1] ==
              value(what, OTHER, 0) + value(what, OTHER, 1));
    } else {
        CHECK(in[what][0] == expected(what, 0));
        CHECK(in[what][1] == expected(what, 1));
    }
}

static void end_collectives(void)
{
    MPI_Waitall(ALL_COLLECTIVES, collectives, MPI_STATUSES_IGNORE);
    for (int what = 0; what < ALL_COLLECTIVES; what++) {
        check_collective(what);
        MPI_Request_free(&collectives[what]);
    }
    MPI_Comm_free(&ring);
    MPI_Comm_free(&world);
}

static void begin_partitions(void)
{
    int list[] = {4, 2};

    for (int i = 0; i < PARTITIONS; i++) {
        parts_out[i] = value(i, this_rank, 0);
    }
    MPI_Psend_init(parts_out, PARTITIONS, 1, MPI_INT, OTHER, 60, MPI_COMM_WORLD,
                   MPI_INFO_NULL, &partitioned[0]);
    MPI_Precv_init(parts_in, PARTITIONS, 1, MPI_INT, OTHER, 60, MPI_COMM_WORLD,
                   MPI_INFO_NULL, &partitioned[1]);
    MPI_Startall(2, partitioned);
    MPI_Pready(0, partitioned[0]);
    MPI_Pready_list(2, list, partitioned[0]);
}

static void end_partitions(void)
{
    int flag = 0;

    MPI_Pready(1, partitioned[0]);
    MPI_Pready(3, partitioned[0]);
    MPI_Pready_range(5, 5, partitioned[0]);
    while (!flag) {
        MPI_Parrived(partitioned[1], 4, &flag);
    }
    CHECK(parts_in[4] == value(4, OTHER, 0));
    MPI_Waitall(2, partitioned, MPI_STATUSES_IGNORE);
    for (int i = 0; i < PARTITIONS; i++) {
        CHECK(parts_in[i] == value(i, OTHER, 0));
    }
    MPI_Request_free(&partitioned[0]);
    MPI_Request_free(&partitioned[1]);
}

static void count_call(MPI_Session *which, int *code, ...)
{
    (void)which, (void)code;
    handler_calls++;
}

static void make_from_groups(MPI_Group group)
{
    int ranks[] = {this_rank, OTHER};
    MPI_Group own, other;

    MPI_Comm_create_from_group(group, "coverage", MPI_INFO_NULL,
                               MPI_ERRORS_ARE_FATAL, &everybody);
    MPI_Group_incl(group, 1, &ranks[0], &own);
    MPI_Group_incl(group, 1, &ranks[1], &other);
    MPI_Intercomm_create_from_groups(own, 0, other, 0, "coverage inter",
                                     MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &inter);
    MPI_Group_free(&own);
    MPI_Group_free(&other);
}

static void begin_session(void)
{
    MPI_Group group;

    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    session_number = MPI_Session_c2f(session);
    MPI_Session_create_errhandler((MPI_Session_errhandler_function *)count_call,
                                  &handler);
    MPI_Session_set_errhandler(session, handler);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    make_from_groups(group);
    MPI_Group_free(&group);
}

static void check_sets(void)
{
    char name[MPI_MAX_PSET_NAME_LEN];
    int count = 0, length = sizeof name;
    MPI_Info info;

    MPI_Session_get_num_psets(session, MPI_INFO_NULL, &count);
    CHECK(count >= 2);
    MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, &length, name);
    MPI_Session_get_pset_info(session, name, &info);
    MPI_Info_free(&info);
    MPI_Session_get_info(session, &info);
    MPI_Session_set_info(session, info);
    MPI_Info_free(&info);
}

static void end_session(void)
{
    const int before = handler_calls;
    MPI_Errhandler now;
    int size = -1, sum = -1;

    CHECK(MPI_Session_f2c(session_number) == session);
    check_sets();
    MPI_Session_get_errhandler(session, &now);
    CHECK(now == handler);
    MPI_Errhandler_free(&now);
    MPI_Session_call_errhandler(session, MPI_ERR_OTHER);
    CHECK(handler_calls == before + 1);
    MPI_Allreduce(&this_rank, &sum, 1, MPI_INT, MPI_SUM, everybody);
    CHECK(sum == 1);
    MPI_Comm_remote_size(inter, &size);
    CHECK(size == 1);
    MPI_Comm_free(&everybody);
    MPI_Comm_free(&inter);
    MPI_Errhandler_free(&handler);
    MPI_Session_finalize(&session);
}

static void begin_others(void)
{
    char *arguments[] = {(char *)coverage_program, NULL};

    MPI_Info_create_env(1, arguments, &hints);
    replaced = value(9, this_rank, 0);
    MPI_Isendrecv(&this_rank, 1, MPI_INT, OTHER, 61, &exchanged, 1, MPI_INT,
                  OTHER, 61, MPI_COMM_WORLD, &exchanges[0]);
    MPI_Isendrecv_replace(&replaced, 1, MPI_INT, OTHER, 62, OTHER, 62,
                          MPI_COMM_WORLD, &exchanges[1]);
    MPI_Comm_idup_with_info(MPI_COMM_WORLD, hints, &duplicate, &duplication);
}

static void check_statuses(void)
{
    MPI_Fint fortran[MPI_F_STATUS_SIZE];
    MPI_Status status = {.MPI_SOURCE = 3, .MPI_TAG = 4}, back;
    MPI_F08_status modern;

    MPI_Status_c2f08(&status, &modern);
    MPI_Status_f082f(&modern, fortran);
    MPI_Status_f2f08(fortran, &modern);
    MPI_Status_f082c(&modern, &back);
    CHECK(back.MPI_SOURCE == 3 && back.MPI_TAG == 4);
}

static void end_others(void)
{
    char command[MPI_MAX_INFO_VAL + 1];
    int length = sizeof command, flag = 0, result = -1;

    MPI_Waitall(2, exchanges, MPI_STATUSES_IGNORE);
    CHECK(exchanged == OTHER && replaced == value(9, OTHER, 0));
    MPI_Wait(&duplication, MPI_STATUS_IGNORE);
    MPI_Comm_compare(duplicate, MPI_COMM_WORLD, &result);
    CHECK(result == MPI_CONGRUENT);
    MPI_Comm_free(&duplicate);
    MPI_Info_get_string(hints, "command", &length, command, &flag);
    CHECK(flag && length > 1);
    MPI_Info_free(&hints);
    check_statuses();
}

static void begin(void)
{
    begin_collectives();
    begin_partitions();
    begin_session();
    begin_others();
}

static void end(void)
{
    end_others();
    end_session();
    end_partitions();
    end_collectives();
}

const struct section mpi4_section = {"mpi4", begin, end};
