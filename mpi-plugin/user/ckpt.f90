! SPDX-License-Identifier: BSD-3-Clause
!
! ckpt.f90 - ckpt.h for Fortran 2008. Compile it with the program, as each compiler has
! its own format of module files. See ckpt(3).
!
! It links only libc, and does nothing if the process has no checkpointer. Numbers of
! checkpoints have 64 bits; flags are logical. Errors are those of ckpt.h.
!
module ckpt
    use, intrinsic :: iso_c_binding
    implicit none
    private

    public :: ckpt_active, ckpt_restarts, ckpt_last, ckpt_wanted, ckpt_checkpoint, &
              ckpt_reason, ckpt_disable, ckpt_enable, ckpt_safe_point, &
              ckpt_only_at_safe_points, ckpt_exclude, ckpt_include, ckpt_hooks_add, &
              ckpt_hooks_remove, ckpt_before, ckpt_after

    integer, parameter, public :: CKPT_REFUSED = -1, CKPT_ABSENT = 0, CKPT_TAKEN = 1, &
                                  CKPT_RESTARTED = 2, CKPT_ASKED = 3
    integer(c_int), parameter, public :: CKPT_WAIT = 1, CKPT_ALL = 2

    ! struct ckpt_interface of ckpt.h
    type, bind(C) :: interface_t
        integer(c_int32_t) :: version, size
        type(c_funptr) :: active, restarts, last, wanted, checkpoint, reason, disable, &
                          enable, safe_point, only_at_safe_points, exclude, include, &
                          hooks_add, hooks_remove
    end type

    type, bind(C) :: hooks_t
        type(c_funptr) :: before, after
        type(c_ptr) :: data
    end type

    abstract interface
        function ckpt_before(data) result(answer) bind(C)
            import :: c_ptr, c_int
            type(c_ptr), value :: data
            integer(c_int) :: answer
        end function
        subroutine ckpt_after(answer, data) bind(C)
            import :: c_ptr, c_int
            integer(c_int), value :: answer
            type(c_ptr), value :: data
        end subroutine
        function int_function() result(answer) bind(C)
            import :: c_int
            integer(c_int) :: answer
        end function
        function count_function() result(answer) bind(C)
            import :: c_int64_t
            integer(c_int64_t) :: answer
        end function
        function flags_function(flags) result(answer) bind(C)
            import :: c_int
            integer(c_int), value :: flags
            integer(c_int) :: answer
        end function
        function text_function() result(answer) bind(C)
            import :: c_ptr
            type(c_ptr) :: answer
        end function
        subroutine plain_subroutine() bind(C)
        end subroutine
        subroutine int_subroutine(number) bind(C)
            import :: c_int
            integer(c_int), value :: number
        end subroutine
        function memory_function(address, size) result(answer) bind(C)
            import :: c_ptr, c_size_t, c_int
            type(c_ptr), value :: address
            integer(c_size_t), value :: size
            integer(c_int) :: answer
        end function
        function hooks_function(hooks) result(answer) bind(C)
            import :: hooks_t, c_int
            type(hooks_t), intent(in) :: hooks
            integer(c_int) :: answer
        end function
    end interface

    interface
        function dlsym(handle, name) result(address) bind(C)
            import :: c_ptr, c_char
            type(c_ptr), value :: handle
            character(kind=c_char), intent(in) :: name(*)
            type(c_ptr) :: address
        end function
        function strlen(text) result(length) bind(C)
            import :: c_ptr, c_size_t
            type(c_ptr), value :: text
            integer(c_size_t) :: length
        end function
    end interface

    logical, save :: looked = .false.
    type(interface_t), pointer, save :: table => null()

contains

    ! Returns whether this process has a checkpointer; `table` is its interface.
    logical function found()
        type(c_ptr) :: address
        if (.not. looked) then
            address = dlsym(c_null_ptr, "ckpt_interface_1" // c_null_char)
            if (c_associated(address)) call c_f_pointer(address, table)
            looked = .true.
        end if
        found = associated(table)
    end function

    logical function ckpt_active()
        procedure(int_function), pointer :: call_it
        ckpt_active = .false.
        if (.not. found()) return
        call c_f_procpointer(table%active, call_it)
        ckpt_active = call_it() /= 0
    end function

    integer(c_int64_t) function ckpt_restarts()
        procedure(count_function), pointer :: call_it
        ckpt_restarts = 0
        if (.not. found()) return
        call c_f_procpointer(table%restarts, call_it)
        ckpt_restarts = call_it()
    end function

    integer(c_int64_t) function ckpt_last()
        procedure(count_function), pointer :: call_it
        ckpt_last = 0
        if (.not. found()) return
        call c_f_procpointer(table%last, call_it)
        ckpt_last = call_it()
    end function

    logical function ckpt_wanted()
        procedure(int_function), pointer :: call_it
        ckpt_wanted = .false.
        if (.not. found()) return
        call c_f_procpointer(table%wanted, call_it)
        ckpt_wanted = call_it() /= 0
    end function

    ! flags: CKPT_WAIT, CKPT_ALL, their sum, or 0.
    integer function ckpt_checkpoint(flags)
        integer(c_int), intent(in) :: flags
        procedure(flags_function), pointer :: call_it
        ckpt_checkpoint = CKPT_ABSENT
        if (.not. found()) return
        call c_f_procpointer(table%checkpoint, call_it)
        ckpt_checkpoint = call_it(flags)
    end function

    function ckpt_reason() result(text)
        character(len=:), allocatable :: text
        procedure(text_function), pointer :: call_it
        character(kind=c_char), pointer :: letters(:)
        type(c_ptr) :: address
        integer :: i
        text = ""
        if (.not. found()) return
        call c_f_procpointer(table%reason, call_it)
        address = call_it()
        call c_f_pointer(address, letters, [strlen(address)])
        text = repeat(" ", size(letters))
        do i = 1, size(letters)
            text(i:i) = letters(i)
        end do
    end function

    subroutine ckpt_disable()
        procedure(plain_subroutine), pointer :: call_it
        if (.not. found()) return
        call c_f_procpointer(table%disable, call_it)
        call call_it()
    end subroutine

    subroutine ckpt_enable()
        procedure(plain_subroutine), pointer :: call_it
        if (.not. found()) return
        call c_f_procpointer(table%enable, call_it)
        call call_it()
    end subroutine

    integer function ckpt_safe_point()
        procedure(int_function), pointer :: call_it
        ckpt_safe_point = CKPT_ABSENT
        if (.not. found()) return
        call c_f_procpointer(table%safe_point, call_it)
        ckpt_safe_point = call_it()
    end function

    subroutine ckpt_only_at_safe_points(only)
        logical, intent(in) :: only
        procedure(int_subroutine), pointer :: call_it
        if (.not. found()) return
        call c_f_procpointer(table%only_at_safe_points, call_it)
        call call_it(merge(1_c_int, 0_c_int, only))
    end subroutine

    ! address: c_loc(array) of a contiguous array; length: bytes, as storage_size(array)
    ! / 8 * size(array).
    integer function ckpt_exclude(address, length)
        type(c_ptr), intent(in) :: address
        integer(c_size_t), intent(in) :: length
        procedure(memory_function), pointer :: call_it
        ckpt_exclude = 0
        if (.not. found()) return
        call c_f_procpointer(table%exclude, call_it)
        ckpt_exclude = call_it(address, length)
    end function

    integer function ckpt_include(address, length)
        type(c_ptr), intent(in) :: address
        integer(c_size_t), intent(in) :: length
        procedure(memory_function), pointer :: call_it
        ckpt_include = 0
        if (.not. found()) return
        call c_f_procpointer(table%include, call_it)
        ckpt_include = call_it(address, length)
    end function

    ! `data` is passed to both functions: c_null_ptr, or the address of the program's
    ! data.
    integer function ckpt_hooks_add(before, after, data)
        procedure(ckpt_before) :: before
        procedure(ckpt_after) :: after
        type(c_ptr), intent(in) :: data
        procedure(hooks_function), pointer :: call_it
        ckpt_hooks_add = 0
        if (.not. found()) return
        call c_f_procpointer(table%hooks_add, call_it)
        ckpt_hooks_add = call_it(hooks_t(c_funloc(before), c_funloc(after), data))
    end function

    subroutine ckpt_hooks_remove(id)
        integer, intent(in) :: id
        procedure(int_subroutine), pointer :: call_it
        if (.not. found()) return
        call c_f_procpointer(table%hooks_remove, call_it)
        call call_it(int(id, c_int))
    end subroutine

end module
