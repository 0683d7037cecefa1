/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * error_codes.h - the error classes and codes that the application adds.
 */
#ifndef CKPT_ERROR_CODES_H
#define CKPT_ERROR_CODES_H

#include "handles/handles.h"

struct ckpt_error_code {
    int class;
    char text[MPI_MAX_ERROR_STRING];
};

/* Returns the largest error code in use: the value of MPI_LASTUSEDCODE.
 * Context: normal. */
int ckpt_error_last_used(void);

/* Returns the entry of a code that the application added, or NULL; valid until the next
 * ckpt_error_add(). Context of this and the rest: normal, between ckpt_begin and ckpt_end. */
struct ckpt_error_code *ckpt_error_find(int code);

/* Adds an entry; if `class` is 0 the entry is its own class. Returns an MPI
 * error code. */
int ckpt_error_add(int class, int *code_p);

/* Writes the text of any code, of up to MPI_MAX_ERROR_STRING bytes. Returns an MPI error
 * code. */
int ckpt_error_string(int code, char *text, int *length_p);

#endif
