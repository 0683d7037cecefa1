/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * descriptor.h - the journal's knowledge of each descriptor of the program, so that most writes
 * cost only a table lookup.
 *
 * The table is a hint. The journal sets an entry when it has examined a descriptor. It clears
 * the entry when the program closes the descriptor or puts another file there. Context: any but
 * freestanding; no lock. Functions use general registers only.
 */
#ifndef CKPT_JOURNAL_DESCRIPTOR_H
#define CKPT_JOURNAL_DESCRIPTOR_H

#include "journal/call.h"

#include <stddef.h>
#include <stdint.h>

#define CKPT_DESCRIPTOR_CAPACITY 8192

/* Nothing is recorded for writes to this file, until it is closed. */
#define CKPT_DESCRIPTOR_OTHER 1u
/* As OTHER, until the next mark: the file is new, or kept whole. */
#define CKPT_DESCRIPTOR_FREE 2u
/* The position is beyond the bytes that the file had at the mark. */
#define CKPT_DESCRIPTOR_BEHIND 3u

/* Flags, valid until the descriptor is closed: a concealed file that the program may write; a
 * directory that it reads. */
#define CKPT_DESCRIPTOR_CONCEALED 1u
#define CKPT_DESCRIPTOR_LISTED    2u

struct ckpt_descriptor {
    uint32_t generation; /* of the journal, when `kind` was set */
    uint16_t kind;       /* CKPT_DESCRIPTOR_*, or 0 */
    uint16_t flags;      /* CKPT_DESCRIPTOR_CONCEALED, _LISTED */
    uint64_t size;       /* BEHIND: size of the file at the mark, bytes */
};

extern struct ckpt_descriptor ckpt_descriptors[CKPT_DESCRIPTOR_CAPACITY];

/* Returns the entry of a descriptor, or NULL if its number is too large. */
CKPT_GENERAL_REGISTERS static inline struct ckpt_descriptor *
ckpt_descriptor_entry(int64_t fd)
{
    return (uint64_t)fd < CKPT_DESCRIPTOR_CAPACITY ? &ckpt_descriptors[fd] : NULL;
}

#endif
