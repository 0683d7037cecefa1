/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * call.h - a diverted system call: the journal examines it before the kernel gets it.
 */
#ifndef CKPT_JOURNAL_CALL_H
#define CKPT_JOURNAL_CALL_H

#include "journal/sites.h"
#include "sys/cpu.h"

#include <stdint.h>

/* Layout on the stack; enter.S builds it. */
struct ckpt_journal_call {
    union {
        uint64_t generation; /* value of ckpt_journal_generation at the start of the call */
        int64_t result;      /* return value for the program, if is_done */
    };
    uint64_t is_done; /* 1: the journal has made the call, so libc must not repeat it */
    const struct ckpt_journal_site *site;
    int64_t r9, r8, r10, rdx, rsi, rdi; /* arguments 6 to 1 */
};

/* Changes with each mark, so that the journal examines an interrupted call again. */
extern uint64_t ckpt_journal_generation;

/* wants: returns 1 if calls of this number are diverted. needs: returns 1 if libc must contain
 * such a call. Context: any. */
int ckpt_journal_wants(long number);
int ckpt_journal_needs(long number);

/*
 * enter.S calls these. fast: returns 0 if the call needs no further handling, else 1; it may
 * use general registers only. slow: records the state that the call is about to change, and
 * makes the call itself if the kernel must get other arguments.
 * Context: any place of the upper half that calls libc, signal handlers too.
 */
CKPT_GENERAL_REGISTERS int ckpt_journal_fast(const struct ckpt_journal_call *call);
void ckpt_journal_slow(struct ckpt_journal_call *call);

#endif
