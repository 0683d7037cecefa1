/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host_launch.h - what the launcher gave the MPI library besides variables.
 */
#ifndef CKPT_HOST_LAUNCH_H
#define CKPT_HOST_LAUNCH_H

/*
 * Takes over the descriptor through which MPICH's launcher hydra serves its
 * ranks (PMI_FD): it is the lower half's, and moves to its range of numbers.
 * Before the MPI library is opened. Context: normal (lower half).
 */
void ckpt_host_launch_open(void);

#endif
