/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * known.h - what the journal has recorded since the last mark: names and inodes.
 *
 * Both sets are open hash tables in memory of the journal's own, and so are part
 * of the saved process. Context of all functions: the journal's lock is held; any
 * but freestanding.
 */
#ifndef CKPT_JOURNAL_KNOWN_H
#define CKPT_JOURNAL_KNOWN_H

#include "base/arena.h"

#include <stddef.h>
#include <stdint.h>

/* The memory of the journal; its lock guards it. */
extern struct ckpt_pool ckpt_journal_pool;

/* A name that has a record. */
struct ckpt_known_name {
    uint64_t hash[2]; /* of the absolute path; 0, 0: the slot is free */
    uint64_t created; /* 1: this process creates a file there; its inode is not
                         known yet */
};

/* The journal records all later changes of the inode, or need not. */
#define CKPT_INODE_WHOLE      1u /* created since the mark, or kept as a whole */
#define CKPT_INODE_SIZED      2u /* its size at the mark is recorded */
#define CKPT_INODE_ATTRIBUTES 4u /* its attributes at the mark are recorded */
#define CKPT_INODE_NEW        8u /* created since the mark; WHOLE, too */

/* A regular file that has a record. */
struct ckpt_known_inode {
    uint64_t device, inode; /* 0, 0: the slot is free */
    uint64_t size;          /* bytes, when first seen after the mark */
    unsigned char *saved;   /* bit i: block i of CKPT_KNOWN_BLOCK bytes is recorded;
                               NULL: none is */
    uint32_t flags;         /* CKPT_INODE_* */
    uint32_t reserved;
};

#define CKPT_KNOWN_BLOCK 4096u

/* The slot of the absolute path, or NULL. */
struct ckpt_known_name *ckpt_known_name_find(const char *path);

/* The same, added if need be. NULL: there is no memory. */
struct ckpt_known_name *ckpt_known_name_add(const char *path);

/* As for names. Slots stay valid until the next addition. */
struct ckpt_known_inode *ckpt_known_inode_find(uint64_t device, uint64_t inode);
struct ckpt_known_inode *ckpt_known_inode_add(uint64_t device, uint64_t inode);

/* Whether a block of the file is recorded, and to note that it is.
 * 0, or -ENOMEM. */
int ckpt_known_block_is_saved(const struct ckpt_known_inode *inode,
                              uint64_t block);
int ckpt_known_block_save(struct ckpt_known_inode *inode, uint64_t block);

/* Forgets all names: a directory was renamed. */
void ckpt_known_forget_names(void);

/* Forgets all: a mark was written. */
void ckpt_known_forget(void);

#endif
