! SPDX-License-Identifier: BSD-3-Clause
! dialect.h - one source for mpif.h, use mpi and use mpi_f08: how each declares
! handles and statuses. Before it, MODULE_NAME and one of WITH_MPIF_H, WITH_MPI
! and WITH_MPI_F08 are defined.
#ifdef WITH_MPI_F08
#define USE_MPI use mpi_f08
#define INCLUDE_MPI
#define HANDLE(name) type(name)
#define STATUS_ARRAY(name, count) type(MPI_Status) :: name(count)
#define STATUS_DECLARED(name) type(MPI_Status) :: name
#define BUFFER_ADDRESS(name) type(c_ptr) :: name
#define STATUS_TAG(status) status%MPI_TAG
#define STATUS_SOURCE(status) status%MPI_SOURCE
#define STATUS_AT(statuses, i) statuses(i)
#define STATUS_TAG_AT(statuses, i) statuses(i)%MPI_TAG
#else
#ifdef WITH_MPI
#define USE_MPI use mpi
#define INCLUDE_MPI
#else
#define USE_MPI
#define INCLUDE_MPI include "mpif.h"
#endif
#define HANDLE(name) integer
#define STATUS_ARRAY(name, count) integer :: name(MPI_STATUS_SIZE, count)
#define STATUS_DECLARED(name) integer :: name(MPI_STATUS_SIZE)
#define BUFFER_ADDRESS(name) integer(MPI_ADDRESS_KIND) :: name
#define STATUS_TAG(status) status(MPI_TAG)
#define STATUS_SOURCE(status) status(MPI_SOURCE)
#define STATUS_AT(statuses, i) statuses(:, i)
#define STATUS_TAG_AT(statuses, i) statuses(MPI_TAG, i)
#endif
