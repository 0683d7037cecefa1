/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host_lend.h - lend thread pointers to threads of the application.
 */
#ifndef CKPT_HOST_LEND_H
#define CKPT_HOST_LEND_H

#include <stdint.h>

/* See struct ckpt_lower. Context: normal (lower half). */
int ckpt_host_lend(uintptr_t *thread_pointer);

#endif
