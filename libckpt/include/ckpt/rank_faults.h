/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rank_faults.h - where a test can have a rank with independent checkpoints killed
 * (CKPT_FAULT=NAME[:COUNT][@RANK]); after each the rank is to be replayed.
 */
#ifndef CKPT_RANK_FAULTS_H
#define CKPT_RANK_FAULTS_H

/* X(symbol, name): the agents know the names, the plugin the places. */
#define CKPT_RANK_FAULTS(X)                                                                   \
    /* An operation is in the rank's log; nothing of it has been delivered. */                \
    X(BEFORE_DELIVERY, "rank-before-delivery")                                                \
    /* It has its place in the order of deliveries; the log does not say yet that it counts. */ \
    X(AT_ORDER, "rank-at-order")                                                              \
    /* It counts, but the target's memory is as it was. */                                    \
    X(AT_PUBLISH, "rank-at-publish")                                                          \
    /* The target's memory has it; the record of the window does not say so. */               \
    X(AFTER_APPLY, "rank-after-apply")                                                        \
    /* It is delivered, and its interval closed. */                                           \
    X(AFTER_DELIVERY, "rank-after-delivery")                                                  \
    /* A direct put is in the log, and not in place; it is in place, and may be replaced. */  \
    X(BEFORE_PLACE, "rank-before-place")                                                      \
    X(AFTER_PLACE, "rank-after-place")                                                        \
    /* The answer of an atomic operation is logged, and its change is not; it is about to be  \
       given to the program. */                                                               \
    X(AT_ANSWER, "rank-at-answer")                                                            \
    X(AFTER_ANSWER, "rank-after-answer")                                                      \
    /* A lock has been taken; it is to be given back, and what was done under it is not       \
       delivered; all has been delivered, and the lock is still held. */                      \
    X(WITH_LOCK, "rank-with-lock")                                                            \
    X(BEFORE_UNLOCK, "rank-before-unlock")                                                    \
    X(AT_UNLOCK, "rank-at-unlock")                                                            \
    /* Pages of a shared window are in the log, and in nobody's image. */                     \
    X(AT_CAPTURE, "rank-at-capture")                                                          \
    /* The others know that it has come to a barrier or fence. */                             \
    X(AT_BARRIER, "rank-at-barrier")                                                          \
    /* A checkpoint of the rank: its copy is made, nobody knows; its agent has been told;     \
       the others know, too, and its log is not trimmed. */                                   \
    X(AT_COPY, "rank-at-copy")                                                                \
    X(AT_KEPT, "rank-at-kept")                                                                \
    X(AT_TRIM, "rank-at-trim")

#endif
