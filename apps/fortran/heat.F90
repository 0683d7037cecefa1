! SPDX-License-Identifier: BSD-3-Clause
! heat.F90 [STEPS [FILE]] - heat on a square plate, in the style of scientific Fortran: a Cartesian
! communicator, rows and columns of the border exchanged as derived types, a residual over all
! ranks, and now and then a row collected with strings of its rank. The answer depends only on the
! numbers of steps and ranks. With FILE, the program then computes on until that file exists.

program heat
    use mpi_f08
    use, intrinsic :: iso_fortran_env, only: int64, real64
    implicit none
    integer, parameter :: side = 96, lines_every = 250
    type(MPI_Comm) :: plate
    type(MPI_Datatype) :: row
    integer :: rank, size, steps, step
    integer :: neighbours(4), grid(2), place(2), extents(2)
    real(real64), allocatable :: old(:, :), new(:, :)
    real(real64) :: change
    character(len=4096) :: last_file
    integer(int64) :: answer
    logical :: is_over

    call MPI_Init()
    call start
    is_over = .false.
    step = 0
    do while (.not. is_over)
        step = step + 1
        call exchange
        call advance
        if (mod(step, lines_every) == 0) call report
        if (step == steps) answer = sum_of_plate()
        if (step >= steps .and. mod(step, lines_every) == 0) call see_whether_over
    end do
    call finish
    call MPI_Finalize()

contains

    subroutine start
        character(len=32) :: argument

        steps = 1000
        call get_command_argument(1, argument)
        if (argument /= ' ') read (argument, *) steps
        call get_command_argument(2, last_file)
        if (mod(steps, lines_every) /= 0) error stop 'a number of steps'
        call MPI_Comm_size(MPI_COMM_WORLD, size)
        grid = 0
        call MPI_Dims_create(size, 2, grid)
        call MPI_Cart_create(MPI_COMM_WORLD, 2, grid, [.false., .false.], .true., plate)
        call MPI_Comm_rank(plate, rank)
        call MPI_Cart_coords(plate, rank, 2, place)
        call MPI_Cart_shift(plate, 0, 1, neighbours(1), neighbours(2))
        call MPI_Cart_shift(plate, 1, 1, neighbours(3), neighbours(4))
        extents = side/grid
        allocate (old(0:extents(1) + 1, 0:extents(2) + 1))
        old = 0
        if (place(1) == 0) old(0, :) = 1 ! one edge of the plate is hot
        new = old
        call MPI_Type_vector(extents(2), 1, extents(1) + 2, MPI_DOUBLE_PRECISION, row)
        call MPI_Type_commit(row)
    end subroutine start

    subroutine exchange
        type(MPI_Request) :: requests(8)
        integer :: n

        n = extents(1)
        associate (m => extents(2), real8 => MPI_DOUBLE_PRECISION)
            call MPI_Irecv(old(0, 1), 1, row, neighbours(1), 1, plate, requests(1))
            call MPI_Irecv(old(n + 1, 1), 1, row, neighbours(2), 2, plate, requests(2))
            call MPI_Irecv(old(1, 0), n, real8, neighbours(3), 3, plate, requests(3))
            call MPI_Irecv(old(1, m + 1), n, real8, neighbours(4), 4, plate, requests(4))
            call MPI_Isend(old(n, 1), 1, row, neighbours(2), 1, plate, requests(5))
            call MPI_Isend(old(1, 1), 1, row, neighbours(1), 2, plate, requests(6))
            call MPI_Isend(old(1, m), n, real8, neighbours(4), 3, plate, requests(7))
            call MPI_Isend(old(1, 1), n, real8, neighbours(3), 4, plate, requests(8))
        end associate
        call MPI_Waitall(8, requests, MPI_STATUSES_IGNORE)
    end subroutine exchange

    subroutine advance
        integer :: i, j

        change = 0
        do j = 1, extents(2)
            do i = 1, extents(1)
                new(i, j) = (old(i - 1, j) + old(i + 1, j) + old(i, j - 1) + old(i, j + 1))/4
                change = max(change, abs(new(i, j) - old(i, j)))
            end do
        end do
        old(1:extents(1), 1:extents(2)) = new(1:extents(1), 1:extents(2))
        call MPI_Allreduce(MPI_IN_PLACE, change, 1, MPI_DOUBLE_PRECISION, MPI_MAX, plate)
        if (step <= steps .and. .not. change > 0) error stop 'no change'
    end subroutine advance

    subroutine report
        character(len=16) :: mine, all(size)
        integer :: i, named

        write (mine, '(a,i0)') 'rank ', rank
        call MPI_Gather(mine, 16, MPI_CHARACTER, all, 16, MPI_CHARACTER, 0, plate)
        if (rank /= 0) return
        do i = 1, size
            read (all(i) (6:), *) named
            if (named /= i - 1) error stop 'a string'
        end do
        print '(a,i0,a,es10.3)', 'step ', step, ' change ', change
        flush (6)
    end subroutine report

    subroutine see_whether_over
        if (last_file /= ' ') then
            inquire (file=last_file, exist=is_over)
        else
            inquire (file='.may-not-end', exist=is_over) ! see apps/may_end.h
            is_over = .not. is_over
        end if
        call MPI_Bcast(is_over, 1, MPI_LOGICAL, 0, plate)
    end subroutine see_whether_over

    function sum_of_plate() result(sum)
        integer(int64) :: bits, sum
        integer :: i, j

        bits = 0
        do j = 1, extents(2)
            do i = 1, extents(1)
                bits = ieor(ishftc(bits, 7), transfer(old(i, j), bits))
            end do
        end do
        call MPI_Reduce(bits, sum, 1, MPI_INTEGER8, MPI_BXOR, 0, plate)
    end function sum_of_plate

    subroutine finish
        if (rank == 0) print '(a,z16.16)', 'OK ', answer
        call MPI_Type_free(row)
        call MPI_Comm_free(plate)
    end subroutine finish
end program heat
