/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * churn.c [STEPS [STOP_FILE]] - ranks that make and free MPI objects all the time: communicators of
 * all sorts, groups, datatypes, operations, infos, error handlers, attributes, persistent requests.
 * Each is used once and checked.
 *
 * Odd ranks keep communicators a while longer than even ones, as MPI_Comm_free need not
 * synchronise. With STEPS 0 it runs until STOP_FILE exists. With both it does all the steps, and
 * more steps until STOP_FILE exists; the answer depends on STEPS only.
 */
#include "selfcheck.h"

#include <unistd.h>

#define KEPT           5  /* communicators that an odd rank has not freed yet */
#define STEPS_PER_LINE 16 /* of progress output */
#define TAG            7

static MPI_Comm kept[KEPT];
static int rank, size;

static void free_later(MPI_Comm comm, uint64_t step)
{
    MPI_Comm *place = &kept[step % KEPT];

    if (rank % 2 == 0) {
        MPI_Comm_free(&comm);
        return;
    }
    if (*place != MPI_COMM_NULL) {
        MPI_Comm_free(place);
    }
    *place = comm;
}

static MPI_Comm made_by_group(void)
{
    MPI_Comm comm;
    MPI_Group all, some;
    int range[1][3] = {{0, size - 1, 1}};

    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_range_incl(all, 1, range, &some);
    MPI_Comm_create_group(MPI_COMM_WORLD, some, TAG, &comm);
    MPI_Group_free(&some);
    MPI_Group_free(&all);
    return comm;
}

static MPI_Comm made_by_cart(void)
{
    const int periods[] = {1};
    MPI_Comm comm;

    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, periods, 0, &comm);
    return comm;
}

static MPI_Comm make_communicator(uint64_t step)
{
    MPI_Comm comm;

    switch (step % 4) {
    case 0:
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        break;
    case 1:
        MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comm);
        break;
    case 2:
        comm = made_by_group();
        break;
    default:
        comm = made_by_cart();
        break;
    }
    return comm;
}

static void add(void *in, void *inout, int *count, MPI_Datatype *type)
{
    uint64_t *from = in, *to = inout;

    (void)type;
    for (int i = 0; i < 2 * *count; i++) {
        to[i] += from[i];
    }
}

/* Reduces a pair of numbers, with a new type and a new operation. */
static uint64_t reduce(MPI_Comm comm, uint64_t step)
{
    uint64_t mine[2] = {step, mix(step)}, all[2] = {0, 0};
    MPI_Datatype pair;
    MPI_Op op;

    MPI_Type_contiguous(2, MPI_UINT64_T, &pair);
    MPI_Type_commit(&pair);
    MPI_Op_create(add, 1, &op);
    MPI_Allreduce(mine, all, 1, pair, op, comm);
    MPI_Op_free(&op);
    MPI_Type_free(&pair);
    CHECK(all[0] == step * (uint64_t)size);
    CHECK(all[1] == mix(step) * (uint64_t)size);
    return all[1];
}

/* Passes a number around the ring, by a persistent receive and a synchronous send. */
static void pass_on(MPI_Comm comm, uint64_t step)
{
    uint64_t got[2] = {0, 0}, mine = mix4(step, 1, 2, 3);
    MPI_Request receive, send;
    int at, left, right;

    MPI_Comm_rank(comm, &at);
    left = (at + size - 1) % size;
    right = (at + 1) % size;
    MPI_Recv_init(&got[0], 1, MPI_UINT64_T, left, TAG, comm, &receive);
    MPI_Start(&receive);
    MPI_Issend(&mine, 1, MPI_UINT64_T, right, TAG, comm, &send);
    MPI_Send(&step, 1, MPI_UINT64_T, right, TAG, comm);
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
    MPI_Recv(&got[1], 1, MPI_UINT64_T, left, TAG, comm, MPI_STATUS_IGNORE);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    MPI_Request_free(&receive);
    CHECK(got[0] == mine && got[1] == step);
}

static int deleted;

static int delete_value(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm, (void)keyval, (void)extra;
    CHECK(value == &deleted);
    deleted++;
    return MPI_SUCCESS;
}

static void decorate(MPI_Comm comm)
{
    char text[MPI_MAX_INFO_VAL + 1];
    int keyval, flag, before = deleted;
    MPI_Info info;

    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_value, &keyval, NULL);
    MPI_Comm_set_attr(comm, keyval, &deleted);
    MPI_Comm_delete_attr(comm, keyval);
    MPI_Comm_free_keyval(&keyval);
    CHECK(deleted == before + 1);
    MPI_Info_create(&info);
    MPI_Info_set(info, "key", "value");
    MPI_Info_get(info, "key", MPI_MAX_INFO_VAL, text, &flag);
    MPI_Info_free(&info);
    CHECK(flag && strcmp(text, "value") == 0);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
}

static uint64_t do_step(uint64_t step)
{
    MPI_Comm comm = make_communicator(step);
    uint64_t sum;

    decorate(comm);
    sum = reduce(comm, step);
    pass_on(comm, step);
    free_later(comm, step);
    return sum;
}

int main(int argc, char **argv)
{
    uint64_t sum = 0;
    long steps;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    steps = number_argument(argc, argv, 1, 1000);
    CHECK(steps > 0 || argc > 2);
    for (int i = 0; i < KEPT; i++) {
        kept[i] = MPI_COMM_NULL;
    }
    for (uint64_t step = 0; has_another_step(step, steps, argv[2]); step++) {
        if (rank == 0 && step % STEPS_PER_LINE == 0) {
            printf("step %" PRIu64 "\n", step);
            fflush(stdout);
        }
        const uint64_t own = do_step(step);

        sum += steps == 0 || step < (uint64_t)steps ? own : 0;
    }
    for (int i = 0; i < KEPT; i++) {
        if (kept[i] != MPI_COMM_NULL) {
            MPI_Comm_free(&kept[i]);
        }
    }
    print_answer(sum);
    MPI_Finalize();
    return 0;
}
