/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * library.h - choose the MPI library of the lower half.
 */
#ifndef CKPT_LIBRARY_H
#define CKPT_LIBRARY_H

#include <stddef.h>

/*
 * Chooses the MPI library for struct ckpt_lower. It is CKPT_LIBMPI of
 * `environment`; else the library of the launcher among this process's
 * ancestors; else the library in the program's own run path; else the plain
 * name libmpi.so.40, for which the lower half's dynamic linker searches.
 * environment: of the present launch (after a restart: the new launcher's).
 * Returns 0, or -ENAMETOOLONG. Context: quiesced.
 */
int ckpt_lower_library(char *const environment[], char *path, size_t size);

#endif
