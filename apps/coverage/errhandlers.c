/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * errhandlers.c - error handlers of communicators; files.c and windows.c have
 * the handlers of files and windows.
 */
#include "coverage.h"

static int seen;
static MPI_Comm comm, old_comm;
static MPI_Errhandler handler, old_handler;
static MPI_Fint number;

static void note(MPI_Comm *where, int *code, ...)
{
    (void)where;
    seen = *code;
}

static void begin(void)
{
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Comm_dup(MPI_COMM_SELF, &old_comm);
    MPI_Comm_create_errhandler(note, &handler);
    MPI_Errhandler_create(note, &old_handler);
    MPI_Comm_set_errhandler(comm, handler);
    MPI_Errhandler_set(old_comm, old_handler);
    number = MPI_Errhandler_c2f(handler);
}

static void end(void)
{
    MPI_Errhandler found = MPI_ERRHANDLER_NULL;

    MPI_Comm_get_errhandler(comm, &found);
    CHECK(found == handler && MPI_Errhandler_f2c(number) == handler);
    MPI_Errhandler_free(&found);
    MPI_Errhandler_get(old_comm, &found);
    CHECK(found == old_handler);
    MPI_Errhandler_free(&found);
    seen = 0;
    MPI_Send(NULL, -1, MPI_INT, 0, 0, comm);
    CHECK(seen == MPI_ERR_COUNT);
    MPI_Comm_call_errhandler(old_comm, MPI_ERR_OTHER);
    CHECK(seen == MPI_ERR_OTHER);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    CHECK(MPI_Send(NULL, 0, MPI_INT, 5, 0, comm) != MPI_SUCCESS);
    MPI_Errhandler_free(&handler);
    MPI_Errhandler_free(&old_handler);
    MPI_Comm_free(&comm);
    MPI_Comm_free(&old_comm);
}

const struct section errhandlers_section = {"errhandlers", begin, end};
