! SPDX-License-Identifier: BSD-3-Clause
! bare_names.f90 - with -fno-underscoring, it calls mpi_init instead of
! mpi_init_.
program bare_names
    implicit none
    include 'mpif.h'
    integer :: error

    call MPI_Init(error)
    print '(a)', 'runs'
    call MPI_Finalize(error)
end program bare_names
