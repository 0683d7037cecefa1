/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host_descriptors.h - record which file descriptors belong to the lower half.
 *
 * Also exports to the lower half every function of libc that makes or closes a
 * descriptor.
 */
#ifndef CKPT_HOST_DESCRIPTORS_H
#define CKPT_HOST_DESCRIPTORS_H

/* See struct ckpt_lower. Also returns 1 for a number that is not open. */
int ckpt_host_owns_descriptor(int fd);

/*
 * Moves a new descriptor to the lower half's range and records it.
 * inherit: programs that the lower half starts should get it, too.
 * Returns the new number; a negative `fd` (an error) unchanged.
 * Context: normal (lower half), within a change.
 */
long ckpt_host_adopt(long fd, int inherit);

/* Called in the child of a fork: makes the inheritable descriptors survive
 * exec. Context: as above. */
void ckpt_host_descriptors_inherit(void);

/* Called when the descriptor is about to be closed. Context: as above. */
void ckpt_host_disown(int fd);

#endif
