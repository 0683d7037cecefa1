/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fuzz.h - declarations that the parts of the fuzz program share.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include "stage.h"

/* Makes all objects; their errors go to note_handler. */
void stage_make(void);

/* An error handler was called for an object of this kind. */
void note_handler(const char *kind, int code);

#endif
