/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pending_set.h - the array of requests that a program asks after again and again.
 *
 * A pass over an array of requests costs as much as the MPI library's own pass. So an
 * array that has been asked after twice without a result is kept, with the requests of
 * the lower half beside it. While nothing of it has changed the lower half's pass is the
 * only one.
 */
#ifndef CKPT_PENDING_SET_H
#define CKPT_PENDING_SET_H

#include "handles/request.h"

/* 1 if the array is the kept one, and each request in it is as it was then.
 * Context: only while one thread at a time is in MPI, as below. */
int ckpt_pending_set_is(int count, MPI_Request const requests[]);

/* Tests the kept requests in the lower half; only if ckpt_pending_set_is().
 * Context: between ckpt_begin and ckpt_end, as below. Returns 1 if one of them may have completed: the set is then no longer kept. */
int ckpt_pending_set_test(void);

/* How many of the kept ones are active. */
int ckpt_pending_set_active(void);

/* To be called after a pass over the array that has found nothing complete: keeps it, if
 * the pass before was over the same array and each active request is pending in the lower
 * half. Without memory nothing is kept. */
void ckpt_pending_set_note(int count, MPI_Request const requests[]);

#endif
