/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pause.h - the turns of the plugin's loops that wait for other ranks.
 *
 * If each rank can have a processor, most waits end after some microseconds. A rank that
 * yields gives a whole time slice to any task that wants the processor. So such a rank
 * checks again at once, for a while, as the MPI library's own loops do.
 */
#ifndef CKPT_INDEPENDENT_PAUSE_H
#define CKPT_INDEPENDENT_PAUSE_H

#pragma GCC visibility push(hidden)

/* Sets the number of ranks of the job on this node. Called again after a restart, which may
 * be on another node. Context: normal. */
void ckpt_independent_pause_open(int rank_count);

/*
 * Waits for one turn, in a loop in which a checkpoint can be taken. Between begin and end,
 * which it leaves and enters again in some turns. Context: normal.
 */
void ckpt_independent_pause(void);

#pragma GCC visibility pop

#endif
