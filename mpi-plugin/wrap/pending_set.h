/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pending_set.h - the array of requests that a program tests repeatedly.
 *
 * A pass over an array of requests costs as much as the MPI library's own pass. So an array that
 * was tested twice without a result is kept, together with its requests in the lower half. While
 * none of the requests has changed, only the lower half makes a pass.
 */
#ifndef CKPT_PENDING_SET_H
#define CKPT_PENDING_SET_H

#include "handles/request.h"

/* Returns 1 if the array is the kept one, and each request in it is unchanged since then. Context:
 * only while one thread at a time is in MPI, as below. */
int ckpt_pending_set_is(int count, MPI_Request const requests[]);

/* Tests the kept requests in the lower half; only if ckpt_pending_set_is(). Returns 1 if a request
 * may have completed: the set is then no longer kept. Context: between ckpt_begin and ckpt_end, as
 * below. */
int ckpt_pending_set_test(void);

/* Returns how many of the kept requests are active. */
int ckpt_pending_set_active(void);

/* Called after a pass over the array that found nothing complete. Keeps the array if the pass
 * before was over the same one and each active request is pending in the lower half. Without memory
 * nothing is kept. */
void ckpt_pending_set_note(int count, MPI_Request const requests[]);

#endif
