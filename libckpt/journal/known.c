/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * known.c - names and inodes that the journal has recorded since the last mark.
 */
#include "journal/known.h"

#include "base/invariant.h"

#include <errno.h>
#include <string.h>

#define FIRST_CAPACITY 1024u /* slots; a power of two */
#define BITS_PER_BYTE  8u
_Static_assert((FIRST_CAPACITY & (FIRST_CAPACITY - 1)) == 0, "a hash is masked");

struct ckpt_pool ckpt_journal_pool;

static struct {
    struct ckpt_known_name *slot; /* [capacity] */
    size_t capacity, count;
} names;

static struct {
    struct ckpt_known_inode *slot; /* [capacity] */
    size_t capacity, count;
} inodes;

/* FNV-1a with two bases. Two paths with the same 128 bits are not expected. */
static void hash_path(const char *path, uint64_t hash[2])
{
    hash[0] = 0xcbf29ce484222325u;
    hash[1] = 0x9ae16a3b2f90404fu;
    for (; *path != '\0'; path++) {
        hash[0] = (hash[0] ^ (unsigned char)*path) * 0x100000001b3u;
        hash[1] = (hash[1] + (unsigned char)*path) * 0xc6a4a7935bd1e995u;
        hash[1] ^= hash[1] >> 29;
    }
    hash[0] |= 1; /* 0 marks a free slot */
}

static uint64_t hash_inode(uint64_t device, uint64_t inode)
{
    uint64_t hash = (inode ^ device << 40) * 0x9e3779b97f4a7c15u;

    return hash ^ hash >> 32;
}

/* Returns the slot with the hash, or the free slot where it belongs. */
static struct ckpt_known_name *name_slot(const uint64_t hash[2])
{
    size_t i = hash[1] & (names.capacity - 1);

    /* A free slot ends the search. */
    CKPT_INVARIANT((names.capacity & (names.capacity - 1)) == 0 && names.count < names.capacity);
    while (names.slot[i].hash[0] != 0 && (names.slot[i].hash[0] != hash[0] ||
                                          names.slot[i].hash[1] != hash[1])) {
        i = (i + 1) & (names.capacity - 1);
    }
    return &names.slot[i];
}

static struct ckpt_known_inode *inode_slot(uint64_t device, uint64_t inode)
{
    size_t i = hash_inode(device, inode) & (inodes.capacity - 1);

    CKPT_INVARIANT((inodes.capacity & (inodes.capacity - 1)) == 0 &&
                   inodes.count < inodes.capacity);
    while (inodes.slot[i].inode != 0 && (inodes.slot[i].inode != inode ||
                                         inodes.slot[i].device != device)) {
        i = (i + 1) & (inodes.capacity - 1);
    }
    return &inodes.slot[i];
}

/* Returns zeroed memory, or NULL. */
static void *allocate(size_t count, size_t size)
{
    void *memory = ckpt_pool_alloc(&ckpt_journal_pool, count * size);

    return memory == NULL ? NULL : memset(memory, 0, count * size);
}

/* Grows the table so that it is at most half full. Returns 0 or -ENOMEM. */
static int grow_names(void)
{
    struct ckpt_known_name *before = names.slot;
    const size_t capacity = names.capacity;

    if (names.count * 2 < capacity) {
        return 0;
    }
    names.capacity = capacity == 0 ? FIRST_CAPACITY : capacity * 2;
    names.slot = allocate(names.capacity, sizeof(*names.slot));
    if (names.slot == NULL) {
        names.slot = before;
        names.capacity = capacity;
        return -ENOMEM;
    }
    for (size_t i = 0; i < capacity; i++) {
        if (before[i].hash[0] != 0) {
            *name_slot(before[i].hash) = before[i];
        }
    }
    ckpt_pool_free(&ckpt_journal_pool, before, capacity * sizeof(*before));
    return 0;
}

static int grow_inodes(void)
{
    struct ckpt_known_inode *before = inodes.slot;
    const size_t capacity = inodes.capacity;

    if (inodes.count * 2 < capacity) {
        return 0;
    }
    inodes.capacity = capacity == 0 ? FIRST_CAPACITY : capacity * 2;
    inodes.slot = allocate(inodes.capacity, sizeof(*inodes.slot));
    if (inodes.slot == NULL) {
        inodes.slot = before;
        inodes.capacity = capacity;
        return -ENOMEM;
    }
    for (size_t i = 0; i < capacity; i++) {
        if (before[i].inode != 0) {
            *inode_slot(before[i].device, before[i].inode) = before[i];
        }
    }
    ckpt_pool_free(&ckpt_journal_pool, before, capacity * sizeof(*before));
    return 0;
}

struct ckpt_known_name *ckpt_known_name_find(const char *path)
{
    struct ckpt_known_name *slot;
    uint64_t hash[2];

    if (names.count == 0) {
        return NULL;
    }
    hash_path(path, hash);
    slot = name_slot(hash);
    return slot->hash[0] == 0 ? NULL : slot;
}

struct ckpt_known_name *ckpt_known_name_add(const char *path)
{
    struct ckpt_known_name *slot;
    uint64_t hash[2];

    if (grow_names() != 0) {
        return NULL;
    }
    hash_path(path, hash);
    slot = name_slot(hash);
    if (slot->hash[0] == 0) {
        *slot = (struct ckpt_known_name){.hash = {hash[0], hash[1]}};
        names.count++;
    }
    return slot;
}

struct ckpt_known_inode *ckpt_known_inode_find(uint64_t device, uint64_t inode)
{
    struct ckpt_known_inode *slot;

    if (inodes.count == 0) {
        return NULL;
    }
    slot = inode_slot(device, inode);
    return slot->inode == 0 ? NULL : slot;
}

struct ckpt_known_inode *ckpt_known_inode_add(uint64_t device, uint64_t inode)
{
    struct ckpt_known_inode *slot;

    if (grow_inodes() != 0) {
        return NULL;
    }
    slot = inode_slot(device, inode);
    if (slot->inode == 0) {
        *slot = (struct ckpt_known_inode){.device = device, .inode = inode};
        inodes.count++;
    }
    return slot;
}

/* Returns the bytes of the bitmap. */
static size_t map_size(const struct ckpt_known_inode *inode)
{
    return (size_t)(inode->size / CKPT_KNOWN_BLOCK / BITS_PER_BYTE + 1);
}

int ckpt_known_block_is_saved(const struct ckpt_known_inode *inode,
                              uint64_t block)
{
    return inode->saved != NULL &&
           (inode->saved[block / BITS_PER_BYTE] >> block % BITS_PER_BYTE & 1) != 0;
}

int ckpt_known_block_save(struct ckpt_known_inode *inode, uint64_t block)
{
    if (inode->saved == NULL) {
        inode->saved = allocate(map_size(inode), 1);
    }
    if (inode->saved == NULL) {
        return -ENOMEM;
    }
    CKPT_INVARIANT(block / BITS_PER_BYTE < map_size(inode));
    inode->saved[block / BITS_PER_BYTE] |=
        (unsigned char)(1u << block % BITS_PER_BYTE);
    return 0;
}

void ckpt_known_forget_names(void)
{
    if (names.count != 0) {
        memset(names.slot, 0, names.capacity * sizeof(*names.slot));
    }
    names.count = 0;
}

void ckpt_known_forget(void)
{
    ckpt_known_forget_names();
    for (size_t i = 0; i < inodes.capacity && inodes.count != 0; i++) {
        if (inodes.slot[i].saved != NULL) {
            ckpt_pool_free(&ckpt_journal_pool, inodes.slot[i].saved,
                           map_size(&inodes.slot[i]));
        }
        inodes.slot[i] = (struct ckpt_known_inode){0};
    }
    inodes.count = 0;
}
