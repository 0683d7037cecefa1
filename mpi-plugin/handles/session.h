/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * session.h - sessions (MPI 4.0, section 11.3).
 *
 * They exist only in the upper half. The first session starts the lower half as
 * MPI_Init does. Process sets are groups of MPI_COMM_WORLD, even if the program
 * never uses that communicator. So sessions work over any library, and a
 * restart makes their groups and communicators again like all others.
 */
#ifndef CKPT_SESSION_H
#define CKPT_SESSION_H

#include "handles/handles.h"

struct ompi_instance_t {
    struct ckpt_handle handle;
    MPI_Errhandler errhandler;
};

/* Returns 1 for an open session. Context: any. */
static inline int ckpt_session_valid(MPI_Session session)
{
    return session != NULL && session != MPI_SESSION_NULL &&
           session->handle.references != 0;
}

#endif
