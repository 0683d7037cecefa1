/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * contribution.h - copy a member's input of a nonblocking collective, so that a
 * restart can contribute it again.
 *
 * Context of all: place for lower-half calls; no malloc.
 */
#ifndef CKPT_CONTRIBUTION_H
#define CKPT_CONTRIBUTION_H

#include "cut/collectives/nonblocking.h"

/* Returns the bytes of input, packed; SIZE_MAX if unknown. */
size_t ckpt_contribution_size(const struct ckpt_nonblocking *call);

/* Copies the input out of the application's buffer, unless there is a copy.
 * Returns 1 if there is a copy then, and sets call->has_input. */
int ckpt_contribution_keep(struct ckpt_nonblocking *call);

/* Frees the copy. */
void ckpt_contribution_drop(struct ckpt_nonblocking *call);

/* Puts the copy back into the application's receive buffer, if that held the
 * input. Returns an MPI error code. */
int ckpt_contribution_restore(struct ckpt_nonblocking *call);

/* Returns whether this call's buffers are small enough to be allocated
 * again. */
int ckpt_contribution_fits(const struct ckpt_nonblocking *call);

/* Allocates buffers for both sides of `call` and puts the input in its place.
 * Sets `own` to the call with these buffers. Returns an MPI error code. */
int ckpt_contribution_lend(struct ckpt_nonblocking *call,
                           struct ckpt_nonblocking *own);
void ckpt_contribution_take_back(struct ckpt_nonblocking *call);

/* Returns whether no block that this member receives is empty. */
int ckpt_contribution_receives_all(const struct ckpt_nonblocking *call);

#endif
