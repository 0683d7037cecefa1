/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * unexpected.h - receives messages that the receiver does not expect.
 */
#ifndef EVENTS_UNEXPECTED_H
#define EVENTS_UNEXPECTED_H

#include "communicators.h"

/* Receives a message that is there; returns nonzero if there was one. */
int unexpected_take(enum communicator comm, uint64_t random);

/* Standing receives from any source on POOL: pool_open() posts them,
 * pool_test() handles complete ones and posts them again, pool_close() cancels
 * them. */
void pool_open(void);
void pool_test(void);
void pool_close(void);

#endif
