/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * request_calls.h - what a checkpoint does with the requests of each kind.
 */
#ifndef CKPT_REQUEST_CALLS_H
#define CKPT_REQUEST_CALLS_H

/* Fills ckpt_request_calls (handles/request.h). Context: normal, before the first request. */
void ckpt_request_calls_fill(void);

#endif
