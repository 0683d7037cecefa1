/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * contribution.h - what a member puts into a nonblocking collective, copied so
 * that it can be put in again.
 *
 * Context of all: place for lower-half calls; no malloc.
 */
#ifndef CKPT_CONTRIBUTION_H
#define CKPT_CONTRIBUTION_H

#include "cut/nonblocking.h"

/* Bytes of input, packed; SIZE_MAX if that is not known. */
size_t ckpt_contribution_size(const struct ckpt_nonblocking *call);

/* Copies the input out of the application's buffer. 1 if it worked; then
 * call->has_input. Nothing happens if there is a copy. */
int ckpt_contribution_keep(struct ckpt_nonblocking *call);

/* Frees the copy. */
void ckpt_contribution_drop(struct ckpt_nonblocking *call);

/* Puts the copy back into the application's receive buffer, if the input was
 * there. Returns an MPI error code. */
int ckpt_contribution_restore(struct ckpt_nonblocking *call);

/* Whether buffers as large as the application's can be had for this call. */
int ckpt_contribution_fits(const struct ckpt_nonblocking *call);

/* Buffers of our own for both sides of `call`, with the input where it belongs:
 * `own` is the call with these. Returns an MPI error code. */
int ckpt_contribution_lend(struct ckpt_nonblocking *call,
                           struct ckpt_nonblocking *own);
void ckpt_contribution_take_back(struct ckpt_nonblocking *call);

/* Whether each block that this member receives has data in it. */
int ckpt_contribution_receives_all(const struct ckpt_nonblocking *call);

#endif
