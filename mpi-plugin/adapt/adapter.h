/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * adapter.h - the interface of libckpt-mpich.so for ckpt-host.
 *
 * The adapter is loaded after MPICH's library and gives its functions and
 * predefined objects the form of Open MPI: the types, handles, statuses and
 * constants of Open MPI's mpi.h.
 */
#ifndef CKPT_ADAPTER_H
#define CKPT_ADAPTER_H

/* Version of this interface; part of the symbol's name. */
#define CKPT_ADAPTER_SYMBOL "ckpt_adapter_1"

struct ckpt_adapter {
    /* Returns NULL, or why this MPICH cannot be adapted. Call it first. */
    const char *(*refuse)(void);

    /* Returns the function in place of PMPI_X, or NULL if this MPICH has
     * none. */
    void *(*function)(const char *name);

    /* Returns the handle for ompi_mpi_X, or NULL if MPICH has none. */
    void *(*object)(const char *symbol);
};

#endif
