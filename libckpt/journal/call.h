/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * call.h - a diverted system call, as the journal sees it before the kernel does.
 */
#ifndef CKPT_JOURNAL_CALL_H
#define CKPT_JOURNAL_CALL_H

#include "journal/sites.h"

#include <stdint.h>

/* For what runs before the vector registers are saved. */
#define CKPT_GENERAL_REGISTERS __attribute__((target("general-regs-only")))

/* On the stack; enter.S builds it. */
struct ckpt_journal_call {
    union {
        uint64_t generation; /* ckpt_journal_generation when the call began */
        int64_t result;      /* what the program gets, if is_done */
    };
    uint64_t is_done; /* the journal has made the call: libc must not make it again */
    const struct ckpt_journal_site *site;
    int64_t r9, r8, r10, rdx, rsi, rdi; /* arguments 6 to 1 */
};

/* Changes with each mark, so that a call that it interrupts is looked at again. */
extern uint64_t ckpt_journal_generation;

/* Whether calls of this number are diverted, and whether libc must have them.
 * Context: any. */
int ckpt_journal_wants(long number);
int ckpt_journal_needs(long number);

/*
 * enter.S calls them. fast: 0 if the call needs no more attention, else 1. It may
 * use general registers only. slow: records what the call is about to change, and
 * makes the call itself where the kernel must see other arguments.
 * Context: any place of the upper half that calls libc, handlers of signals too.
 */
CKPT_GENERAL_REGISTERS int ckpt_journal_fast(const struct ckpt_journal_call *call);
void ckpt_journal_slow(struct ckpt_journal_call *call);

#endif
