/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host_launch.h - resources other than variables that the launcher gives the
 * MPI library.
 */
#ifndef CKPT_HOST_LAUNCH_H
#define CKPT_HOST_LAUNCH_H

/*
 * Adopts the descriptor through which MPICH's launcher hydra serves its ranks
 * (PMI_FD): it belongs to the lower half, and moves to its range of numbers.
 * Called before the MPI library is opened. Returns its number, or -1 if there is none. Context:
 * normal (lower half).
 */
int ckpt_host_launch_open(void);

#endif
