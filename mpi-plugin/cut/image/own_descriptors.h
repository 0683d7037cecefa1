/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * own_descriptors.h - the descriptors of this process that are not the application's.
 */
#ifndef CKPT_OWN_DESCRIPTORS_H
#define CKPT_OWN_DESCRIPTORS_H

/* Returns 1 for descriptors that belong to the lower half or to us. Context:
 * any. */
int ckpt_own_descriptor(int fd);

#endif
