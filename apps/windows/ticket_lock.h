/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ticket_lock.h - a lock made of two words in a window: the next ticket to be
 * given, and the ticket whose turn it is. Who waits asks by MPI_Fetch_and_op
 * with MPI_NO_OP, and gives up its processor in between.
 */
#ifndef TICKET_LOCK_H
#define TICKET_LOCK_H

#include "area.h"

#define TICKET_LOCK_BYTES (2 * sizeof(uint64_t))

/* Takes the lock whose words, zero at first, are at `at` in a rank's part. What
 * the holders before have written to that rank can be read. */
void ticket_lock(const struct area *area, int rank, size_t at);

/* Gives it to the next one, when what this one has written to that rank is
 * there. */
void ticket_unlock(const struct area *area, int rank, size_t at);

#endif
