/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fault_injection.h - places where a test can kill this rank, once it can be replayed.
 *
 * CKPT_FAULT=NAME[:COUNT][@RANK], with the names of ckpt/rank_faults.h. Rank RANK (default:
 * each) is killed when it reaches the place for the COUNT-th time (default: the first)
 * while it could be replayed, but not after a restart.
 */
#ifndef CKPT_FAULT_INJECTION_H
#define CKPT_FAULT_INJECTION_H

#include "ckpt/rank_faults.h"

enum ckpt_rank_fault {
    CKPT_FAULT_NOWHERE,
#define CKPT_RANK_FAULT(symbol, name) CKPT_FAULT_##symbol,
    CKPT_RANK_FAULTS(CKPT_RANK_FAULT)
#undef CKPT_RANK_FAULT
};

extern enum ckpt_rank_fault ckpt_rank_fault; /* the place chosen for this rank */

/* Reads the choice from the environment. rank: this rank, in MPI_COMM_WORLD. Context:
 * normal. */
void ckpt_rank_fault_open(int rank);

/* See ckpt_rank_fault_kill. */
void ckpt_rank_fault_reached(void);

/* Ends this process with SIGKILL if the chosen fault is due here. Context: normal. */
static inline void ckpt_rank_fault_kill(enum ckpt_rank_fault place)
{
    if (place == ckpt_rank_fault) {
        ckpt_rank_fault_reached();
    }
}

#endif
