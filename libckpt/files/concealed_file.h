/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * concealed_file.h - where a restarted process finds what was concealed when it was saved.
 */
#ifndef CKPT_CONCEALED_FILE_H
#define CKPT_CONCEALED_FILE_H

#include "ckpt/failure.h"

#include <stddef.h>

/*
 * path: of a file or directory, as the saved process had it. is_written: the program has
 * the file open to write to it. Returns how many bytes to leave out at its begin: 0, or
 * those of the place where it was concealed. *error_p: 0, or -errno with the reason.
 * Context: normal.
 */
size_t ckpt_concealed_file_settle(const char *path, int is_written,
                                  struct ckpt_failure *failure, int *error_p);

#endif
