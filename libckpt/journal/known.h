/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * known.h - the names and inodes that the journal has recorded since the last mark.
 *
 * Both sets are open hash tables in the journal's own memory, so they are part of the saved
 * process. Context of all functions: the journal's lock is held; any but freestanding.
 */
#ifndef CKPT_JOURNAL_KNOWN_H
#define CKPT_JOURNAL_KNOWN_H

#include "base/arena.h"

#include <stddef.h>
#include <stdint.h>

/* The memory of the journal; its lock guards it. */
extern struct ckpt_pool ckpt_journal_pool;

/* A name with a record. */
struct ckpt_known_name {
    uint64_t hash[2]; /* of the absolute path; 0, 0: the slot is free */
    uint64_t created; /* 1: this process creates a file there; its inode is not known yet */
};

/* Flags of an inode: which of its later changes need no further record. */
#define CKPT_INODE_WHOLE      1u /* created since the mark, or kept whole */
#define CKPT_INODE_SIZED      2u /* its size at the mark is recorded */
#define CKPT_INODE_ATTRIBUTES 4u /* its attributes at the mark are recorded */
#define CKPT_INODE_NEW        8u /* created since the mark; implies WHOLE */

/* A regular file with a record. */
struct ckpt_known_inode {
    uint64_t device, inode; /* 0, 0: the slot is free */
    uint64_t size;          /* bytes at its first lookup after the mark */
    unsigned char *saved;   /* bit i: block i of CKPT_KNOWN_BLOCK bytes is recorded; NULL: none
                               is */
    uint32_t flags;         /* CKPT_INODE_* */
    uint32_t reserved;
};

#define CKPT_KNOWN_BLOCK 4096u

/* Returns the slot of the absolute path, or NULL. */
struct ckpt_known_name *ckpt_known_name_find(const char *path);

/* Returns the same slot, added if necessary. NULL: the memory is exhausted. */
struct ckpt_known_name *ckpt_known_name_add(const char *path);

/* The same for inodes. Slots stay valid until the next addition. */
struct ckpt_known_inode *ckpt_known_inode_find(uint64_t device, uint64_t inode);
struct ckpt_known_inode *ckpt_known_inode_add(uint64_t device, uint64_t inode);

/* is_saved: returns 1 if a block of the file is recorded. save: marks the block as recorded;
 * returns 0 or -ENOMEM. */
int ckpt_known_block_is_saved(const struct ckpt_known_inode *inode,
                              uint64_t block);
int ckpt_known_block_save(struct ckpt_known_inode *inode, uint64_t block);

/* Forgets all names, since a directory was renamed. */
void ckpt_known_forget_names(void);

/* Forgets all names and inodes, since a mark was written. */
void ckpt_known_forget(void);

#endif
