/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * directory.h - the entries of a directory, without libc.
 */
#ifndef CKPT_DIRECTORY_H
#define CKPT_DIRECTORY_H

#include <stdint.h>

struct ckpt_directory_entry {
    const char *name; /* valid only during the visit */
    uint64_t inode;
    int descriptor; /* the open directory that is being read */
};

typedef int ckpt_directory_visit(const struct ckpt_directory_entry *entry,
                                 void *argument);

/*
 * Visits each entry, `.` and `..` included, until a visit returns a value other
 * than 0. Returns that value, or 0, or -errno if the directory cannot be read.
 * Context: quiesced.
 */
int ckpt_directory_each(const char *path, ckpt_directory_visit *visit,
                        void *argument);

#endif
