/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * datatype_contents.h - the constructor of a derived datatype and its arguments, as the
 * library remembers them (MPI 3.1, section 4.1.13).
 */
#ifndef CKPT_DATATYPE_CONTENTS_H
#define CKPT_DATATYPE_CONTENTS_H

#include <mpi.h>
#include <stddef.h>

struct ckpt_contents {
    int integer_count, address_count, type_count, combiner;
    int *integers;
    MPI_Aint *addresses;
    MPI_Datatype *types; /* lower */
    size_t size;         /* bytes of our memory; 0 for MPI_COMBINER_NAMED */
};

/* Reads the constructor and its arguments. Returns an MPI error code. After
 * MPI_SUCCESS the caller calls ckpt_contents_free(). Context: place for
 * lower-half calls. */
int ckpt_contents_read(MPI_Datatype lower, struct ckpt_contents *contents);

/* Frees the memory, and the inner types that are not predefined: the library
 * made them for us. */
void ckpt_contents_free(struct ckpt_contents *contents);

#endif
