/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * channels.h - the colour of messages (docs/consistent-cuts.md, section 1).
 *
 * Messages of a communicator travel on one of two lower communicators, its
 * channels. The colour selects the channel; it is the parity of the sender's
 * epoch. Everything but point-to-point messages uses the first channel. A job
 * that uses only Sync-and-Stop has no second channels.
 */
#ifndef CKPT_CHANNELS_H
#define CKPT_CHANNELS_H

#include "handles/communicator.h"

/* The lower communicator for messages that are sent, or expected, at
 * present. */
#define CKPT_CHANNEL(comm) ((comm)->channel)

/* Agrees whether there are second channels, as CKPT_PROTOCOL of rank 0 says,
 * and makes the second channels of the predefined communicators. Called once
 * for each lower half, collective over MPI_COMM_WORLD. Returns an MPI error
 * code. Context: place for lower-half calls. */
int ckpt_channels_open(void);

/* Makes the second channel of a new lower communicator, or sets *second = NULL.
 * Collective over it, with the lower thread pointer. Returns an MPI error
 * code. */
int ckpt_channels_make(MPI_Comm lower, MPI_Comm *second);

/* The same for a communicator that a restart has made again. Context:
 * quiesced. */
int ckpt_channels_rebuild(MPI_Comm comm);

/*
 * Begins to make the second channel of a twin of `comm`, on comm's own second
 * channel, so that its messages do not mix with those that make the first
 * channel. Collective and nonblocking, with the lower thread pointer. Sets
 * twin->making to the request, or to NULL. Returns an MPI error code.
 */
int ckpt_channels_begin(MPI_Comm comm, MPI_Comm twin);

/* Sets a communicator's channels: its lower handle, and `second` or NULL. */
void ckpt_channels_bind(MPI_Comm comm, MPI_Comm second);

/* Frees the second channel. Context: place for lower-half calls. */
void ckpt_channels_free(MPI_Comm comm);

/* Returns the present colour, 0 or 1; ckpt_channels_turn() changes it. Context:
 * any place where no message is just being sent. */
int ckpt_channels_colour(void);
void ckpt_channels_turn(void);

/* Returns 1 if every communicator has a second channel. */
int ckpt_channels_all(void);

#endif
