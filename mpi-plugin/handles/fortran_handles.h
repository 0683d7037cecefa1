/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fortran_handles.h - the predefined objects by their numbers in mpif.h
 * (generated from generate/fortran_handles.txt).
 */
#ifndef CKPT_FORTRAN_HANDLES_H
#define CKPT_FORTRAN_HANDLES_H

#include "handles/handles.h"

#define CKPT_FORTRAN_HANDLES 73 /* one more than the largest number */

extern void *const ckpt_fortran_handles[CKPT_KIND_COUNT][CKPT_FORTRAN_HANDLES];

#endif
