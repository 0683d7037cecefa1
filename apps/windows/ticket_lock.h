/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ticket_lock.h - a lock made of two words in a window: the next free ticket,
 * and the ticket whose turn it is. A waiting rank polls by MPI_Fetch_and_op
 * with MPI_NO_OP, and yields its processor in between.
 */
#ifndef TICKET_LOCK_H
#define TICKET_LOCK_H

#include "area.h"

#define TICKET_LOCK_BYTES (2 * sizeof(uint64_t))

/* Takes the lock whose words, initially zero, are at `at` in a rank's part. The
 * holder can then read what earlier holders have written to that rank. */
void ticket_lock(const struct area *area, int rank, size_t at);

/* Passes the lock to the next holder, after this holder's writes to that rank
 * have arrived. */
void ticket_unlock(const struct area *area, int rank, size_t at);

#endif
