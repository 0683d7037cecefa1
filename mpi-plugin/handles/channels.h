/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * channels.h - the colour of messages (docs/consistent-cuts.md, section 1).
 *
 * Messages of a communicator travel on one of two lower communicators, its
 * channels: which of them is the colour, the parity of the sender's epoch.
 * Everything but point-to-point messages uses the first one. A job that never
 * asks for another protocol than Sync-and-Stop has no second channels.
 */
#ifndef CKPT_CHANNELS_H
#define CKPT_CHANNELS_H

#include "handles/communicator.h"

/* The lower communicator for messages that are sent, or expected, now. */
#define CKPT_CHANNEL(comm) ((comm)->channel)

/* Agrees whether there are second channels, as CKPT_PROTOCOL of rank 0 says,
 * and makes those of the predefined communicators. Once for each lower half,
 * collective over MPI_COMM_WORLD; MPI error code. Context: place for lower-half
 * calls. */
int ckpt_channels_open(void);

/* Makes the second channel of a new lower communicator, or *second = NULL.
 * Collective over it, with the lower thread pointer; MPI error code. */
int ckpt_channels_make(MPI_Comm lower, MPI_Comm *second);

/* The same for a communicator that has been made again. Context: quiesced. */
int ckpt_channels_rebuild(MPI_Comm comm);

/*
 * Begins to make that of a twin of `comm`, on comm's own second channel: so its
 * steps and those of making the first one cannot be taken for each other.
 * Collective and nonblocking, with the lower thread pointer; twin->making is
 * its request, or NULL. MPI error code.
 */
int ckpt_channels_begin(MPI_Comm comm, MPI_Comm twin);

/* Tells a communicator its channels: its lower handle, and `second` or NULL. */
void ckpt_channels_bind(MPI_Comm comm, MPI_Comm second);

/* Frees the second one. Context: place for lower-half calls. */
void ckpt_channels_free(MPI_Comm comm);

/* The present colour, 0 or 1; and the change to the other one. Context: any
 * place where no message is just being sent. */
int ckpt_channels_colour(void);
void ckpt_channels_turn(void);

/* 1 if there is no communicator without a second channel. */
int ckpt_channels_all(void);

#endif
