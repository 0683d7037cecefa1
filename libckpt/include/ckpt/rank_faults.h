/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rank_faults.h - places where a test can kill a rank with independent checkpoints
 * (CKPT_FAULT=NAME[:COUNT][@RANK]). After each of them a replay must restore the rank.
 */
#ifndef CKPT_RANK_FAULTS_H
#define CKPT_RANK_FAULTS_H

/* X(symbol, name): the agents know the names, the plugin the places. */
#define CKPT_RANK_FAULTS(X)                                                                    \
    /* The rank has logged an operation; no part of it has been delivered. */                  \
    X(BEFORE_DELIVERY, "rank-before-delivery")                                                 \
    /* The operation has its number in the delivery order; the log does not publish it yet. */ \
    X(AT_ORDER, "rank-at-order")                                                               \
    /* The log publishes it; the target's memory is unchanged. */                              \
    X(AT_PUBLISH, "rank-at-publish")                                                           \
    /* The target's memory has it; the record of the window does not yet say so. */            \
    X(AFTER_APPLY, "rank-after-apply")                                                         \
    /* It is delivered, and its interval is closed. */                                         \
    X(AFTER_DELIVERY, "rank-after-delivery")                                                   \
    /* A direct put is in the log, but not in the target's memory. Then: it is in the memory,  \
       but the log does not say so yet. */                                                     \
    X(BEFORE_PLACE, "rank-before-place")                                                       \
    X(AFTER_PLACE, "rank-after-place")                                                         \
    /* The answer of an atomic operation is in the log, its change is not. Then: the answer    \
       is about to be returned to the program. */                                              \
    X(AT_ANSWER, "rank-at-answer")                                                             \
    X(AFTER_ANSWER, "rank-after-answer")                                                       \
    /* The rank has taken a lock. Then: it is about to release it, with operations under the   \
       lock not delivered. Then: all are delivered, and the rank still holds the lock. */      \
    X(WITH_LOCK, "rank-with-lock")                                                             \
    X(BEFORE_UNLOCK, "rank-before-unlock")                                                     \
    X(AT_UNLOCK, "rank-at-unlock")                                                             \
    /* Pages of a shared window are in the log, and in no rank's image. */                     \
    X(AT_CAPTURE, "rank-at-capture")                                                           \
    /* The other ranks know that this rank has reached a barrier or fence. */                  \
    X(AT_BARRIER, "rank-at-barrier")                                                           \
    /* An independent checkpoint: the copy is made, the agent does not know yet. Then: the     \
       agent knows. Then: the other ranks know, too; the log is not trimmed yet. */            \
    X(AT_COPY, "rank-at-copy")                                                                 \
    X(AT_KEPT, "rank-at-kept")                                                                 \
    X(AT_TRIM, "rank-at-trim")

#endif
