/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * input.h - standard input, relayed to the program so that a checkpoint knows how much of it
 * the program has read.
 *
 * Input that a launcher forwards passes through the launcher, where no checkpoint can see it.
 * So a process of ours, the relay (`ckpt-stdin`), reads the launcher's pipe ahead of the
 * program. The relay keeps the unread bytes in a memory file and passes them on through a
 * second pipe, which is the program's standard input. A rank pauses the relay while it saves
 * itself. The unread bytes are then those of the memory file from `given` - (bytes in the
 * second pipe) to `taken`.
 *
 * F_GETOWN on the program's end of that pipe returns the relay's process id.
 */
#ifndef CKPT_INPUT_H
#define CKPT_INPUT_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

/* An environment variable of a launch. "none": the launcher has no input. "new": the launcher's
 * input is given once. "again": each launch gives it from its beginning. At a restart "new" and
 * "none" mean that the launcher's input continues the input that the checkpoint holds. */
#define CKPT_INPUT_VARIABLE "CKPT_INPUT"
#define CKPT_INPUT_NONE     "none"
#define CKPT_INPUT_NEW      "new"
#define CKPT_INPUT_AGAIN    "again"

/* The files that are the standard output and error of a launch: "DEVICE:INODE,DEVICE:INODE",
 * each number of 16 hexadecimal digits; 0 if the stream is not a file. */
#define CKPT_OUTPUT_VARIABLE "CKPT_OUTPUT"
#define CKPT_OUTPUT_SIZE     (4 * 17)

/* Flags in struct ckpt_file.value of a standard input. `offset` is then the number of bytes
 * that the program has read; the payload is the unread input. */
#define CKPT_INPUT_SAVED ((uint64_t)1) /* the unread input is known */
#define CKPT_INPUT_ENDED ((uint64_t)2) /* nothing follows the payload */
#define CKPT_INPUT_KEPT  ((uint64_t)4) /* the launcher can give the input again */
#define CKPT_INPUT_SAME  ((uint64_t)8) /* the payload is that of a lower-numbered descriptor */

/* Descriptor numbers in the relay. */
#define CKPT_RELAY_SOURCE 3
#define CKPT_RELAY_SINK   4
#define CKPT_RELAY_PAGE   5 /* the memory file */

#define CKPT_RELAY_MAGIC   0x31494b43u /* "CKI1", little endian */
#define CKPT_RELAY_PROGRAM "ckpt-stdin"

/* Offset in the memory file of the byte at position 0 of the input. */
#define CKPT_RELAY_DATA 4096

/* The beginning of the memory file. The relay maps it, and so does a rank while it saves
 * itself. The relay writes all fields except `hold`. */
struct ckpt_relay_page {
    uint32_t magic;
    uint32_t hold;  /* a futex; not 0 while a rank wants the relay to pause */
    uint32_t busy;  /* not 0 while the relay moves bytes; it checks `hold` first */
    uint32_t ended; /* not 0 when no more input will come */
    uint64_t taken; /* bytes of the input that the relay has received */
    uint64_t given; /* bytes of the input that the relay has written to the program's pipe */
    uint64_t skip;  /* bytes that the launcher repeats, to be dropped */
    uint64_t limit; /* how many bytes to read ahead of the program */
    uint64_t inode; /* inode of the program's pipe */
    uint32_t kept;  /* CKPT_INPUT_KEPT */
    uint32_t reserved;
};

static_assert(sizeof(struct ckpt_relay_page) == 64, "layout of the relay's page");
static_assert(offsetof(struct ckpt_relay_page, taken) == 16 &&
                  offsetof(struct ckpt_relay_page, inode) == 48,
              "layout of the relay's page");
static_assert(sizeof(struct ckpt_relay_page) <= CKPT_RELAY_DATA, "the input follows the page");

#endif
