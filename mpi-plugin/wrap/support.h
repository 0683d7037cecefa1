/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * support.h - functions of the generated wrappers besides handles/wrapper.h.
 */
#ifndef CKPT_SUPPORT_H
#define CKPT_SUPPORT_H

#include "cut/collectives/collective.h"
#include "cut/collectives/nonblocking.h"
#include "handles/communicator.h"
#include "handles/handles.h"

#include <stdlib.h>

/* Handle arrays up to this length are translated on the stack. */
#define CKPT_TRANSLATE_LOCAL 32

static inline int ckpt_is_root(MPI_Comm comm, int root)
{
    return root == (comm->inter ? MPI_ROOT : comm->rank);
}

/* Returns whether this rank exchanges data with the root. In an
 * intercommunicator only the other group does. */
static inline int ckpt_serves_root(MPI_Comm comm, int root)
{
    return !comm->inter || root >= 0;
}

/* A datatype argument that only the root uses: on other ranks it may be
 * invalid. */
static inline MPI_Datatype ckpt_at_root(MPI_Comm comm, int root,
                                        MPI_Datatype datatype)
{
    return ckpt_is_root(comm, root) ? datatype : MPI_DATATYPE_NULL;
}

/* A datatype argument of ranks that send to the root or receive from it. In the
 * root's group of an intercommunicator it may be invalid. */
static inline MPI_Datatype ckpt_where_root_is_served(MPI_Comm comm, int root,
                                                     MPI_Datatype datatype)
{
    return ckpt_serves_root(comm, root) ? datatype : MPI_DATATYPE_NULL;
}

/* A datatype argument that may be invalid if its buffer is MPI_IN_PLACE. */
static inline MPI_Datatype ckpt_unless_beside_place(const void *buffer,
                                                    MPI_Datatype datatype)
{
    return buffer == MPI_IN_PLACE ? MPI_DATATYPE_NULL : datatype;
}

static inline int ckpt_unless_in_place(const void *buffer, int blocks)
{
    return buffer == MPI_IN_PLACE ? 0 : blocks;
}

/* The second half of a blocking collective that is split: `code` is the result
 * of the nonblocking form. */
static inline int ckpt_collective_wait(int code, MPI_Request *request)
{
    return code != MPI_SUCCESS ? code : PMPI_Wait(request, MPI_STATUS_IGNORE);
}

/* Returns how a restart may enter a collective that overwrites its in-place
 * input. */
static inline int ckpt_redo_unless_in_place(const void *buffer)
{
    return buffer == MPI_IN_PLACE ? CKPT_COLLECTIVE_ONCE : CKPT_COLLECTIVE_REDO;
}

/*
 * Translates handles into memory from ckpt_translate; the lower handles may
 * differ after a restart. Uses no TLS and may run inside a collective.
 */
static inline void *ckpt_translate_again(int count, const void *objects,
                                         void **lower)
{
    for (int i = 0; objects != NULL && i < count; i++) {
        lower[i] = CKPT_LOWER(((void *const *)objects)[i]);
    }
    return CKPT_UNLESS_NULL(objects, lower);
}

/* Returns the lower handles of a side's types. Context: as above. */
static inline MPI_Datatype *ckpt_lower_types(const struct ckpt_side *side)
{
    return ckpt_translate_again(side->blocks, side->types, side->lower_types);
}

/* Return the number of neighbours that this rank receives from, and that it
 * sends to; 0 if the communicator has no topology. Context: normal. */
int ckpt_in_degree(MPI_Comm comm);
int ckpt_out_degree(MPI_Comm comm);

/*
 * For MPI_T calls, which are allowed before MPI_Init: returns 0 if a lower half
 * is loaded. Context: normal.
 */
int ckpt_require_lower(void);

/*
 * Ends the program, because it called `function`, which belongs to `what`.
 * Context: normal.
 */
void ckpt_unsupported(const char *function, const char *what)
    __attribute__((noreturn));

#endif
