/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * session.h - sessions (MPI 4.0, section 11.3).
 *
 * They are the upper half's alone. The first one starts the lower half as
 * MPI_Init does; process sets are groups of MPI_COMM_WORLD, which the program
 * may not even have. So sessions work over any library, and a restart makes the
 * groups and communicators that came from them again like all others.
 */
#ifndef CKPT_SESSION_H
#define CKPT_SESSION_H

#include "handles/handles.h"

struct ompi_instance_t {
    struct ckpt_handle handle;
    MPI_Errhandler errhandler;
};

/* 1 if it is an open session. Context: any. */
static inline int ckpt_session_valid(MPI_Session session)
{
    return session != NULL && session != MPI_SESSION_NULL &&
           session->handle.references != 0;
}

#endif
