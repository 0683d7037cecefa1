/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * attribute.c - the attributes that MPI itself defines (MPI 3.1, sections 8.1.2
 * and 11.2.6). All others live in the stand-in.
 *
 * Context of all: normal (lower half).
 */
#include "adapt/constants.h"
#include "adapt/handle.h"

typedef int get_attr(int object, int keyval, void *value, int *flag);

static int is_listed(const struct adapt_values *values, int value)
{
    for (int i = 0; i < values->count; i++) {
        if (values->value[i] == value) {
            return 1;
        }
    }
    return 0;
}

/* keyval: Open MPI's; *mpich_p receives MPICH's. An attribute that only Open
 * MPI has is not set. */
static int get(get_attr *function, int object, int keyval, int *mpich_p,
               void *value, int *flag)
{
    *mpich_p = adapt_constant_in(ADAPT_KEYVAL, keyval);
    if (is_listed(&adapt_openmpi_keyvals, keyval)) {
        *flag = 0;
        return MPI_SUCCESS;
    }
    if (*mpich_p == ADAPT_NO_VALUE) {
        *mpich_p = MPI_KEYVAL_INVALID;
    }
    return adapt_code(function(object, *mpich_p, value, flag));
}

int adapt_Comm_get_attr(void *comm, int keyval, void *value, int *flag)
{
    static int host, io;
    int mpich, *number;
    int code = get(PMPI_Comm_get_attr, adapt_in(comm), keyval, &mpich, value,
                   flag);

    if (code != MPI_SUCCESS || !*flag) {
        return code;
    }
    if (mpich == MPI_HOST || mpich == MPI_IO) { /* ranks */
        number = mpich == MPI_HOST ? &host : &io;
        *number = adapt_rank_out(**(int **)value);
        *(int **)value = number;
    }
    return code;
}

/* Replaces a value by its Open MPI value in the static table, which is always
 * valid. */
static void replace(enum adapt_group group, void *value)
{
    const struct adapt_values *mpich = &adapt_mpich_values[group];

    for (int i = 0; i < mpich->count; i++) {
        if (mpich->value[i] == **(int **)value) {
            *(const int **)value = &adapt_openmpi_values[group].value[i];
            return;
        }
    }
}

int adapt_Win_get_attr(void *win, int keyval, void *value, int *flag)
{
    int mpich;
    int code =
        get(PMPI_Win_get_attr, adapt_in(win), keyval, &mpich, value, flag);

    if (code == MPI_SUCCESS && *flag && mpich == MPI_WIN_CREATE_FLAVOR) {
        replace(ADAPT_WIN_FLAVOR, value);
    } else if (code == MPI_SUCCESS && *flag && mpich == MPI_WIN_MODEL) {
        replace(ADAPT_WIN_MODEL, value);
    }
    return code;
}
