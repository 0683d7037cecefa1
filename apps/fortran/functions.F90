! SPDX-License-Identifier: BSD-3-Clause
! functions.F90 - functions that MPI calls: an operation, attribute functions, an error handler, the
! functions of a generalized request.
#include "dialect.h"

module MODULE_NAME
    USE_MPI
    implicit none
    INCLUDE_MPI
    integer :: copies = 0, deletions = 0, errors = 0, queries = 0, frees = 0
    integer(MPI_ADDRESS_KIND), parameter :: extra = 1234567890123_MPI_ADDRESS_KIND
    integer, parameter :: small_extra = -77
contains

    ! 2x2 matrices: associative, not commutative.
#ifdef WITH_MPI_F08
    subroutine multiply(left_pointer, right_pointer, length, datatype)
        use, intrinsic :: iso_c_binding
        type(c_ptr), value :: left_pointer, right_pointer
        integer :: length
        type(MPI_Datatype) :: datatype
        integer, pointer :: left(:, :, :), right(:, :, :)
        integer :: i, bytes, ierror

        call c_f_pointer(left_pointer, left, [2, 2, length])
        call c_f_pointer(right_pointer, right, [2, 2, length])
#else
    subroutine multiply(left, right, length, datatype)
        integer :: length, datatype
        integer :: left(2, 2, length), right(2, 2, length)
        integer :: i, bytes, ierror

#endif
        call MPI_Type_size(datatype, bytes, ierror)
        call check(bytes == 16, 'the datatype of an operation')
        do i = 1, length
            right(:, :, i) = mod(matmul(left(:, :, i), right(:, :, i)), 10007)
        end do
    end subroutine multiply

    subroutine copy_attribute(comm, keyval, state, value_in, value_out, flag, ierror)
        HANDLE(MPI_Comm) :: comm
        integer :: keyval, ierror
        integer(MPI_ADDRESS_KIND) :: state, value_in, value_out
        logical :: flag

        call check(state == extra, 'extra state of a copy function')
        copies = copies + 1
        value_out = value_in + 1
        flag = .true.
        ierror = MPI_SUCCESS
    end subroutine copy_attribute

    subroutine delete_attribute(comm, keyval, value, state, ierror)
        HANDLE(MPI_Comm) :: comm
        integer :: keyval, ierror
        integer(MPI_ADDRESS_KIND) :: value, state

        call check(state == extra, 'extra state of a delete function')
        deletions = deletions + 1
        ierror = MPI_SUCCESS
    end subroutine delete_attribute

#ifndef WITH_MPI_F08
    subroutine copy_integer(comm, keyval, state, value_in, value_out, flag, ierror)
        integer :: comm, keyval, state, value_in, value_out, ierror
        logical :: flag

        call check(state == small_extra, 'extra state of MPI-1')
        value_out = 2*value_in
        flag = .true.
        ierror = MPI_SUCCESS
    end subroutine copy_integer

    subroutine delete_integer(comm, keyval, value, state, ierror)
        integer :: comm, keyval, value, state, ierror

        call check(state == small_extra, 'extra state of MPI-1')
        deletions = deletions + 1
        ierror = MPI_SUCCESS
    end subroutine delete_integer
#endif

    subroutine handle_error(comm, code)
        HANDLE(MPI_Comm) :: comm
        integer :: code, class, size, ierror

        call MPI_Comm_size(comm, size, ierror)
        call MPI_Error_class(code, class, ierror)
        call check(size == 2 .and. class == MPI_ERR_RANK, 'an error handler')
        errors = errors + 1
    end subroutine handle_error

    subroutine query_request(state, status, ierror)
        integer(MPI_ADDRESS_KIND) :: state
        STATUS_DECLARED(status)
        integer :: ierror

        call MPI_Status_set_elements(status, MPI_INTEGER, 3, ierror)
        call MPI_Status_set_cancelled(status, .false., ierror)
        STATUS_SOURCE(status) = 5
        STATUS_TAG(status) = int(mod(state, 1000_MPI_ADDRESS_KIND))
        queries = queries + 1
        ierror = MPI_SUCCESS
    end subroutine query_request

    subroutine free_request(state, ierror)
        integer(MPI_ADDRESS_KIND) :: state
        integer :: ierror

        call check(state == extra, 'extra state of a generalized request')
        frees = frees + 1
        ierror = MPI_SUCCESS
    end subroutine free_request

    subroutine cancel_request(state, complete, ierror)
        integer(MPI_ADDRESS_KIND) :: state
        logical :: complete
        integer :: ierror

        ierror = MPI_SUCCESS
    end subroutine cancel_request
end module MODULE_NAME
