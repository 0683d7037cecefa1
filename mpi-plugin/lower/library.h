/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * library.h - which MPI library the lower half uses.
 */
#ifndef CKPT_LIBRARY_H
#define CKPT_LIBRARY_H

#include <stddef.h>

/*
 * Chooses the MPI library for struct ckpt_lower: CKPT_LIBMPI of `environment`;
 * else that of the launcher among the ancestors of this process; else that of
 * the program's own run path; else the plain name libmpi.so.40, which the
 * lower half's dynamic linker looks for.
 * environment: of the present launch (after a restart: the new launcher's).
 * Returns 0, or -ENAMETOOLONG. Context: quiesced.
 */
int ckpt_lower_library(char *const environment[], char *path, size_t size);

#endif
