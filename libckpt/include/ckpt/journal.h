/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * journal.h - layout of the logs of the file undo journal.
 *
 * Plank (1993), section 1.2.2, calls a file recoverable if it can be brought back to its state
 * at a checkpoint. The journal makes every file recoverable. Before a process first changes a
 * file, a name or an attribute after a checkpoint, it appends a record of the old state. A
 * restart undoes the records that follow the mark of its checkpoint, newest first.
 *
 * The journal of a job is the directory DIR/JOB/journal:
 *
 *   clock.HOST            struct ckpt_journal_clock, mapped by all processes of
 *                         the job on that host
 *   HOST-PID-ORDER.log    the records of one process and of the children that it
 *                         forks; appended to, each record by one write()
 *   kept/HOST-PID-ORDER-N a file that was replaced, removed or truncated: a hard
 *                         link to it, or a copy. A file of another file system
 *                         is kept in a directory CKPT_JOURNAL_KEPT_PREFIX-HASH
 *                         of that one, so each record holds the whole path.
 *   concealed             outputs are concealed until the checkpoint after them has
 *                         been committed. A process that looks up or changes concealed
 *                         objects, or reveals them, holds its flock().
 *   place-HASH            a symbolic link to a directory
 *                         CKPT_JOURNAL_CONCEALED_PREFIX-HASH that has concealed
 *                         objects. There the object of the name /a/b is ./a/b.
 *
 * docs/file-journal.md explains the rules. Fields have fixed widths and structures have
 * asserted sizes. A change of layout needs a new CKPT_JOURNAL_VERSION.
 */
#ifndef CKPT_JOURNAL_H
#define CKPT_JOURNAL_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#define CKPT_JOURNAL_MAGIC   0x4c4a4b43u /* "CKJL", little endian */
#define CKPT_JOURNAL_VERSION 1u

/* Environment variable: the job's journal directory, an absolute path. */
#define CKPT_JOURNAL_VARIABLE "CKPT_JOURNAL"

/* Environment variable for programs that a process of the job starts: the stream that is the
 * job's standard output. */
#define CKPT_JOURNAL_OUTPUT_VARIABLE "CKPT_JOURNAL_OUTPUT"

#define CKPT_JOURNAL_KEPT_PREFIX ".ckpt-kept"

/* The lock file of concealed outputs, the prefix of the links to their directories, and the
 * prefix of the names of those directories. */
#define CKPT_JOURNAL_CONCEALED        "concealed"
#define CKPT_JOURNAL_PLACE_PREFIX     "place-"
#define CKPT_JOURNAL_CONCEALED_PREFIX ".ckpt-concealed-"

/* A symbolic link that leads to itself, in a directory of concealed objects. With it, the
 * visible directory of the same name shows through; without it, the directory is new. */
#define CKPT_JOURNAL_MERGED ".ckpt-merged"

/* In a place: an entry INODE of it is a link to the copy of the visible file INODE, which has
 * several names. All of these names lead to the copy when the program looks them up. */
#define CKPT_JOURNAL_LINKS ".ckpt-links"

/* Target of a symbolic link in the place: the program has removed the visible object of this
 * name. */
#define CKPT_JOURNAL_GONE "/.ckpt-concealed/gone"

enum ckpt_journal_type {
    /* The first record of a log. path: the host; value: process id; rank: in MPI_COMM_WORLD, or
     * -1 if the process is not a rank (yet). */
    CKPT_JOURNAL_BEGIN = 1,
    /* The process has described itself for the checkpoint with the mark `value`, which is
     * unique to that checkpoint in the job (`files_mark` of its manifest). The records that
     * follow describe later changes. A later mark with the same value replaces an earlier one.
     * rank: the rank. */
    CKPT_JOURNAL_MARK = 2,
    /* `path` did not exist. Undo: remove the object that `path` names now. */
    CKPT_JOURNAL_ABSENT = 3,
    /* `path` named the regular file that is kept at `other`. Undo: make `path` name that file,
     * by a hard link, or by a copy if CKPT_JOURNAL_IS_COPY is set. */
    CKPT_JOURNAL_FILE = 4,
    /* `path` was a symbolic link to `other`. */
    CKPT_JOURNAL_SYMLINK = 5,
    /* `path` was an empty directory. */
    CKPT_JOURNAL_DIRECTORY = 6,
    /* `path` was a pipe, a socket or a device. `mode` is its type and mode, `value` its device
     * number. */
    CKPT_JOURNAL_SPECIAL = 7,
    /* The directory `path` was renamed to `other`. Undo: rename it back. With
     * CKPT_JOURNAL_EXCHANGED: the two names were exchanged. The record is written before the
     * call. If `path` still has the recorded device and inode, the call did not happen. */
    CKPT_JOURNAL_MOVED = 8,
    /* The file `path` had `size` bytes. Undo: truncate it to that size. */
    CKPT_JOURNAL_SIZE = 9,
    /* The file `path` had `size` bytes. The `data_size` bytes that follow were its content at
     * `offset`. Undo: write them there, and set the file to that size. */
    CKPT_JOURNAL_DATA = 10,
    /* The file `path` had the content of the copy kept at `other`. Undo: write that content
     * into the file that `path` names, which keeps its inode. */
    CKPT_JOURNAL_CONTENT = 11,
    /* The mode, the owner and the time of modification of `path` had the values in this record.
     * Symbolic links are not followed. */
    CKPT_JOURNAL_ATTRIBUTES = 12,
    /* Not undone. At the preceding mark the process knew the file `path`, with this identity,
     * size and times. A restart compares them after rolling back. Absent files are not
     * recorded. CKPT_JOURNAL_WRITTEN: the process had opened the file for writing.
     * CKPT_JOURNAL_HASHED: `value` is the hash of its content, since a later change could have
     * left the size and the times unchanged. */
    CKPT_JOURNAL_STATE = 13,
    /* Not undone. The concealed object that the program knows as `path` was made, opened,
     * renamed to this name, removed, or closed after it was written. value: enum
     * ckpt_journal_product. For a removed visible object: device and inode are its identity. */
    CKPT_JOURNAL_PRODUCED = 14,
    /* Not undone. The program has written the data to its standard output. They appear there
     * when the checkpoint after them has been committed. */
    CKPT_JOURNAL_OUTPUT = 15,
};

enum ckpt_journal_product {
    CKPT_JOURNAL_WAS_WRITTEN = 1, /* a file, a link, a pipe or a socket */
    CKPT_JOURNAL_WAS_REMOVED = 2,
    CKPT_JOURNAL_WAS_MADE = 3,    /* a directory */
    CKPT_JOURNAL_WAS_RENAMED = 4, /* a directory with all its content */
    CKPT_JOURNAL_WAS_OPENED = 5,  /* a file, opened for writing */
};

/* Flags of a record. */
#define CKPT_JOURNAL_IS_COPY   1u /* `other` is a copy, not a hard link to the file */
#define CKPT_JOURNAL_EXCHANGED 2u
#define CKPT_JOURNAL_WRITTEN   4u
#define CKPT_JOURNAL_HASHED    8u

/* Number of bytes that a hash covers at either end of a file. A hash is the CRC-32C of the
 * first and then of the last so many bytes, which may overlap. A shorter file is hashed twice
 * as a whole. */
#define CKPT_JOURNAL_HASHED_BYTES (UINT64_C(1) << 20)

/*
 * A record, followed by `path_size` bytes of path, `other_size` bytes of the second path (both
 * with their NUL), `data_size` bytes of data, and 0 to 7 bytes of padding up to `length`. Paths
 * are absolute. Unknown values are 0.
 *
 * Identity, size, times, mode and owner describe the object before the change. The process
 * takes `order` after it has read them and the data. If two records of one host overlap, the
 * record with the smaller order holds the older state.
 */
struct ckpt_journal_record {
    uint32_t magic;
    uint32_t checksum; /* CRC-32C of the record from `length` on */
    uint64_t length;   /* bytes of the whole record, a multiple of 8 */
    uint32_t type;     /* enum ckpt_journal_type */
    uint32_t flags;
    uint64_t order; /* from struct ckpt_journal_clock: rises with each record */
    uint64_t device, inode;
    uint64_t size;
    uint64_t offset;
    uint64_t value;
    int64_t modified, changed; /* st_mtim, st_ctim: nanoseconds since 1970 */
    uint32_t mode;             /* st_mode */
    uint32_t owner, group;
    int32_t rank;
    uint32_t path_size, other_size; /* bytes, with the NUL; 0: none */
    uint64_t data_size;             /* bytes */
    uint64_t reserved;              /* 0 */
};

/*
 * The clock of a host, a hybrid logical clock: max(last + 1, CLOCK_REALTIME in nanoseconds). It
 * never goes back. The first process that maps it advances it to the clocks of the other hosts
 * in the directory.
 */
struct ckpt_journal_clock {
    uint32_t magic;
    uint32_t version;
    uint64_t last;
    /* The order at which a process of the host last failed to record a change that happened
     * nevertheless, and the reason (errno). A restart cannot roll back to marks before it. 0:
     * never. */
    uint64_t lost;
    uint64_t lost_error;
    uint64_t moves; /* directories renamed so far, by processes of the host */
};

static_assert(sizeof(struct ckpt_journal_record) == 128, "layout of a record");
static_assert(offsetof(struct ckpt_journal_record, length) == 8 &&
                  offsetof(struct ckpt_journal_record, order) == 24 &&
                  offsetof(struct ckpt_journal_record, mode) == 88 &&
                  offsetof(struct ckpt_journal_record, data_size) == 112,
              "layout of a record");
static_assert(sizeof(struct ckpt_journal_clock) == 40, "layout of the clock");
static_assert(offsetof(struct ckpt_journal_clock, last) == 8 &&
                  offsetof(struct ckpt_journal_clock, moves) == 32,
              "layout of the clock");

#endif
