! SPDX-License-Identifier: BSD-3-Clause
! workload_module.F90 - the functions of workload.h and selfcheck.h, for Fortran.

module workload
    use, intrinsic :: iso_c_binding, only: c_int, c_int64_t, c_long
    use, intrinsic :: iso_fortran_env, only: error_unit, int64, real64
    use mpi_f08
    implicit none
    private
    public :: bytes_argument, number_argument, first_of, check, print_answer, show_step

    interface
        function workload_default_bytes() bind(c)
            import :: c_int64_t
            integer(c_int64_t) :: workload_default_bytes
        end function workload_default_bytes

        subroutine show_step(rank, step) bind(c)
            import :: c_int, c_long
            integer(c_int), value :: rank
            integer(c_long), value :: step
        end subroutine show_step
    end interface

contains

    integer(int64) function number_argument(place, otherwise)
        integer, intent(in) :: place
        integer(int64), intent(in) :: otherwise
        character(len=32) :: text

        number_argument = otherwise
        call get_command_argument(place, text)
        if (text /= ' ') read (text, *) number_argument
    end function number_argument

    !> Returns an argument in MiB as bytes, or the default: then collective over MPI_COMM_WORLD.
    integer(int64) function bytes_argument(place)
        integer, intent(in) :: place

        bytes_argument = ishft(number_argument(place, 0_int64), 20)
        if (bytes_argument <= 0) bytes_argument = workload_default_bytes()
    end function bytes_argument

    !> Returns the first thing of a rank, if things are dealt out in blocks. For the rank after the
    !> last one, it is the number after the last thing.
    integer function first_of(rank, things, ranks)
        integer, intent(in) :: rank, things, ranks

        first_of = int(int(things, int64)*rank/ranks) + 1
    end function first_of

    !> Ends the job with a message unless the condition holds.
    subroutine check(condition, what)
        logical, intent(in) :: condition
        character(len=*), intent(in) :: what

        if (condition) return
        write (error_unit, '(2a)') 'check failed: ', what
        call MPI_Abort(MPI_COMM_WORLD, 3)
    end subroutine check

    !> Prints the job's answer, from numbers of rank 0: each bit of them counts.
    subroutine print_answer(values)
        real(real64), intent(in) :: values(:)
        integer(int64) :: bits(size(values)), answer
        integer :: i, rank

        bits = transfer(values, bits)
        answer = 0
        do i = 1, size(bits)
            answer = ieor(ishftc(answer, 13), bits(i))
        end do
        call MPI_Comm_rank(MPI_COMM_WORLD, rank)
        if (rank == 0) write (*, '(a, z16.16)') 'OK ', answer
    end subroutine print_answer
end module workload
