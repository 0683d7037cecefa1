/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * markers.h - messages that tell a rank how many old-colour messages to expect
 * (Plank 1993, section 2.5). They travel on a communicator that is hidden from the application.
 */
#ifndef CKPT_MARKERS_H
#define CKPT_MARKERS_H

#include <stdint.h>

/* Creates the communicator; once for each lower half, collective over
 * MPI_COMM_WORLD. Returns an MPI error code. Context: place for lower-half
 * calls. */
int ckpt_markers_open(void);

/* Sends a marker. Neither function waits. Returns 0 or -EIO. Context: place for
 * lower-half calls. */
int ckpt_marker_send(int rank, uint64_t epoch, uint64_t count);

/* Receives the next marker. Returns 1 with its values, 0 if none has arrived, or
 * -EIO. */
int ckpt_marker_receive(int *rank, uint64_t *epoch, uint64_t *count);

#endif
