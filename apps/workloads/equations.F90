! SPDX-License-Identifier: BSD-3-Clause
! equations.F90 [MEBIBYTES [ITERATIONS]] - systems of equations on a grid of 700 by 500, by the
! method of conjugate gradients: the iterative equation solver of Plank 1993, section 4.2.9.
!
! Ranks have neighbouring columns of the grid, exchange border columns, and add up two products at
! each iteration. As in that program, arrays are as large as the largest problem may be: MEBIBYTES.
! When a system is solved, its solution is compared with the known one, and the next system begins.

program equations
    use, intrinsic :: iso_fortran_env, only: int64, real64
    use mpi_f08
    use workload
    implicit none
    integer, parameter :: rows = 700, all_columns = 500, arrays = 5
    real(real64), parameter :: shift = 0.05 ! of the diagonal: fewer iterations
    real(real64), parameter :: solved = 1e-20, tolerance = 1e-6
    integer :: rank, ranks, left, right, columns, first, system
    integer(int64) :: bytes, iterations, iteration
    real(real64) :: square, square_at_start
    real(real64), allocatable, dimension(:, :) :: known, solution, rest, direction, image

    call MPI_Init()
    call start
    do iteration = 1, iterations
        call show_step(rank, iteration)
        call iterate
        if (square < solved*square_at_start) call next_system
    end do
    call finish
    call MPI_Finalize()

contains

    subroutine start
        integer :: room

        call MPI_Comm_rank(MPI_COMM_WORLD, rank)
        call MPI_Comm_size(MPI_COMM_WORLD, ranks)
        bytes = bytes_argument(1)
        iterations = number_argument(2, 2000_int64)
        left = merge(rank - 1, MPI_PROC_NULL, rank > 0)
        right = merge(rank + 1, MPI_PROC_NULL, rank < ranks - 1)
        first = first_of(rank, all_columns, ranks)
        columns = first_of(rank + 1, all_columns, ranks) - first
        room = max(int(bytes/(8*rows*arrays)), columns + 2)
        allocate (known(rows, 0:room - 1), solution(rows, 0:room - 1), rest(rows, 0:room - 1), &
                  direction(rows, 0:room - 1), image(rows, 0:room - 1))
        known = 0; solution = 0; rest = 0; direction = 0; image = 0
        system = 0
        call begin_system
    end subroutine start

    !> The right-hand side is the matrix times the known solution.
    subroutine begin_system
        integer :: i, j

        do j = 1, columns
            do i = 1, rows
                known(i, j) = sin(0.01_real64*(system + 1)*i)*cos(0.02_real64*(first + j)) + system
            end do
        end do
        direction(:, 1:columns) = known(:, 1:columns)
        call apply_matrix
        rest(:, 1:columns) = image(:, 1:columns)
        direction(:, 1:columns) = rest(:, 1:columns)
        solution(:, 1:columns) = 0
        square = product_of(rest, rest)
        square_at_start = square
    end subroutine begin_system

    subroutine iterate
        real(real64) :: length, before

        call apply_matrix
        length = square/product_of(direction, image)
        solution(:, 1:columns) = solution(:, 1:columns) + length*direction(:, 1:columns)
        rest(:, 1:columns) = rest(:, 1:columns) - length*image(:, 1:columns)
        before = square
        square = product_of(rest, rest)
        direction(:, 1:columns) = rest(:, 1:columns) + square/before*direction(:, 1:columns)
    end subroutine iterate

    !> image = matrix * direction: five points, zero outside of the grid.
    subroutine apply_matrix
        integer :: i, j
        real(real64) :: above, below

        call exchange_borders
        do j = 1, columns
            do i = 1, rows
                above = merge(direction(max(i - 1, 1), j), 0.0_real64, i > 1)
                below = merge(direction(min(i + 1, rows), j), 0.0_real64, i < rows)
                image(i, j) = (4 + shift)*direction(i, j) - above - below - &
                              direction(i, j - 1) - direction(i, j + 1)
            end do
        end do
    end subroutine apply_matrix

    subroutine exchange_borders
        direction(:, 0) = 0
        direction(:, columns + 1) = 0
        call MPI_Sendrecv(direction(1, 1), rows, MPI_DOUBLE_PRECISION, left, 1, &
                          direction(1, columns + 1), rows, MPI_DOUBLE_PRECISION, right, 1, &
                          MPI_COMM_WORLD, MPI_STATUS_IGNORE)
        call MPI_Sendrecv(direction(1, columns), rows, MPI_DOUBLE_PRECISION, right, 2, &
                          direction(1, 0), rows, MPI_DOUBLE_PRECISION, left, 2, &
                          MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    end subroutine exchange_borders

    real(real64) function product_of(one, other)
        real(real64), intent(in), dimension(:, 0:) :: one, other
        real(real64) :: mine

        mine = sum(one(:, 1:columns)*other(:, 1:columns))
        call MPI_Allreduce(mine, product_of, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
    end function product_of

    subroutine next_system
        call check(maxval(abs(solution(:, 1:columns) - known(:, 1:columns))) < tolerance, 'solution')
        system = system + 1
        call begin_system
    end subroutine next_system

    !> Compares the updated residuals with those computed from solution and matrix; memory that no
    !> grid has needed must still be zero.
    subroutine finish
        real(real64) :: error

        direction(:, 1:columns) = known(:, 1:columns) - solution(:, 1:columns)
        call apply_matrix
        image(:, 1:columns) = image(:, 1:columns) - rest(:, 1:columns)
        error = product_of(image, image)
        call check(error < tolerance*square_at_start, 'rest')
        call check(all(known(:, columns + 2:) == 0), 'rest of the arrays')
        call print_answer([square, error, real(system, real64), product_of(solution, solution)])
    end subroutine finish
end program equations
