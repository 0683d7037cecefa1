/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * maps.h - parses the kernel's list of this process's mappings, line by line.
 */
#ifndef CKPT_MAPS_H
#define CKPT_MAPS_H

#include "base/arena.h"
#include "ckpt/failure.h"

#include <stdint.h>

/* One line of /proc/self/maps. */
struct ckpt_mapping {
    uint64_t start;
    uint64_t end;
    uint64_t file_offset; /* bytes */
    uint64_t inode;       /* 0: not a file */
    uint32_t protection;  /* PROT_READ | PROT_WRITE | PROT_EXEC */
    int shared;           /* 1: MAP_SHARED */
    char *name;           /* path, "[heap]" ... or ""; without escapes */
};

/*
 * Reads a whole file of /proc as NUL-terminated text into the arena. It reads once, so the text
 * describes one moment of a quiesced process. But a list of mappings may lack memory that the
 * arena maps during the call (arena->changes).
 * Returns 0, -ENOMEM or the error of open() or read(), with the path in `failure`. Context:
 * quiesced.
 */
int ckpt_proc_read(struct ckpt_arena *arena, const char *path, char **text_p,
                   size_t *size_p, struct ckpt_failure *failure);

/*
 * Parses and removes the next line of *text_p. Modifies the text: `name` points into it.
 * Returns 1, 0 at the end, or -EINVAL for a malformed line. Context: any.
 */
int ckpt_maps_next(char **text_p, struct ckpt_mapping *mapping);

#endif
