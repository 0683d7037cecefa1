/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host_descriptors.h - which file descriptors are the lower half's.
 *
 * Also exports to the lower half every function of libc that makes or closes a
 * descriptor.
 */
#ifndef CKPT_HOST_DESCRIPTORS_H
#define CKPT_HOST_DESCRIPTORS_H

/* See struct ckpt_lower. Also 1 for a number that is not open at all. */
int ckpt_host_owns_descriptor(int fd);

/*
 * Moves a descriptor just made to the lower half's range and records it.
 * inherit: a program that the lower half starts is to get it too.
 * Returns the new number; a negative `fd` (an error) as it is.
 * Context: normal (lower half), within a change.
 */
long ckpt_host_adopt(long fd, int inherit);

/* In the child of a fork: programs get what they were to inherit. Context:
 * as above. */
void ckpt_host_descriptors_inherit(void);

/* The descriptor is about to be closed. Context: as above. */
void ckpt_host_disown(int fd);

#endif
