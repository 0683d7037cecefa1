/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * state.h - what every folder may know of the checkpoint under way: plain words. Only
 * cut/ changes them; non_mpi/ sets ckpt_non_mpi.
 */
#ifndef CKPT_STATE_H
#define CKPT_STATE_H

#include "ckpt/wire.h"

#include <stdint.h>

#pragma GCC visibility push(hidden) /* one load instead of two */

/* The checkpoint that this rank takes part in. */
struct ckpt_checkpoint {
    int open;     /* between MPI_Init and MPI_Finalize */
    int armed;    /* a checkpoint is under way: the gate is closed */
    int moving;   /* the ranks run on during this checkpoint */
    int in_doubt; /* the agent was lost before the cut of this rank: other
                     ranks may have been cut */
    int cut_due;  /* CUT came inside a call: obey `cut` after it */
    struct ckpt_message cut;
    int hold;               /* wait for the agent's next message */
    int inside_told;        /* the agent believes this rank to be inside */
    int waiting_told;       /* the agent believes this rank to be waiting */
    int vain;               /* consecutive unsuccessful tests */
    int helping;            /* turns for which it progresses the lower half, for another
                               rank's sake, before it runs on */
    uint64_t taken;         /* ckpt_thread_context_times_taken() when last reported */
    volatile int signalled; /* a signal came during a service */
    uint64_t epoch;
};
extern struct ckpt_checkpoint ckpt_checkpoint;

/* 1 while this rank is open: cut/messages/rank_cut.h. */
extern int ckpt_rank_cut_open;

/* 1 while this process is a rank without MPI (non_mpi/non_mpi.h). Then no function of the lower
 * half may be called, and MPI_COMM_WORLD has no members. */
extern int ckpt_non_mpi;

/* 1 if this process was restored from an image. */
extern int ckpt_resumed;

#pragma GCC visibility pop

#endif
