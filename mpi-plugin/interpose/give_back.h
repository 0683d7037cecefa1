/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * give_back.h - wait before the program gives memory back.
 */
#ifndef CKPT_GIVE_BACK_H
#define CKPT_GIVE_BACK_H

#include <stddef.h>

/* Waits until the agent has saved that memory, if it is saving it. Context:
 * normal. */
void ckpt_before_giving_back(const void *start, size_t size);

#endif
