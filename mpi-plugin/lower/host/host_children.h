/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host_children.h - record processes that the lower half has started.
 *
 * Exports to the lower half: fork, vfork.
 */
#ifndef CKPT_HOST_CHILDREN_H
#define CKPT_HOST_CHILDREN_H

/* See struct ckpt_lower. */
int ckpt_host_owns_process(int pid);

#endif
