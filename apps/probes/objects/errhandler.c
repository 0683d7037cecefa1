/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * errhandler.c - predefined and user-defined error handlers on communicators.
 */
#include "probes/probe.h"

static int calls, last_class;

static void count_call(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    calls++;
    MPI_Error_class(*code, &last_class);
}

int main(int argc, char **argv)
{
    MPI_Comm own, quiet;
    MPI_Errhandler handler, seen;
    int code, class, number = 0;

    probe_begin(argc, argv, 2);
    MPI_Comm_dup(MPI_COMM_WORLD, &own);
    MPI_Comm_dup(MPI_COMM_WORLD, &quiet);
    MPI_Comm_create_errhandler(count_call, &handler);
    MPI_Comm_set_errhandler(own, handler);
    MPI_Errhandler_free(&handler); /* the communicator keeps it */
    MPI_Comm_set_errhandler(quiet, MPI_ERRORS_RETURN);
    probe_gate();
    MPI_Send(&number, 1, MPI_INT, 99, 0, own);
    CHECK(calls == 1 && last_class == MPI_ERR_RANK);
    MPI_Comm_call_errhandler(own, MPI_ERR_OTHER);
    CHECK(calls == 2 && last_class == MPI_ERR_OTHER);
    code = MPI_Send(&number, -1, MPI_INT, 0, 0, quiet);
    MPI_Error_class(code, &class);
    CHECK(class == MPI_ERR_COUNT);
    MPI_Comm_get_errhandler(quiet, &seen);
    CHECK(seen == MPI_ERRORS_RETURN);
    MPI_Comm_free(&own);
    MPI_Comm_free(&quiet);
    return probe_end();
}
