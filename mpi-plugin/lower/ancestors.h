/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ancestors.h - the processes that started this one.
 */
#ifndef CKPT_ANCESTORS_H
#define CKPT_ANCESTORS_H

#include <stddef.h>
#include <stdint.h>

/* The longest chain of parents that callers follow. */
#define CKPT_ANCESTORS_MAX 32

/* Returns the parent of a process, or 0. Context: any, upper half. */
uint64_t ckpt_parent_of(uint64_t pid);

/* Reads the target of a symbolic link. Returns 1 if it was read and fits.
 * Context: any, upper half. */
int ckpt_link_target(const char *link, char *target, size_t size);

#endif
