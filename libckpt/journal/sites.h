/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sites.h - have the system calls of libc pass by the journal.
 *
 * Interposed symbols do not see what libc calls inside: fopen() opens, fclose()
 * writes, remove() unlinks. So the journal goes to the system call itself. In
 * libc a call is `mov $NUMBER, %eax` (5 bytes) and `syscall`; moves of arguments may
 * stand between them. The journal puts a jump in the place of the first. It leads to
 * a stub, which makes those moves, runs the journal and goes on at the `syscall`, in
 * libc. So cancellation, EINTR and errno stay libc's, and code that jumps to the
 * `syscall` still finds it.
 */
#ifndef CKPT_JOURNAL_SITES_H
#define CKPT_JOURNAL_SITES_H

#include "ckpt/failure.h"

#include <stdint.h>
#include <ucontext.h>

/* One system call of libc. */
struct ckpt_journal_site {
    uint64_t number; /* of the system call */
    uint64_t back;   /* address of its `syscall` instruction */
    uint64_t start;  /* address of what loads the number: of the jump */
    uint64_t again;  /* in the stub: all arguments are in their registers */
};

/* Finds the code of libc. 0 or -errno with the reason. Context: normal. */
int ckpt_journal_sites_find(struct ckpt_failure *failure);

/*
 * Diverts the calls of libc that can change files. Does so once; later calls
 * return the first result. No other thread may run in libc: before there are
 * any, or quiesced. 0 or -errno with the reason; then nothing has changed.
 */
int ckpt_journal_sites_open(struct ckpt_failure *failure);

/*
 * The number of the diverted call whose `syscall` instruction is at `address`, or
 * -1. Context: any but freestanding.
 */
long ckpt_journal_site_number(const void *address);

/*
 * A thread may be interrupted after the journal has looked at its call and
 * before the kernel does. If a checkpoint comes in between, the journal must
 * look again: has the context begin the call at its start. Does nothing
 * elsewhere. Context: quiesced, on the thread that was interrupted, when it is
 * about to go on.
 */
void ckpt_journal_site_rewind(ucontext_t *context);

#endif
