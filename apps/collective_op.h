/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * collective_op.h - any nonblocking collective: begins it, and checks it when it is complete.
 *
 * An element is a function x -> ax + b of numbers modulo 2^32; reductions compose functions, which
 * is associative and not commutative. All data follows from a key that the members share. Types and
 * operations are freed as soon as the collective has begun.
 *
 * Compiled with -DPERSISTENT, it uses persistent collectives: these are made first, and then
 * started any number of times. (Open MPI loses their types and operations if they are freed before
 * the request.)
 */
#ifndef COLLECTIVE_OP_H
#define COLLECTIVE_OP_H

#include "selfcheck.h"

struct element {
    uint32_t a, b;
};

enum collective {
    BARRIER,
    BCAST,
    GATHER,
    GATHERV,
    SCATTER,
    SCATTERV,
    ALLGATHER,
    ALLGATHERV,
    ALLTOALL,
    ALLTOALLV,
    ALLTOALLW,
    REDUCE,
    ALLREDUCE,
    REDUCE_SCATTER,
    REDUCE_SCATTER_BLOCK,
    SCAN,
    EXSCAN,
    PLAIN_COLLECTIVES,
    /* On communicators with a topology: */
    NEIGHBOR_ALLGATHER = PLAIN_COLLECTIVES,
    NEIGHBOR_ALLGATHERV,
    NEIGHBOR_ALLTOALL,
    NEIGHBOR_ALLTOALLV,
    NEIGHBOR_ALLTOALLW,
    ALL_COLLECTIVES
};

struct collective_op {
    enum collective what;
    MPI_Comm comm; /* not used after the call */
    int rank, size;
    int root;
    int count; /* elements of a block, or the most of a varying one */
    int in_place;
    uint64_t key;              /* determines the arguments */
    uint64_t data;             /* determines the data; equals `key` unless persistent */
    int sources, destinations; /* neighbours, */
    int *source, *destination; /*   or members */
    struct element *send, *receive;
    int *counts[2], *displs[2]; /* send, receive */
    MPI_Aint *wide_displs[2];
    MPI_Datatype type, *types;
    MPI_Op function;
    MPI_Request request;
};

/* Begins (or makes) `what`; key and the other arguments are the same at all members. */
void collective_begin(struct collective_op *op, enum collective what,
                      MPI_Comm comm, int root, int count, int in_place,
                      uint64_t key);

/* Starts a persistent collective, with data that follow from `data`. */
void collective_start(struct collective_op *op, uint64_t data);

/* The collective is complete: checks the result. */
void collective_check(const struct collective_op *op);

/* Checks the result as well; overwrites and frees the buffers, and a persistent request. */
void collective_end(struct collective_op *op);

#endif
