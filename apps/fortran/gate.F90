! SPDX-License-Identifier: BSD-3-Clause
! gate.F90 - waits, without MPI, until the file named by the program's first
! argument exists (see probes/probe.h), and the check that all programs use.

subroutine gate(rank)
    use, intrinsic :: iso_c_binding
    implicit none
    integer, intent(in) :: rank
    character(len=4096) :: path
    logical :: open_now
    integer :: tick, ignored

    interface
        function usleep(microseconds) bind(c)
            import :: c_int
            integer(c_int), value :: microseconds
            integer(c_int) :: usleep
        end function usleep
    end interface

    call get_command_argument(1, path)
    if (rank == 0) print '(a)', 'READY'
    tick = 0
    do
        inquire (file=trim(path), exist=open_now)
        if (open_now) exit
        ignored = usleep(20000_c_int)
        tick = tick + 1
        if (rank == 0 .and. mod(tick, 5) == 0) then
            print '(a,i0)', 'waiting ', tick
            flush (6)
        end if
    end do
end subroutine gate

subroutine check(condition, what)
    implicit none
    logical, intent(in) :: condition
    character(len=*), intent(in) :: what

    if (.not. condition) then
        print '(2a)', 'FAILED: ', what
        flush (6)
        error stop 1
    end if
end subroutine check
