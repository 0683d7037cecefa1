/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * types_and_ops.c - a struct type, a user operation, 40 communicators.
 */
#include "probes/probe.h"

#define COMMS 40

struct pair {
    char tag;
    double value;
};

static void largest(void *in, void *inout, int *count, MPI_Datatype *type)
{
    struct pair *a = in, *b = inout;

    (void)type;
    for (int i = 0; i < *count; i++) {
        if (a[i].value > b[i].value) {
            b[i] = a[i];
        }
    }
}

static MPI_Datatype pair_type(void)
{
    const int lengths[2] = {1, 1};
    const MPI_Aint places[2] = {offsetof(struct pair, tag),
                                offsetof(struct pair, value)};
    const MPI_Datatype types[2] = {MPI_CHAR, MPI_DOUBLE};
    MPI_Datatype bare, pair;

    MPI_Type_create_struct(2, lengths, places, types, &bare);
    MPI_Type_create_resized(bare, 0, sizeof(struct pair), &pair);
    MPI_Type_free(&bare); /* a parent may be freed first */
    MPI_Type_commit(&pair);
    return pair;
}

int main(int argc, char **argv)
{
    MPI_Comm comms[COMMS];
    MPI_Datatype type;
    MPI_Op op;

    probe_begin(argc, argv, 2);
    type = pair_type();
    MPI_Op_create(largest, 1, &op);
    for (int i = 0; i < COMMS; i++) {
        MPI_Comm_dup(i == 0 ? MPI_COMM_WORLD : comms[i - 1], &comms[i]);
        if (i % 3 == 2) { /* a hole in the middle */
            MPI_Comm_free(&comms[i - 1]);
        }
    }
    probe_gate();
    for (int i = 0; i < COMMS; i++) {
        struct pair mine = {(char)('a' + probe_rank), i * (probe_rank + 1)};
        struct pair best = {0};

        if (comms[i] == MPI_COMM_NULL) {
            CHECK(i % 3 == 1);
            continue;
        }
        MPI_Allreduce(&mine, &best, 1, type, op, comms[i]);
        CHECK(best.value == 2 * i && (i == 0 || best.tag == 'b'));
        MPI_Comm_free(&comms[i]);
    }
    MPI_Type_free(&type);
    MPI_Op_free(&op);
    return probe_end();
}
