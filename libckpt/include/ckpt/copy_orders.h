/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * copy_orders.h - how ckpt-restart brings a frozen copy of a rank to life (docs/protocol.md,
 * section 14).
 *
 * The packets go over the copy's connection (process/frozen_copy.h), on which the agent otherwise
 * sends a struct ckpt_range for pages to release. Each order is a packet that begins with a struct
 * ckpt_copy_order; no order has the size of a range. The copy answers each order. Until it has
 * answered THAW with DONE it can be asked again from the beginning, by PREPARE.
 *
 *   ckpt-restart      copy
 *   PREPARE      ---->
 *                <---- DONE      or RELEASED, REFUSED
 *   DESCRIPTORS  ---->           zero or more times: up to 253 descriptors in a packet
 *                <---- DONE      or REFUSED: it has closed them all
 *   THAW         ---->           environment, connection to the agent, working directory
 *                <---- DONE      or REFUSED; then it leaves this connection and is the rank
 *
 * The agent orders TWIN between checkpoints. So a copy is left when the other one has become the
 * rank.
 *
 * A copy can go most of the way before it is needed. Instead of THAW it gets STAND, with
 * descriptors that only hold the numbers of the program's:
 *
 *   STAND        ---->           environment, working directory
 *                <---- DONE      or REFUSED
 *                <---- STANDING  MPI has begun in the new world; the copy waits
 *   DESCRIPTORS  ---->           as above: the program's own
 *                <---- DONE
 *   GO           ---->           connection to the agent, working directory
 *                <---- DONE      then it leaves this connection and is the rank
 *
 * After STAND it cannot be asked again: it ends instead of an answer REFUSED, or after it.
 *
 * Layout rules: fixed widths, no padding, asserted sizes. A change needs a new
 * CKPT_COPY_ORDER_VERSION.
 */
#ifndef CKPT_COPY_ORDERS_H
#define CKPT_COPY_ORDERS_H

#include "ckpt/snapshot.h"

#include <assert.h>
#include <stdint.h>

#define CKPT_COPY_ORDER_MAGIC   0x4f43504bu /* "KPCO", little endian */
#define CKPT_COPY_ORDER_VERSION 2u

enum ckpt_copy_order_type {
    /* To the copy. */
    CKPT_COPY_PREPARE = 1,     /* value: address of its struct ckpt_snapshot */
    CKPT_COPY_DESCRIPTORS = 2, /* value: a number above all descriptors of the program; a struct
                                  ckpt_copy_descriptor for each follows; brings these descriptors
                                  in the same order */
    CKPT_COPY_THAW = 3,        /* value: when the restart began, CLOCK_REALTIME in ns; the name of
                                  the checkpoint follows, with a NUL; brings CKPT_COPY_THAW_PARTS
                                  descriptors */
    CKPT_COPY_TWIN = 4,        /* makes a copy of the copy, on the connection that it brings; value:
                                  the process that may read it */
    CKPT_COPY_STAND = 5,       /* value: 0; the name of the checkpoint follows, with a NUL; brings
                                  CKPT_COPY_STAND_PARTS descriptors */
    CKPT_COPY_GO = 6,          /* value: when the restart began, as for THAW; brings
                                  CKPT_COPY_GO_PARTS descriptors */
    /* From the copy. */
    CKPT_COPY_DONE = 16,     /* value: after TWIN the process id of the new copy, or -errno */
    CKPT_COPY_REFUSED = 17,  /* value: enum ckpt_refusal; the reason follows, with a NUL */
    CKPT_COPY_RELEASED = 18, /* it has released pages, and can only be read */
    CKPT_COPY_STANDING = 19, /* after STAND and its DONE */
};

/* The descriptors that THAW brings. */
enum ckpt_copy_thaw_part {
    CKPT_COPY_ENVIRONMENT, /* a memory file: settings ("NAME=value"), each with a NUL */
    CKPT_COPY_AGENT,       /* connected SOCK_SEQPACKET socket: the rank's connection to its agent */
    CKPT_COPY_DIRECTORY,   /* the working directory */
    CKPT_COPY_THAW_PARTS,
};

/* The descriptors that STAND brings. */
enum ckpt_copy_stand_part {
    CKPT_COPY_STAND_ENVIRONMENT, /* as above */
    CKPT_COPY_STAND_DIRECTORY,
    CKPT_COPY_STAND_PARTS,
};

/* The descriptors that GO brings. */
enum ckpt_copy_go_part {
    CKPT_COPY_GO_AGENT, /* as above */
    CKPT_COPY_GO_DIRECTORY,
    CKPT_COPY_GO_PARTS,
};

struct ckpt_copy_order {
    uint32_t magic;
    uint32_t version;
    uint32_t type;   /* enum ckpt_copy_order_type */
    uint32_t count;  /* descriptors that the packet brings */
    uint64_t serial; /* chosen by ckpt-restart; the answer repeats that of its order */
    uint64_t value;
};

struct ckpt_copy_descriptor {
    int32_t number; /* of the descriptor in the program */
    uint32_t flags; /* FD_CLOEXEC */
};

/* The kernel passes no more descriptors in a packet (SCM_MAX_FD). */
#define CKPT_COPY_DESCRIPTORS_MOST 253
/* Bytes after a struct ckpt_copy_order. */
#define CKPT_COPY_TAIL_MOST (CKPT_COPY_DESCRIPTORS_MOST * sizeof(struct ckpt_copy_descriptor))
/* Bytes of the environment. */
#define CKPT_COPY_ENVIRONMENT_MOST (1024 * 1024)

static_assert(sizeof(struct ckpt_copy_order) == 32, "layout of ckpt_copy_order");
static_assert(sizeof(struct ckpt_copy_descriptor) == 8, "layout of ckpt_copy_descriptor");
static_assert(sizeof(struct ckpt_copy_order) > sizeof(struct ckpt_range),
              "an order is no release of pages");
static_assert(CKPT_COPY_TAIL_MOST >= sizeof(((struct ckpt_resume_info *)0)->checkpoint),
              "the name of a checkpoint fits");

#endif
