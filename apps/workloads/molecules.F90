! SPDX-License-Identifier: BSD-3-Clause
! molecules.F90 [MEBIBYTES [STEPS [SIDE]]] - molecular dynamics on a lattice of SIDE cubed atoms,
! like the program of Plank 1993, section 4.2.9: each rank moves some of the atoms, and broadcasts
! their places, at each step.
!
! As in that program, arrays are as large as the largest problem may be: the path of a rank's atoms
! has MEBIBYTES, of which few steps need little. Energy and momentum must stay the same, and the
! path must lead to the present places of the atoms.

program molecules
    use, intrinsic :: iso_fortran_env, only: int64, real64
    use mpi_f08
    use workload
    implicit none
    real(real64), parameter :: density = 0.8442, cutoff = 2.5, time_step = 0.002
    real(real64), parameter :: energy_tolerance = 1e-3, tolerance = 1e-9
    integer(int64), parameter :: bytes_of_place = 24
    integer :: rank, ranks, side, atoms, first, last
    integer(int64) :: bytes, steps, step, room
    real(real64) :: box, energy_at_start, energy
    real(real64), allocatable :: place(:, :), moved(:, :), velocity(:, :), force(:, :)
    real(real64), allocatable :: path(:, :, :) ! of this rank's atoms, the last steps

    call MPI_Init()
    call start
    energy_at_start = total_energy()
    do step = 1, steps
        call show_step(rank, step)
        call advance
        path(:, :, mod(step, room) + 1) = moved(:, first:last)
    end do
    call finish
    call MPI_Finalize()

contains

    subroutine start
        call MPI_Comm_rank(MPI_COMM_WORLD, rank)
        call MPI_Comm_size(MPI_COMM_WORLD, ranks)
        bytes = bytes_argument(1)
        steps = number_argument(2, 200_int64)
        side = int(number_argument(3, 11_int64))
        atoms = side**3
        first = first_of(rank, atoms, ranks)
        last = first_of(rank + 1, atoms, ranks) - 1
        room = max(bytes/(bytes_of_place*max(last - first + 1, 1)), 1_int64)
        allocate (place(3, atoms), moved(3, atoms), velocity(3, atoms), force(3, atoms))
        allocate (path(3, first:last, room))
        path = 0
        call place_atoms
        moved = place
        call find_forces
    end subroutine start

    !> Places the atoms on a cubic lattice, with velocities from a simple generator that add up to
    !> 0.
    subroutine place_atoms
        integer :: i, j, k, atom, c
        integer(int64) :: random

        box = (atoms/density)**(1.0_real64/3)
        random = 12345
        atom = 0
        do k = 0, side - 1
            do j = 0, side - 1
                do i = 0, side - 1
                    atom = atom + 1
                    place(:, atom) = [i, j, k]*box/side
                    do c = 1, 3
                        random = mod(random*1103515245 + 12345, 2_int64**31)
                        velocity(c, atom) = real(random, real64)/2_int64**31 - 0.5
                    end do
                end do
            end do
        end do
        do c = 1, 3
            velocity(c, :) = velocity(c, :) - sum(velocity(c, :))/atoms
        end do
    end subroutine place_atoms

    !> A step of the velocity Verlet method. `moved` does not wrap round the box.
    subroutine advance
        integer :: owner, begin, behind

        velocity(:, first:last) = velocity(:, first:last) + time_step/2*force(:, first:last)
        moved(:, first:last) = moved(:, first:last) + time_step*velocity(:, first:last)
        do owner = 0, ranks - 1
            begin = first_of(owner, atoms, ranks)
            behind = first_of(owner + 1, atoms, ranks)
            call MPI_Bcast(moved(1, begin), 3*(behind - begin), &
                           MPI_DOUBLE_PRECISION, owner, MPI_COMM_WORLD)
        end do
        place = modulo(moved, box)
        call find_forces
        velocity(:, first:last) = velocity(:, first:last) + time_step/2*force(:, first:last)
    end subroutine advance

    !> Computes the vector from atom j to the nearest image of atom i, and its squared length;
    !> returns whether they are near enough to act on each other.
    logical function is_near(i, j, apart, square)
        integer, intent(in) :: i, j
        real(real64), intent(out) :: apart(3), square

        apart = place(:, i) - place(:, j)
        apart = apart - box*anint(apart/box)
        square = sum(apart**2)
        is_near = square <= cutoff**2 .and. i /= j
    end function is_near

    !> Lennard-Jones forces of all atoms on this rank's.
    subroutine find_forces
        integer :: i, j
        real(real64) :: apart(3), square, inverse

        force = 0
        do i = first, last
            do j = 1, atoms
                if (.not. is_near(i, j, apart, square)) cycle
                inverse = 1/square**3
                force(:, i) = force(:, i) + 48*inverse*(inverse - 0.5)/square*apart
            end do
        end do
    end subroutine find_forces

    !> Shifted, so that it does not jump at the cutoff.
    real(real64) function total_energy()
        integer :: i, j
        real(real64) :: mine, apart(3), square, inverse, at_cutoff

        at_cutoff = 4*(1/cutoff**12 - 1/cutoff**6)
        mine = sum(velocity(:, first:last)**2)/2
        do i = first, last
            do j = 1, atoms
                if (.not. is_near(i, j, apart, square)) cycle
                inverse = 1/square**3
                mine = mine + (4*inverse*(inverse - 1) - at_cutoff)/2
            end do
        end do
        call MPI_Allreduce(mine, total_energy, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
    end function total_energy

    subroutine finish
        real(real64) :: momentum(3), mine(3)

        energy = total_energy()
        call check(abs(energy/energy_at_start - 1) < energy_tolerance, 'energy')
        mine = sum(velocity(:, first:last), 2)
        call MPI_Allreduce(mine, momentum, 3, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
        call check(all(abs(momentum) < tolerance*atoms), 'momentum')
        call check_path
        call print_answer([energy, momentum, reshape(moved, [3*atoms])])
    end subroutine finish

    !> Each recorded step is one step of an atom's way from the next, and memory that no step has
    !> needed is still zero.
    subroutine check_path
        real(real64), parameter :: farthest = 0.1
        integer(int64) :: one, kept

        kept = min(steps, room)
        do one = steps - kept + 2, steps
            call check(all(abs(path(:, :, mod(one, room) + 1) - &
                               path(:, :, mod(one - 1, room) + 1)) < farthest), 'path')
        end do
        if (steps > 0) then
            call check(all(path(:, :, mod(steps, room) + 1) == moved(:, first:last)), 'end of path')
        end if
        call check(all(path(:, :, steps + 2:) == 0), 'rest of path')
    end subroutine check_path
end program molecules
