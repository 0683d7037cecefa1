! SPDX-License-Identifier: BSD-3-Clause
! features.F90 - objects of Fortran programs that exist across a checkpoint: communicators with
! attributes, types, operations, requests, strings, sentinels. This source gives the programs of all
! three dialects; the order of calls follows probes/probe.h.
#include "dialect.h"
#include "functions.F90"

program features
    use, intrinsic :: iso_c_binding, only: c_ptr
    use MODULE_NAME
    implicit none
    integer :: rank, peer, ierror

    ! Objects made before the gate and used after it.
    HANDLE(MPI_Comm) :: ring, copied, cart, graph
    HANDLE(MPI_Datatype) :: column, record, matrix, precise
    HANDLE(MPI_Op) :: product
    HANDLE(MPI_Request) :: receiving, sending, persistent(2), general
    HANDLE(MPI_Info) :: info
    HANDLE(MPI_Errhandler) :: handler
    integer :: keyval, old_keyval
    integer :: late(3), early(1000), square(4, 4), token, answer
    integer, target :: first, last
    character(len=16) :: buffered(100)
    common /buffers/ late, early, square, token, answer, first, last
    save

    call start
    call make_communicators
    call make_types
    call make_requests
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
    call gate(rank)
    call use_requests
    call use_communicators
    call use_types
    call use_collectives
    call use_completion
    call use_strings
    call use_later_objects
    call finish

contains

    subroutine start
        integer :: size, provided

        call MPI_Init_thread(MPI_THREAD_SINGLE, provided, ierror)
        call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
        call MPI_Comm_size(MPI_COMM_WORLD, size, ierror)
        call check(size == 2, 'two ranks')
        peer = 1 - rank
    end subroutine start

    subroutine make_communicators
        integer(MPI_ADDRESS_KIND) :: value

        call MPI_Comm_dup(MPI_COMM_WORLD, ring, ierror)
        call MPI_Comm_set_name(ring, 'the ring ', ierror)
        call MPI_Comm_create_keyval(copy_attribute, delete_attribute, keyval, extra, ierror)
        value = 9876543210_MPI_ADDRESS_KIND
        call MPI_Comm_set_attr(ring, keyval, value, ierror)
#ifndef WITH_MPI_F08
        call MPI_Keyval_create(copy_integer, delete_integer, old_keyval, small_extra, ierror)
        call MPI_Attr_put(ring, old_keyval, -21, ierror)
#endif
        call MPI_Cart_create(MPI_COMM_WORLD, 1, [2], [.true.], .false., cart, ierror)
        call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, [peer], MPI_UNWEIGHTED, &
            1, [peer], MPI_UNWEIGHTED, MPI_INFO_NULL, .false., graph, ierror)
        call MPI_Comm_create_errhandler(handle_error, handler, ierror)
        call MPI_Comm_set_errhandler(ring, handler, ierror)
        call MPI_Info_create(info, ierror)
        call MPI_Info_set(info, ' a key ', ' its value ', ierror)
    end subroutine make_communicators

    subroutine make_types
        integer(MPI_ADDRESS_KIND) :: places(2)

        call MPI_Type_vector(4, 1, 4, MPI_INTEGER, column, ierror)
        call MPI_Type_commit(column, ierror)
        call MPI_Get_address(first, places(1), ierror)
        call MPI_Get_address(last, places(2), ierror)
        call MPI_Type_create_struct(2, [1, 1], places, [MPI_INTEGER, MPI_INTEGER], &
            record, ierror)
        call MPI_Type_commit(record, ierror)
        call MPI_Type_contiguous(4, MPI_INTEGER, matrix, ierror)
        call MPI_Type_commit(matrix, ierror)
        call MPI_Type_set_name(matrix, 'matrix', ierror)
        call MPI_Type_create_f90_real(15, 300, precise, ierror)
        call MPI_Op_create(multiply, .false., product, ierror)
    end subroutine make_types

    ! A receive without a message; a message without a receive; persistent requests that have been
    ! used once; a generalized request.
    subroutine make_requests
        early = rank
        call MPI_Irecv(late, 3, MPI_INTEGER, peer, 1, ring, receiving, ierror)
        call MPI_Isend(early, 1000, MPI_INTEGER, peer, 2, ring, sending, ierror)
        call MPI_Buffer_attach(buffered, 1600, ierror)
        call MPI_Bsend('by the buffer', 13, MPI_CHARACTER, peer, 3, ring, ierror)
        call MPI_Send_init(token, 1, MPI_INTEGER, peer, 4, ring, persistent(1), ierror)
        call MPI_Recv_init(answer, 1, MPI_INTEGER, peer, 4, ring, persistent(2), ierror)
        call exchange(17)
        call MPI_Grequest_start(query_request, free_request, cancel_request, extra, &
            general, ierror)
    end subroutine make_requests

    subroutine exchange(number)
        integer, intent(in) :: number

        token = number + rank
        call MPI_Startall(2, persistent, ierror)
        call MPI_Waitall(2, persistent, MPI_STATUSES_IGNORE, ierror)
        call check(answer == number + peer, 'persistent requests')
    end subroutine exchange

    subroutine use_requests
        STATUS_DECLARED(status)
        HANDLE(MPI_Message) :: message
        integer :: received(1000), count
        character(len=13) :: text
        logical :: flag

        call MPI_Test(receiving, flag, MPI_STATUS_IGNORE, ierror)
        call check(.not. flag, 'a receive without a message')
        call MPI_Barrier(ring, ierror)
        call MPI_Send([1, 2, 3], 3, MPI_INTEGER, peer, 1, ring, ierror)
        call MPI_Wait(receiving, status, ierror)
        call check(all(late == [1, 2, 3]) .and. STATUS_TAG(status) == 1, 'a pending receive')
        call MPI_Probe(MPI_ANY_SOURCE, 2, ring, status, ierror)
        call MPI_Get_count(status, MPI_INTEGER, count, ierror)
        call check(count == 1000 .and. STATUS_SOURCE(status) == peer, 'a drained message')
        call MPI_Mprobe(peer, MPI_ANY_TAG, ring, message, status, ierror)
        call MPI_Mrecv(received, 1000, MPI_INTEGER, message, status, ierror)
        call check(all(received == peer), 'the content of a drained message')
        call MPI_Wait(sending, MPI_STATUS_IGNORE, ierror)
        call MPI_Recv(text, 13, MPI_CHARACTER, peer, 3, ring, MPI_STATUS_IGNORE, ierror)
        call check(text == 'by the buffer', 'a buffered message')
        call exchange(23)
        call MPI_Grequest_complete(general, ierror)
        call MPI_Wait(general, status, ierror)
        call MPI_Get_count(status, MPI_INTEGER, count, ierror)
        call check(count == 3 .and. STATUS_TAG(status) == 123, 'a generalized request')
        call check(queries == 1 .and. frees == 1, 'functions of a generalized request')
        call check(general == MPI_REQUEST_NULL, 'a completed request')
    end subroutine use_requests

    subroutine use_communicators
        integer(MPI_ADDRESS_KIND) :: value, bound
        logical :: flag
        integer :: coordinates(1), source, destination, length, old, class
        integer :: sources(1), targets(1), here(1), there(1)
        character(len=MPI_MAX_OBJECT_NAME) :: name
        character(len=MPI_MAX_ERROR_STRING) :: text

        call MPI_Comm_get_name(ring, name, length, ierror)
        call check(name == 'the ring' .and. length == 8, 'the name of a communicator')
        call MPI_Comm_dup(ring, copied, ierror)
        call MPI_Comm_get_attr(copied, keyval, value, flag, ierror)
        call check(flag .and. value == 9876543211_MPI_ADDRESS_KIND, 'a copied attribute')
#ifndef WITH_MPI_F08
        call MPI_Attr_get(copied, old_keyval, old, flag, ierror)
        call check(flag .and. old == -42, 'an INTEGER attribute')
        call MPI_Comm_get_attr(ring, old_keyval, value, flag, ierror)
        call check(flag .and. value == -21, 'an INTEGER attribute as an address')
        call MPI_Attr_get(MPI_COMM_WORLD, MPI_TAG_UB, old, flag, ierror)
        call check(flag .and. old >= 32767, 'MPI_TAG_UB in MPI-1')
        call MPI_Attr_delete(copied, old_keyval, ierror)
        call MPI_Attr_delete(ring, old_keyval, ierror)
        deletions = deletions - 2
#endif
        call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, bound, flag, ierror)
        call check(flag .and. bound >= 32767, 'MPI_TAG_UB')
        call MPI_Comm_free(copied, ierror)
        call check(copies == 1 .and. deletions == 1, 'functions of attributes')
        call check(copied == MPI_COMM_NULL, 'a freed communicator')
        call MPI_Cart_coords(cart, rank, 1, coordinates, ierror)
        call MPI_Cart_shift(cart, 0, 1, source, destination, ierror)
        call check(coordinates(1) == rank .and. source == peer .and. destination == peer, &
            'a Cartesian communicator')
        call MPI_Dist_graph_neighbors(graph, 1, sources, MPI_UNWEIGHTED, 1, targets, &
            MPI_UNWEIGHTED, ierror)
        here = 100 + rank
        call MPI_Neighbor_allgather(here, 1, MPI_INTEGER, there, 1, MPI_INTEGER, graph, ierror)
        call check(sources(1) == peer .and. there(1) == 100 + peer, 'a graph')
        call MPI_Send(here, 1, MPI_INTEGER, 5, 0, ring, ierror)
        call check(errors == 1 .and. ierror /= MPI_SUCCESS, 'an error')
        call MPI_Comm_set_errhandler(ring, MPI_ERRORS_RETURN, ierror)
        call MPI_Send(here, 1, MPI_INTEGER, 5, 0, ring, ierror)
        call MPI_Error_class(ierror, class, old)
        call MPI_Error_string(ierror, text, length, old)
        call check(errors == 1 .and. class == MPI_ERR_RANK, 'an error that is returned')
        call check(length > 0 .and. len_trim(text) == length, 'its text')
        call MPI_Errhandler_free(handler, ierror)
    end subroutine use_communicators

    subroutine use_types
        integer :: i, integers(1), bytes, length, row(4), factors(2, 2)
        integer :: whole(2, 2), position, unpacked
        integer(MPI_ADDRESS_KIND) :: addresses(1), lower, extent
        HANDLE(MPI_Datatype) :: types(1)
        character(len=MPI_MAX_OBJECT_NAME) :: name
        character(len=64) :: packed
        real(selected_real_kind(15, 300)) :: numbers(2), sums(2)

        square = reshape([(i + 100*rank, i=1, 16)], [4, 4])
        call MPI_Sendrecv(square, 1, column, peer, 5, row, 4, MPI_INTEGER, peer, 5, ring, &
            MPI_STATUS_IGNORE, ierror)
        call check(all(row == [(4*i - 3 + 100*peer, i=1, 4)]), 'a vector')
        first = rank
        last = -rank
        call MPI_Sendrecv_replace(MPI_BOTTOM, 1, record, peer, 6, peer, 6, ring, &
            MPI_STATUS_IGNORE, ierror)
        call check(first == peer .and. last == -peer, 'MPI_BOTTOM')
        call MPI_Type_get_contents(matrix, 1, 0, 1, integers, addresses, types, ierror)
        call MPI_Type_size(types(1), bytes, ierror)
        call MPI_Type_get_extent(matrix, lower, extent, ierror)
        call check(integers(1) == 4 .and. bytes == 4 .and. extent == 16, 'contents')
        call check(types(1) == MPI_INTEGER, 'a predefined type')
        call MPI_Type_get_name(matrix, name, length, ierror)
        call check(name == 'matrix', 'the name of a type')
        factors = reshape([1, rank + 1, rank, 3], [2, 2])
        call MPI_Allreduce(factors, whole, 1, matrix, product, ring, ierror)
        call check(all(whole == reshape([1, 7, 1, 10], [2, 2])), 'an operation')
        numbers = [0.5, 2.0]*(rank + 1)
        call MPI_Allreduce(numbers, sums, 2, precise, MPI_SUM, ring, ierror)
        call check(all(sums == [1.5, 6.0]), 'MPI_Type_create_f90_real')
        position = 0
        call MPI_Pack(rank, 1, MPI_INTEGER, packed, 64, position, ring, ierror)
        position = 0
        call MPI_Unpack(packed, 64, position, unpacked, 1, MPI_INTEGER, ring, ierror)
        call check(unpacked == rank, 'MPI_Pack')
        call MPI_Op_free(product, ierror)
        call MPI_Type_free(record, ierror)
    end subroutine use_types

    subroutine use_collectives
        integer :: both(2), parts(3), counts(2), places(2), pairs(2), back(2)
        HANDLE(MPI_Datatype) :: types(2)
        HANDLE(MPI_Request) :: request
        double precision :: maximum(2)
        logical :: any_true

        both = 0
        both(rank + 1) = 5 + rank
        call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, both, 1, MPI_INTEGER, ring, ierror)
        call check(all(both == [5, 6]), 'MPI_IN_PLACE')
        counts = [1, 2]
        places = [0, 1]
        parts = rank
        call MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_INTEGER, parts, counts, places, MPI_INTEGER, &
            ring, ierror)
        call check(all(parts == [0, 1, 1]), 'MPI_Allgatherv')
        maximum = dble(rank)
        if (rank == 0) then
            call MPI_Reduce(MPI_IN_PLACE, maximum, 2, MPI_DOUBLE_PRECISION, MPI_MAX, 0, ring, ierror)
            call check(all(maximum == 1d0), 'MPI_Reduce')
        else
            call MPI_Reduce(maximum, maximum, 2, MPI_DOUBLE_PRECISION, MPI_MAX, 0, ring, ierror)
        end if
        any_true = rank == 1
        call MPI_Allreduce(MPI_IN_PLACE, any_true, 1, MPI_LOGICAL, MPI_LOR, ring, ierror)
        call check(any_true, 'MPI_LOGICAL')
        pairs = [10*rank, 10*rank + 1]
        types = MPI_INTEGER
        call MPI_Alltoallw(pairs, [1, 1], [0, 4], types, back, [1, 1], [0, 4], types, ring, ierror)
        call check(all(back == [rank, 10 + rank]), 'MPI_Alltoallw')
        call MPI_Ialltoall(pairs, 1, MPI_INTEGER, back, 1, MPI_INTEGER, ring, request, ierror)
        call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
        call check(all(back == [rank, 10 + rank]), 'MPI_Ialltoall')
        call PMPI_Barrier(ring, ierror)
    end subroutine use_collectives

    subroutine use_completion
        HANDLE(MPI_Request) :: requests(4)
        STATUS_ARRAY(statuses, 4)
        integer :: numbers(4), i, index, count, indices(4)
        logical :: flag

        do i = 1, 4
            call MPI_Irecv(numbers(i), 1, MPI_INTEGER, peer, 10 + i, ring, requests(i), ierror)
        end do
        call MPI_Send(3, 1, MPI_INTEGER, peer, 13, ring, ierror)
        call MPI_Waitany(4, requests, index, STATUS_AT(statuses, 1), ierror)
        call check(index == 3 .and. numbers(3) == 3, 'MPI_Waitany')
        call MPI_Testany(4, requests, index, flag, MPI_STATUS_IGNORE, ierror)
        call check(.not. flag .and. index == MPI_UNDEFINED, 'MPI_Testany')
        call MPI_Barrier(ring, ierror)
        call MPI_Send(2, 1, MPI_INTEGER, peer, 12, ring, ierror)
        call MPI_Waitsome(4, requests, count, indices, statuses, ierror)
        call check(count == 1 .and. indices(1) == 2, 'MPI_Waitsome')
        call check(STATUS_TAG_AT(statuses, 1) == 12, 'a status of MPI_Waitsome')
        call MPI_Testsome(4, requests, count, indices, MPI_STATUSES_IGNORE, ierror)
        call check(count == 0, 'MPI_Testsome')
        call MPI_Barrier(ring, ierror)
        call MPI_Cancel(requests(1), ierror)
        call MPI_Wait(requests(1), STATUS_AT(statuses, 1), ierror)
        call MPI_Test_cancelled(STATUS_AT(statuses, 1), flag, ierror)
        call check(flag, 'MPI_Cancel')
        call MPI_Send(4, 1, MPI_INTEGER, peer, 14, ring, ierror)
        call MPI_Waitall(4, requests, statuses, ierror)
        call check(STATUS_TAG_AT(statuses, 4) == 14, 'MPI_Waitall')
        call check(all_null(requests), 'completed requests')
        call MPI_Testall(4, requests, flag, MPI_STATUSES_IGNORE, ierror)
        call check(flag, 'MPI_Testall')
    end subroutine use_completion

    logical function all_null(requests)
        HANDLE(MPI_Request), intent(in) :: requests(4)
        integer :: i

        all_null = .true.
        do i = 1, 4
            all_null = all_null .and. requests(i) == MPI_REQUEST_NULL
        end do
    end function all_null

    subroutine use_strings
        character(len=20) :: value
        character(len=MPI_MAX_PROCESSOR_NAME) :: name
        character(len=MPI_MAX_LIBRARY_VERSION_STRING) :: library
        integer :: length, keys
        logical :: flag

        call MPI_Info_get(info, 'a key', 20, value, flag, ierror)
        call check(flag .and. value == 'its value', 'a value of an info object')
        call MPI_Info_get(info, 'none', 20, value, flag, ierror)
        call check(.not. flag, 'a missing key')
        call MPI_Info_get_valuelen(info, 'a key', length, flag, ierror)
        call MPI_Info_get_nkeys(info, keys, ierror)
        call check(length == 9 .and. keys == 1, 'an info object')
        call MPI_Info_free(info, ierror)
        call MPI_Get_processor_name(name, length, ierror)
        call check(length > 0 .and. len_trim(name) == length, 'the name of the processor')
        call MPI_Get_library_version(library, length, ierror)
        call check(length > 0 .and. index(library, 'MPI') > 0, 'the version of the library')
        call check(MPI_Wtime() >= 0 .and. MPI_Wtick() > 0, 'the time')
    end subroutine use_strings

    ! Objects that exist at no checkpoint.
    subroutine use_later_objects
        HANDLE(MPI_Comm) :: half, both
        HANDLE(MPI_Group) :: everybody, one
        integer :: size, translated(1), order

        call MPI_Comm_split(MPI_COMM_WORLD, rank, 0, half, ierror)
        call MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, peer, 9, both, ierror)
        call MPI_Comm_remote_size(both, size, ierror)
        call check(size == 1, 'an intercommunicator')
        call MPI_Comm_free(both, ierror)
        call MPI_Comm_free(half, ierror)
        call MPI_Comm_group(MPI_COMM_WORLD, everybody, ierror)
        call MPI_Group_incl(everybody, 1, [1], one, ierror)
        call MPI_Group_translate_ranks(one, 1, [0], everybody, translated, ierror)
        call MPI_Group_compare(one, everybody, order, ierror)
        call check(translated(1) == 1 .and. order == MPI_UNEQUAL, 'groups')
        call MPI_Group_free(one, ierror)
        call MPI_Group_free(everybody, ierror)
        call use_window
        call use_file
    end subroutine use_later_objects

    subroutine use_window
        integer, asynchronous :: exposed(2)
        integer(MPI_ADDRESS_KIND) :: size, there
        logical :: flag
        HANDLE(MPI_Win) :: window

        exposed = -1
        call MPI_Win_create(exposed, 8_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, window, ierror)
        call MPI_Win_fence(0, window, ierror)
        there = 1
        call MPI_Put(rank, 1, MPI_INTEGER, peer, there, 1, MPI_INTEGER, window, ierror)
        call MPI_Win_fence(0, window, ierror)
        call check(all(exposed == [-1, peer]), 'a window')
        call MPI_Win_get_attr(window, MPI_WIN_SIZE, size, flag, ierror)
        call check(flag .and. size == 8, 'MPI_WIN_SIZE')
        call MPI_Win_free(window, ierror)
    end subroutine use_window

    subroutine use_file
        HANDLE(MPI_File) :: file
        integer(MPI_OFFSET_KIND) :: place
        integer :: number
        character(len=MPI_MAX_DATAREP_STRING) :: representation
        HANDLE(MPI_Datatype) :: etype, filetype

        call MPI_File_open(MPI_COMM_WORLD, 'fortran.out ', MPI_MODE_CREATE + MPI_MODE_RDWR + &
            MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, file, ierror)
        place = 4*rank
        call MPI_File_set_view(file, place, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL, ierror)
        call MPI_File_get_view(file, place, etype, filetype, representation, ierror)
        call check(place == 4*rank .and. representation == 'native', 'a view')
        place = 0
        call MPI_File_write_at_all(file, place, rank, 1, MPI_INTEGER, MPI_STATUS_IGNORE, ierror)
        call MPI_File_read_at_all(file, place, number, 1, MPI_INTEGER, MPI_STATUS_IGNORE, ierror)
        call check(number == rank, 'a file')
        call MPI_File_close(file, ierror)
    end subroutine use_file

    subroutine finish
        integer :: bytes, sum
        logical :: done
        BUFFER_ADDRESS(detached)

        call MPI_Request_free(persistent(1), ierror)
        call MPI_Request_free(persistent(2), ierror)
        call MPI_Buffer_detach(detached, bytes, ierror)
        call check(bytes == 1600, 'MPI_Buffer_detach')
        call MPI_Type_free(matrix, ierror)
        call MPI_Type_free(column, ierror)
        call MPI_Comm_free(cart, ierror)
        call MPI_Comm_free(graph, ierror)
        call MPI_Comm_free(ring, ierror)
        call MPI_Comm_free_keyval(keyval, ierror)
        call check(deletions == 2, 'the last attribute')
        call MPI_Reduce(rank + 1, sum, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, ierror)
        if (rank == 0) print '(a,i0)', 'OK ', sum
        call MPI_Finalize(ierror)
        call MPI_Finalized(done, ierror)
        call check(done, 'MPI_Finalized')
    end subroutine finish
end program features
