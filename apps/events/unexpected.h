/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * unexpected.h - receiving messages that the receiver does not know of.
 */
#ifndef EVENTS_UNEXPECTED_H
#define EVENTS_UNEXPECTED_H

#include "communicators.h"

/* Receives one that is there, if so; nonzero if there was one. */
int unexpected_take(enum communicator comm, uint64_t random);

/* Standing receives from anybody on POOL: begins them; takes note of those that
 * are complete, and begins them again; withdraws them. */
void pool_open(void);
void pool_test(void);
void pool_close(void);

#endif
