/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fake_datatypes.h - datatypes of an imaginary lower half: the answers of the library to layout.c.
 * The creator of a datatype sets the answers.
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

/* Installs the fake functions in the table of the lower half; call it before any other use. */
void fake_datatypes_open(void);

/* Returns the handle of the type for the code under test, valid while the type exists. */
static inline MPI_Datatype fake_handle(struct fake_datatype *type)
{
    return (MPI_Datatype)(void *)type;
}

/* Returns how many contents were read and not freed. */
int fake_contents_open(void);

#endif
