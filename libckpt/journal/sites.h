/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sites.h - diverts the system calls of libc to the journal.
 *
 * Interposed symbols do not see calls inside libc: fopen() opens, fclose() writes, remove()
 * unlinks. So the journal diverts the system call itself. In libc a call is `mov $NUMBER, %eax`
 * (5 bytes) and `syscall`; moves of arguments may stand between them. The journal replaces the
 * first instruction with a jump to a stub. The stub executes those moves, runs the journal and
 * continues at the `syscall` in libc. So libc still handles cancellation, EINTR and errno, and
 * code that jumps to the `syscall` still finds it.
 */
#ifndef CKPT_JOURNAL_SITES_H
#define CKPT_JOURNAL_SITES_H

#include "ckpt/failure.h"

#include <stdint.h>

/* One system call of libc. */
struct ckpt_journal_site {
    uint64_t number; /* of the system call */
    uint64_t back;   /* address of its `syscall` instruction */
    uint64_t start;  /* address of the instruction that loads the number, now the jump */
    uint64_t again;  /* address in the stub where all arguments are in their registers */
};

/* Finds the code of libc. Returns 0 or -errno with the reason. Context: normal. */
int ckpt_journal_sites_find(struct ckpt_failure *failure);

/*
 * Diverts the calls of libc that can change files. Does so once; later calls return the first
 * result. No other thread may run in libc, so call it before threads exist, or quiesced.
 * Returns 0, or -errno with the reason and changes nothing.
 */
int ckpt_journal_sites_open(struct ckpt_failure *failure);

#endif
