/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * input.h - standard input that is relayed to the program, so that a checkpoint
 * knows how far the program has read it.
 *
 * What a launcher forwards to a rank goes through the launcher, where no
 * checkpoint can see it. So a process of ours, the relay (`ckpt-stdin`), reads
 * the launcher's pipe ahead of the program. It keeps what the program has not
 * read in a memory file and hands it on through a second pipe, which is the
 * program's standard input. A rank that saves itself has the relay stand still.
 * Then the unread bytes are those of the memory file from
 * `given` - (bytes in the second pipe) to `taken`.
 *
 * The program's end of that pipe tells who the relay is: F_GETOWN.
 */
#ifndef CKPT_INPUT_H
#define CKPT_INPUT_H

#include <assert.h>
#include <stdint.h>

/* Of the environment of a launch. "none": the launcher has no input. "new": the
 * launcher's input is given once. "again": it is given from its beginning at each
 * launch. At a restart "new" and "none" mean that the launcher's input continues
 * that of the checkpoint. */
#define CKPT_INPUT_VARIABLE "CKPT_INPUT"
#define CKPT_INPUT_NONE     "none"
#define CKPT_INPUT_NEW      "new"
#define CKPT_INPUT_AGAIN    "again"

/* Where a launch has its standard output and error, if these are files:
 * "DEVICE:INODE,DEVICE:INODE", of 16 hexadecimal digits each; 0 if it is no
 * file. */
#define CKPT_OUTPUT_VARIABLE "CKPT_OUTPUT"
#define CKPT_OUTPUT_SIZE     (4 * 17)

/* In struct ckpt_file.value of a standard input. Its offset is then how much of
 * the input the program has read, and its payload what comes next. */
#define CKPT_INPUT_SAVED ((uint64_t)1) /* it is known what has not been read */
#define CKPT_INPUT_ENDED ((uint64_t)2) /* nothing follows the payload */
#define CKPT_INPUT_KEPT  ((uint64_t)4) /* the launcher can give it again */
#define CKPT_INPUT_SAME  ((uint64_t)8) /* a lower descriptor has the payload */

/* Descriptors of the relay. */
#define CKPT_RELAY_SOURCE 3
#define CKPT_RELAY_SINK   4
#define CKPT_RELAY_PAGE   5 /* the memory file */

#define CKPT_RELAY_MAGIC   0x31494b43u /* "CKI1", little endian */
#define CKPT_RELAY_PROGRAM "ckpt-stdin"

/* Where the byte at position 0 of the input is in the memory file. */
#define CKPT_RELAY_DATA 4096

/* The beginning of the memory file, mapped by the relay and by a rank that saves
 * itself. All but `hold` is written by the relay. */
struct ckpt_relay_page {
    uint32_t magic;
    uint32_t hold;  /* a rank wants the relay to stand still; a futex */
    uint32_t busy;  /* the relay moves bytes; it looks at `hold` first */
    uint32_t ended; /* no more input will come */
    uint64_t taken; /* bytes of the input that the relay has received */
    uint64_t given; /* bytes of the input that are in the program's pipe, or were */
    uint64_t skip;  /* bytes that the launcher gives once more, to be dropped */
    uint64_t limit; /* bytes to read ahead of the program */
    uint64_t inode; /* of the program's pipe */
    uint32_t kept;  /* CKPT_INPUT_KEPT */
    uint32_t reserved;
};

static_assert(sizeof(struct ckpt_relay_page) == 64, "layout of the relay's page");

#endif
