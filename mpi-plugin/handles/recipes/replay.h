/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * replay.h - make the communicators of all ranks again, at a restart.
 */
#ifndef CKPT_REPLAY_H
#define CKPT_REPLAY_H

/*
 * Makes all live communicators in a new lower half. Collective over
 * MPI_COMM_WORLD. Returns 0 or an MPI error code. Context: quiesced.
 */
int ckpt_communicators_replay(void);

#endif
