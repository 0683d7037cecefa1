/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * op.c - user-defined operations: MPICH passes its own form of datatype to
 * them.
 *
 * An operation gets no user data, so each has its own entry point, which jumps
 * to ckpt_op_call() with its number (handles/types/thunks.S).
 *
 * Context of all: normal (lower half).
 */
#include "adapt/constants.h"
#include "adapt/handle.h"

#include <stddef.h>

#define THUNKS     1024 /* as in thunks.S */
#define THUNK_SIZE 16

typedef void openmpi_function(void *in, void *inout, int *count,
                              void **datatype);

extern const char ckpt_op_thunks[];

static struct {
    openmpi_function *function; /* NULL: free */
    MPI_Op op;
} entries[THUNKS];

/* Where to search first: a freed operation may still be in use for a while. */
static unsigned next;
_Static_assert((THUNKS & (THUNKS - 1)) == 0, "the search goes on where `next` overflows");

void ckpt_op_call(void *in, void *inout, int *count, MPI_Datatype *datatype,
                  int number)
{
    void *openmpi = adapt_out(ADAPT_DATATYPE, *datatype);

    entries[number].function(in, inout, count, &openmpi);
}

static int take(openmpi_function *function)
{
    for (unsigned i = 0; i < THUNKS; i++) {
        unsigned number = __atomic_fetch_add(&next, 1, __ATOMIC_RELAXED) %
                          THUNKS;
        openmpi_function *none = NULL;

        if (__atomic_compare_exchange_n(&entries[number].function, &none,
                                        function, 0, __ATOMIC_ACQ_REL,
                                        __ATOMIC_RELAXED)) {
            return (int)number;
        }
    }
    return -1;
}

int adapt_Op_create(openmpi_function *function, int commutes, void **op)
{
    int number = take(function);
    MPI_Op mpich = MPI_OP_NULL;
    int code;

    if (number < 0) {
        return adapt_code(MPI_ERR_NO_MEM);
    }
    code = PMPI_Op_create(
        (MPI_User_function *)(ckpt_op_thunks + number * THUNK_SIZE), commutes,
        &mpich);
    if (code == MPI_SUCCESS) {
        entries[number].op = mpich;
        *op = adapt_out(ADAPT_OP, mpich);
    } else {
        __atomic_store_n(&entries[number].function, NULL, __ATOMIC_RELEASE);
    }
    return adapt_code(code);
}

int adapt_Op_free(void **op)
{
    MPI_Op mpich = adapt_in(*op), freed = mpich;
    int code = PMPI_Op_free(&freed);

    *op = adapt_out(ADAPT_OP, freed);
    for (int i = 0; code == MPI_SUCCESS && i < THUNKS; i++) {
        if (entries[i].function != NULL && entries[i].op == mpich) {
            entries[i].op = MPI_OP_NULL;
            __atomic_store_n(&entries[i].function, NULL, __ATOMIC_RELEASE);
        }
    }
    return adapt_code(code);
}
