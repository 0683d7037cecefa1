/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * error_codes.h - error codes that the application has added.
 */
#ifndef CKPT_ERROR_CODES_H
#define CKPT_ERROR_CODES_H

/* Returns the largest error code in use: the value of MPI_LASTUSEDCODE.
 * Context: normal. */
int ckpt_error_last_used(void);

#endif
