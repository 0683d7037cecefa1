/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pause.h - how a rank waits for others in loops of our own.
 *
 * Where each rank can have a processor most waits are over after some microseconds, and who
 * yields gives a whole time slice to whatever else wants the processor. So such a rank looks
 * again at once, for a while, as the MPI library's own loops do.
 */
#ifndef CKPT_INDEPENDENT_PAUSE_H
#define CKPT_INDEPENDENT_PAUSE_H

#pragma GCC visibility push(hidden)

/* This node has so many ranks of the job. Again after a restart, which may be on another
 * node. Context: normal. */
void ckpt_independent_pause_open(int rank_count);

/*
 * Waits, in a loop that a checkpoint can be taken in, for one turn. Between begin and end,
 * which it leaves and enters in one turn of several. Context: normal.
 */
void ckpt_independent_pause(void);

#pragma GCC visibility pop

#endif
