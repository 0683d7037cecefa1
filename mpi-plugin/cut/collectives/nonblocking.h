/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * nonblocking.h - nonblocking collectives that a cut finds unfinished.
 *
 * A nonblocking collective counts as entered and left, on the clock, when it
 * begins. A cut does not wait for members that have not begun it: a restart begins
 * it again, from the arguments kept here. With MPI_IN_PLACE the lower half may
 * have overwritten the input, so a copy is taken first.
 *
 * Some members may complete a collective before others begin it: the root of
 * MPI_Ibcast, for example. Their buffers belong to the application again. So they
 * keep a copy of their input, and a restart contributes the copy again. A
 * collective that this rank can no longer begin again is *settled* (struct
 * ckpt_clock): all members begin it before the cut, and complete it in the drain.
 */
#ifndef CKPT_NONBLOCKING_H
#define CKPT_NONBLOCKING_H

#include "ckpt/failure.h"
#include "handles/communicator.h"
#include "handles/request.h"

/* The data one member sends, or the data it receives: blocks in a buffer. */
struct ckpt_side {
    void *buffer;
    int blocks;                /* 0: this member takes no part on this side */
    int count;                 /* elements of each block, */
    const int *counts;         /*   or of block i, if not NULL */
    const void *displs;        /* of block i: int, in extents of the type, or in bytes if
                                  there are types; NULL: contiguous blocks */
    int aint_displs;           /* displs are MPI_Aint */
    MPI_Datatype type;         /* of each block, */
    const MPI_Datatype *types; /* or of block i, if not NULL */
    void **lower_types;        /* room for the lower handles of `types` */
};

/* The members whose data a member's result depends on. */
enum ckpt_flow {
    CKPT_FLOW_ALL,       /* all members */
    CKPT_FLOW_TO_ROOT,   /* the root's result on all members */
    CKPT_FLOW_FROM_ROOT, /* the root */
    CKPT_FLOW_SOME,      /* some members */
};

/* The call that began a nonblocking collective. */
struct ckpt_nonblocking {
    /* Begins it in the lower half; runs with the lower thread pointer. */
    int (*begin)(const struct ckpt_nonblocking *call, MPI_Request *lower);
    MPI_Comm communicator;
    struct ckpt_side send;
    struct ckpt_side receive;
    MPI_Op op;
    int root;
    MPI_Comm twin; /* MPI_Comm_idup: the duplicate; else NULL */
    enum ckpt_flow flow;
    int in_receive; /* the receive buffer holds the input: MPI_IN_PLACE, Ibcast */
    int own_block;  /* if so, only this member's own block is input */
    int consumes;   /* the call overwrites an input there before it completes */

    /* Set by nonblocking.c. */
    uint64_t number;       /* on the communicator's clock */
    int again;             /* a restart begins it again */
    MPI_Request next_told; /* see ckpt_nonblocking_told */
    int in_test;           /* a thread is testing this request */
    int unsettles;         /* if deferred: its completion settles nothing */
    size_t size;           /* bytes of this allocation */
    int has_input;         /* a copy of the input exists; */
    void *input;           /*   packed, NULL if there is none */
    size_t input_size;
    struct ckpt_scratch { /* buffers of a collective begun again for others */
        char *memory;
        size_t size;
    } scratch[2];
};

/*
 * Begins the collective that `call` describes, behind the gate. The wrapper of a
 * nonblocking collective ends in this call. call: copied, with its arrays.
 * Context: normal, state IDLE. Returns an MPI error code.
 */
int ckpt_nonblocking_start(const struct ckpt_nonblocking *call,
                           MPI_Request *request, const char *function,
                           void *site);

/*
 * ckpt_nonblocking_copy() returns a copy of the description, with its arrays, or
 * NULL if out of memory. From _retain to _drop the copy keeps alive the objects it
 * uses. _release is _drop and _free. Context: normal, between ckpt_begin and
 * ckpt_end.
 */
struct ckpt_nonblocking *
ckpt_nonblocking_copy(const struct ckpt_nonblocking *call);
void ckpt_nonblocking_retain(struct ckpt_nonblocking *call);
void ckpt_nonblocking_drop(struct ckpt_nonblocking *call);
void ckpt_nonblocking_release(struct ckpt_nonblocking *call);
void ckpt_nonblocking_free(struct ckpt_nonblocking *call);

/*
 * Begins the collective that `call` describes, as the next operation of an
 * inactive request. Context: normal, between ckpt_begin and ckpt_end, behind the
 * gate. Returns an MPI error code.
 */
int ckpt_nonblocking_launch(const struct ckpt_nonblocking *call,
                            MPI_Request request);

/* Called when the lower half has completed the first part. Returns 1 if there is a
 * second part, whose request is then the lower one. Context: place for lower-half
 * calls. */
int ckpt_nonblocking_goes_on(MPI_Request request);

/* Called when the lower half has completed it, before the application knows.
 * Context: place for lower-half calls. */
void ckpt_nonblocking_completed(MPI_Request request);

/*
 * The same in three steps (cut/collectives/deferred_completion.h). _deferred: the
 * agent reads a clock as if the completion counted, so no agreed cut forgets it.
 * _confirmed: the completion counts. _left_pending: the collective is pending at the
 * cut. Context: as above.
 */
void ckpt_nonblocking_deferred(MPI_Request request);
void ckpt_nonblocking_confirmed(MPI_Request request);
void ckpt_nonblocking_left_pending(MPI_Request request);

/* Called when the application learns of the completion. Returns 1 if the request
 * must stay, for a restart to contribute its input again. Context: normal. */
int ckpt_nonblocking_told(MPI_Request request);

/*
 * Moves the collective that a persistent request began to a new request, and
 * makes the persistent one inactive. Returns NULL if out of memory: then the
 * collective is settled, and no request is needed. Context: normal, between
 * ckpt_begin and ckpt_end.
 */
MPI_Request ckpt_nonblocking_detach(MPI_Request request);

/* Called when all members have begun and completed all collectives on `comm`, just
 * before it is freed. Context: normal, between ckpt_begin and ckpt_end. */
void ckpt_nonblocking_disconnect(MPI_Comm comm);

/* While a checkpoint is under way: returns whether all members begin it before the
 * cut, so that it must complete there. Context: any. */
int ckpt_nonblocking_in_cut(MPI_Request request);

/* Called before this rank is saved: notes which collectives a restart begins
 * again. Context: any. */
void ckpt_nonblocking_record(void);

/* Called after a restart: begins again the collectives that are not in the cut.
 * The application's threads run meanwhile, because an operation may wait for them,
 * but they cannot enter MPI. Context: with the plugin's lock. Returns 0 or
 * -errno. */
int ckpt_nonblocking_begin_again(struct ckpt_failure *failure);

#endif
