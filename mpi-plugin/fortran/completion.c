/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * completion.c - Fortran bindings of MPI 3.1, section 3.7.5: arrays of
 * requests, and indices from 1.
 */
#include "fortran/fortran.h"

#include <stdlib.h>

#pragma GCC visibility push(default)

/* Returns the requests to the program, and frees the array of handles. */
static void return_requests(int count, MPI_Request *requests, MPI_Fint *numbers)
{
    for (int i = 0; i < count; i++) {
        numbers[i] = PMPI_Request_c2f(requests[i]);
    }
    free(requests);
}

/* Converts an index from 0 to one from 1; MPI_UNDEFINED stays. */
static void return_index(MPI_Fint *index, int c_index)
{
    *index = c_index == MPI_UNDEFINED ? MPI_UNDEFINED : c_index + 1;
}

/* The same for `count` indices; for none if it is MPI_UNDEFINED, which is
 * negative. */
_Static_assert(MPI_UNDEFINED < 0, "no index and no count is MPI_UNDEFINED");

static void count_from_one(int count, MPI_Fint *indices)
{
    for (int i = 0; i < count; i++) {
        indices[i]++;
    }
}

void ompi_startall_f(const MPI_Fint *count, MPI_Fint *array_of_requests,
                     MPI_Fint *ierror)
{
    MPI_Request *requests = ckpt_fortran_requests(*count, array_of_requests);
    int code;

    if (requests == NULL) {
        ckpt_fortran_no_memory(ierror, "MPI_Startall");
        return;
    }
    code = PMPI_Startall(*count, requests);
    return_requests(*count, requests, array_of_requests);
    ckpt_fortran_return(ierror, code);
}
CKPT_FORTRAN_NAMES(startall, STARTALL, Startall);

void ompi_waitall_f(const MPI_Fint *count, MPI_Fint *array_of_requests,
                    MPI_Fint *array_of_statuses, MPI_Fint *ierror)
{
    MPI_Request *requests = ckpt_fortran_requests(*count, array_of_requests);
    int code;

    if (requests == NULL) {
        ckpt_fortran_no_memory(ierror, "MPI_Waitall");
        return;
    }
    code = PMPI_Waitall(*count, requests, ckpt_fortran_status(array_of_statuses));
    return_requests(*count, requests, array_of_requests);
    ckpt_fortran_return(ierror, code);
}
CKPT_FORTRAN_NAMES(waitall, WAITALL, Waitall);

void ompi_waitany_f(const MPI_Fint *count, MPI_Fint *array_of_requests,
                    MPI_Fint *index, MPI_Fint *status, MPI_Fint *ierror)
{
    MPI_Request *requests = ckpt_fortran_requests(*count, array_of_requests);
    int c_index = MPI_UNDEFINED, code;

    if (requests == NULL) {
        ckpt_fortran_no_memory(ierror, "MPI_Waitany");
        return;
    }
    code = PMPI_Waitany(*count, requests, &c_index, ckpt_fortran_status(status));
    return_requests(*count, requests, array_of_requests);
    return_index(index, c_index);
    ckpt_fortran_return(ierror, code);
}
CKPT_FORTRAN_NAMES(waitany, WAITANY, Waitany);

void ompi_waitsome_f(const MPI_Fint *incount, MPI_Fint *array_of_requests,
                     MPI_Fint *outcount, MPI_Fint *array_of_indices,
                     MPI_Fint *array_of_statuses, MPI_Fint *ierror)
{
    MPI_Request *requests = ckpt_fortran_requests(*incount, array_of_requests);
    int code;

    if (requests == NULL) {
        ckpt_fortran_no_memory(ierror, "MPI_Waitsome");
        return;
    }
    *outcount = MPI_UNDEFINED;
    code = PMPI_Waitsome(*incount, requests, outcount, array_of_indices,
                         ckpt_fortran_status(array_of_statuses));
    return_requests(*incount, requests, array_of_requests);
    count_from_one(*outcount, array_of_indices);
    ckpt_fortran_return(ierror, code);
}
CKPT_FORTRAN_NAMES(waitsome, WAITSOME, Waitsome);

void ompi_testall_f(const MPI_Fint *count, MPI_Fint *array_of_requests,
                    MPI_Fint *flag, MPI_Fint *array_of_statuses,
                    MPI_Fint *ierror)
{
    MPI_Request *requests = ckpt_fortran_requests(*count, array_of_requests);
    int code;

    if (requests == NULL) {
        ckpt_fortran_no_memory(ierror, "MPI_Testall");
        return;
    }
    code = PMPI_Testall(*count, requests, flag,
                        ckpt_fortran_status(array_of_statuses));
    return_requests(*count, requests, array_of_requests);
    ckpt_fortran_return(ierror, code);
}
CKPT_FORTRAN_NAMES(testall, TESTALL, Testall);

void ompi_testany_f(const MPI_Fint *count, MPI_Fint *array_of_requests,
                    MPI_Fint *index, MPI_Fint *flag, MPI_Fint *status,
                    MPI_Fint *ierror)
{
    MPI_Request *requests = ckpt_fortran_requests(*count, array_of_requests);
    int c_index = MPI_UNDEFINED, code;

    if (requests == NULL) {
        ckpt_fortran_no_memory(ierror, "MPI_Testany");
        return;
    }
    code = PMPI_Testany(*count, requests, &c_index, flag,
                        ckpt_fortran_status(status));
    return_requests(*count, requests, array_of_requests);
    return_index(index, c_index);
    ckpt_fortran_return(ierror, code);
}
CKPT_FORTRAN_NAMES(testany, TESTANY, Testany);

void ompi_testsome_f(const MPI_Fint *incount, MPI_Fint *array_of_requests,
                     MPI_Fint *outcount, MPI_Fint *array_of_indices,
                     MPI_Fint *array_of_statuses, MPI_Fint *ierror)
{
    MPI_Request *requests = ckpt_fortran_requests(*incount, array_of_requests);
    int code;

    if (requests == NULL) {
        ckpt_fortran_no_memory(ierror, "MPI_Testsome");
        return;
    }
    *outcount = MPI_UNDEFINED;
    code = PMPI_Testsome(*incount, requests, outcount, array_of_indices,
                         ckpt_fortran_status(array_of_statuses));
    return_requests(*incount, requests, array_of_requests);
    count_from_one(*outcount, array_of_indices);
    ckpt_fortran_return(ierror, code);
}
CKPT_FORTRAN_NAMES(testsome, TESTSOME, Testsome);

void ompi_cancel_f(const MPI_Fint *request, MPI_Fint *ierror)
{
    MPI_Request c_request = PMPI_Request_f2c(*request);

    ckpt_fortran_return(ierror, PMPI_Cancel(&c_request));
}
CKPT_FORTRAN_NAMES(cancel, CANCEL, Cancel);
