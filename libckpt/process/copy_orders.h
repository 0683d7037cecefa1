/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * copy_orders.h - a frozen copy obeys the orders by which it comes to life (ckpt/copy_orders.h).
 */
#ifndef CKPT_PROCESS_COPY_ORDERS_H
#define CKPT_PROCESS_COPY_ORDERS_H

#include "ckpt/copy_orders.h"
#include "process/frozen_copy.h"

#include <stdint.h>
#include <sys/resource.h>

/* A packet as it was received. */
struct ckpt_copy_packet {
    union {
        struct ckpt_range released;
        struct {
            struct ckpt_copy_order order;
            char tail[CKPT_COPY_TAIL_MOST];
        } given;
    } as;
    long size; /* bytes */
    uint32_t descriptor_count;
    int descriptors[CKPT_COPY_DESCRIPTORS_MOST];
};

/* The state of a copy, on its stack. */
struct ckpt_copy_state {
    int connection;
    int is_released;    /* 1: the copy has released pages; it uses only its stack */
    uint64_t snapshot;  /* address of struct ckpt_snapshot, since PREPARE; 0: no order yet */
    int stands;         /* 1: it has obeyed STAND */
    int agent;          /* connection to the agent, since GO; -1 before */
    struct rlimit room; /* the program's RLIMIT_NOFILE, while the copy has raised it */
    int has_room;
    char oom_score[16]; /* the program's oom_score_adj as a text */
    long oom_score_size;
};

/* Receives one packet with its descriptors; its size is -errno after an error. Uses only the stack.
 * Context: quiesced. */
void ckpt_copy_receive(int connection, struct ckpt_copy_packet *packet);

/* Sends an answer to the order, of this type; failure: the reason, or NULL. A partner that has gone
 * cannot hear it; then the connection ends, too. Context: quiesced. */
void ckpt_copy_answer(const struct ckpt_copy_state *state, const struct ckpt_copy_packet *packet,
                      uint32_t type, const struct ckpt_failure *failure);

/* Obeys an order and answers it. Returns, unless the copy has come to life. calls: or NULL, if the
 * program cannot come to life, or if it stands already. Context: quiesced, in a copy that has
 * released nothing. */
void ckpt_copy_obey(struct ckpt_copy_state *state, struct ckpt_copy_packet *packet,
                    const struct ckpt_frozen_copy_calls *calls);

#endif
