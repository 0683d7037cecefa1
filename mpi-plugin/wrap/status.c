/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * status.c - statuses of the Fortran module mpi_f08 (MPI 4.0, section 19.3.5).
 * In Open MPI all three kinds have the same bytes.
 */
#include "handles/wrapper.h"

#include <stddef.h>
#include <string.h>

_Static_assert(sizeof(MPI_F08_status) == sizeof(MPI_Status),
               "a status is the same in C and in mpi_f08");

/* adapt/status.h has the same numbers: it cannot include this mpi.h. */
_Static_assert(offsetof(MPI_Status, MPI_SOURCE) == 0 && offsetof(MPI_Status, MPI_TAG) == 4 &&
                   offsetof(MPI_Status, MPI_ERROR) == 8 && offsetof(MPI_Status, _cancelled) == 12,
               "layout of struct adapt_status");
_Static_assert(offsetof(MPI_Status, _ucount) == 16 && sizeof(MPI_Status) == 24,
               "layout of struct adapt_status");

#define REQUIRE_STATUSES(from, to, name)                                      \
    do {                                                                      \
        CKPT_REQUIRE((from) != NULL && (to) != NULL, NULL, MPI_ERR_IN_STATUS, \
                     (name));                                                 \
    } while (0)

int PMPI_Status_c2f08(const MPI_Status *c_status, MPI_F08_status *f08_status)
{
    REQUIRE_STATUSES(c_status, f08_status, "MPI_Status_c2f08");
    memcpy(f08_status, c_status, sizeof(*f08_status));
    return MPI_SUCCESS;
}
CKPT_ALIAS(Status_c2f08);

int PMPI_Status_f082c(const MPI_F08_status *f08_status, MPI_Status *c_status)
{
    REQUIRE_STATUSES(f08_status, c_status, "MPI_Status_f082c");
    memcpy(c_status, f08_status, sizeof(*c_status));
    return MPI_SUCCESS;
}
CKPT_ALIAS(Status_f082c);

int PMPI_Status_f082f(const MPI_F08_status *f08_status, MPI_Fint *f_status)
{
    REQUIRE_STATUSES(f08_status, f_status, "MPI_Status_f082f");
    memcpy(f_status, f08_status, sizeof(*f08_status));
    return MPI_SUCCESS;
}
CKPT_ALIAS(Status_f082f);

int PMPI_Status_f2f08(const MPI_Fint *f_status, MPI_F08_status *f08_status)
{
    REQUIRE_STATUSES(f_status, f08_status, "MPI_Status_f2f08");
    memcpy(f08_status, f_status, sizeof(*f08_status));
    return MPI_SUCCESS;
}
CKPT_ALIAS(Status_f2f08);
