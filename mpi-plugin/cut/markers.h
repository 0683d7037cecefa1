/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * markers.h - messages that tell a rank how many of the old colour to expect
 * (Plank 1993, section 2.5). They travel on a communicator of our own.
 */
#ifndef CKPT_MARKERS_H
#define CKPT_MARKERS_H

#include <stdint.h>

/* Makes the communicator; once for each lower half, collective over
 * MPI_COMM_WORLD. MPI error code. Context: place for lower-half calls. */
int ckpt_markers_open(void);

/* Sends one; both never wait. 0 or -EIO. Context: place for lower-half calls. */
int ckpt_marker_send(int rank, uint64_t epoch, uint64_t count);

/* The next one that has come: 1, and whose it is; 0 if there is none; or -EIO. */
int ckpt_marker_receive(int *rank, uint64_t *epoch, uint64_t *count);

#endif
