/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * descriptor.h - what the journal knows of each descriptor of the program, so that
 * most writes cost it a look at a table.
 *
 * The table is a hint. It is set when the journal has looked at a descriptor, and
 * cleared when the program closes it or puts another file there. Context: any but
 * freestanding; no lock. Functions use general registers only.
 */
#ifndef CKPT_JOURNAL_DESCRIPTOR_H
#define CKPT_JOURNAL_DESCRIPTOR_H

#include "journal/call.h"

#include <stddef.h>
#include <stdint.h>

#define CKPT_DESCRIPTOR_CAPACITY 8192

/* Whatever is written: nothing is to be recorded, until it is closed. */
#define CKPT_DESCRIPTOR_OTHER 1u
/* The same, until the next mark: the file is new, or kept as a whole. */
#define CKPT_DESCRIPTOR_FREE 2u
/* The position lies behind the bytes that the file had at the mark. */
#define CKPT_DESCRIPTOR_BEHIND 3u

/* Flags, until it is closed: a concealed file that the program may write to; a directory
 * that it reads. */
#define CKPT_DESCRIPTOR_CONCEALED 1u
#define CKPT_DESCRIPTOR_LISTED    2u

struct ckpt_descriptor {
    uint32_t generation; /* of the journal, when `kind` was set */
    uint16_t kind;       /* CKPT_DESCRIPTOR_*, or 0 */
    uint16_t flags;      /* CKPT_DESCRIPTOR_CONCEALED, _LISTED */
    uint64_t size;       /* BEHIND: bytes that the file had */
};

extern struct ckpt_descriptor ckpt_descriptors[CKPT_DESCRIPTOR_CAPACITY];

/* The entry of a descriptor, or NULL if its number is too large. */
CKPT_GENERAL_REGISTERS static inline struct ckpt_descriptor *
ckpt_descriptor_entry(int64_t fd)
{
    return (uint64_t)fd < CKPT_DESCRIPTOR_CAPACITY ? &ckpt_descriptors[fd] : NULL;
}

#endif
