! SPDX-License-Identifier: BSD-3-Clause
!
! phases.f90 - module ckpt of ckpt.f90: safe points, hooks, excluded memory, a region.
!
!     phases STEPS
!
! Runs with ckpt and without; an error ends the job.
!
module device
    use, intrinsic :: iso_c_binding
    use ckpt
    implicit none
    logical, save :: is_open = .true.
    integer, save :: restarts = 0
contains
    function close_it(data) result(answer) bind(C)
        type(c_ptr), value :: data
        integer(c_int) :: answer
        if (c_associated(data) .or. .not. is_open) error stop "closed twice"
        is_open = .false.
        answer = 0
    end function
    subroutine open_it(answer, data) bind(C)
        integer(c_int), value :: answer
        type(c_ptr), value :: data
        if (c_associated(data) .or. is_open) error stop "opened twice"
        is_open = .true.
        if (answer == CKPT_RESTARTED) restarts = restarts + 1
    end subroutine
end module

program phases
    use, intrinsic :: iso_c_binding
    use ckpt
    use device
    use mpi
    implicit none
    integer, parameter :: words = 1048576, page_words = 512
    integer(c_int64_t), allocatable, target :: scratch(:), kept(:)
    integer :: rank, error, steps, step, answer, id, all_steps, i
    integer(c_int64_t) :: before
    logical :: too_early
    character(len=20) :: text

    call get_command_argument(1, text)
    read (text, *) steps
    call MPI_Init(error)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
    allocate (scratch(words), kept(words))
    call check(ckpt_exclude(c_loc(scratch), 8_c_size_t * words) == 0, "exclude")
    call ckpt_only_at_safe_points(.true.)
    id = ckpt_hooks_add(close_it, open_it, c_null_ptr)
    call check(id > 0 .eqv. ckpt_active(), "hooks")
    step = 0
    do
        step = step + 1
        if (step > steps) then
            inquire (file=".may-not-end", exist=too_early) ! see apps/may_end.h
            call MPI_Bcast(too_early, 1, MPI_LOGICAL, 0, MPI_COMM_WORLD, error)
            if (.not. too_early) exit
        end if
        before = ckpt_restarts()
        scratch(::page_words) = step
        kept(::page_words) = step
        call ckpt_disable()
        call MPI_Allreduce(step, all_steps, 1, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, error)
        call ckpt_enable()
        answer = ckpt_safe_point()
        call check(all_steps == step, "reduction")
        do i = 1 + page_words, words - page_words, page_words
            call check(kept(i) == step, "kept")
            call check(scratch(i) == merge(0, step, ckpt_restarts() /= before), "scratch")
        end do
        call check(is_open, "open")
        if (rank == 0 .and. mod(step, 20) == 0) print "(a,i0)", "step ", step
        if (rank == 0 .and. step == steps / 2) then
            answer = ckpt_checkpoint(0)
            call check(answer == merge(CKPT_ASKED, CKPT_ABSENT, ckpt_active()), ckpt_reason())
        end if
        flush (6)
        call execute_pause()
    end do
    call check(ckpt_include(c_loc(scratch), 8_c_size_t * words) == 0, "include")
    call ckpt_hooks_remove(id)
    if (rank == 0) then
        print "(a,i0,a,i0)", "restarts ", ckpt_restarts(), ", hooks ", restarts
        print "(a,i0)", "OK ", steps * size(kept(::page_words))
    end if
    call MPI_Finalize(error)

contains

    subroutine check(condition, what)
        logical, intent(in) :: condition
        character(len=*), intent(in) :: what
        if (.not. condition) then
            print *, "check failed: ", what
            call MPI_Abort(MPI_COMM_WORLD, 3, error)
        end if
    end subroutine

    subroutine execute_pause()
        interface
            function usleep(us) result(answer) bind(C)
                import :: c_int
                integer(c_int), value :: us
                integer(c_int) :: answer
            end function
        end interface
        error = usleep(2000_c_int)
    end subroutine
end program
