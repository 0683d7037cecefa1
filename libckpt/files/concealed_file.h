/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * concealed_file.h - locates files that were concealed when the process was saved.
 */
#ifndef CKPT_CONCEALED_FILE_H
#define CKPT_CONCEALED_FILE_H

#include "ckpt/failure.h"

#include <stddef.h>

/*
 * path: of a file or directory, as in the saved process. is_written: the program has the file
 * open for writing. Returns the length of the prefix to remove from the path: the concealing
 * directory, or 0 for none. *error_p: 0, or -errno with the reason. Context: normal.
 */
size_t ckpt_concealed_file_settle(const char *path, int is_written,
                                  struct ckpt_failure *failure, int *error_p);

#endif
