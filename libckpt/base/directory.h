/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * directory.h - the entries of a directory, without libc.
 */
#ifndef CKPT_DIRECTORY_H
#define CKPT_DIRECTORY_H

/*
 * Calls visit(name, argument) for each entry, `.` and `..` included, until it
 * returns other than 0. Returns that, or 0, or -errno if the directory cannot
 * be read. Context: quiesced.
 */
int ckpt_directory_each(const char *path,
                        int (*visit)(const char *name, void *argument),
                        void *argument);

#endif
