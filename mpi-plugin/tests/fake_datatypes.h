/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fake_datatypes.h - datatypes of a lower half that is not there: what layout.c asks the
 * library for. Those who make one say what the library would answer.
 */
#ifndef CKPT_FAKE_DATATYPES_H
#define CKPT_FAKE_DATATYPES_H

#include <mpi.h>

struct fake_datatype {
    MPI_Aint extent;
    int combiner; /* MPI_COMBINER_NAMED: predefined */
    const int *integers;
    int integer_count;
    const MPI_Aint *addresses;
    int address_count;
    struct fake_datatype *const *types;
    int type_count;
};

/* Before any other use: the table of the lower half's functions has ours. */
void fake_datatypes_open(void);

/* The handle by which the code under test knows it, as long as it exists. */
static inline MPI_Datatype fake_handle(struct fake_datatype *type)
{
    return (MPI_Datatype)(void *)type;
}

/* Contents that were read and not freed. */
int fake_contents_open(void);

#endif
