/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * diverted.h - system calls of libc that other code examines first. The journal diverts them
 * (journal/sites.h) and says so here.
 */
#ifndef CKPT_DIVERTED_H
#define CKPT_DIVERTED_H

#include <ucontext.h>

/*
 * Sets who knows the diverted calls; once, before the first is diverted. number: returns the
 * number of the diverted call whose `syscall` instruction is at the address, or -1; any context
 * but freestanding. rewind: makes a context restart a call that was examined and that the
 * kernel has not begun; quiesced, on the interrupted thread. Context: normal, or quiesced.
 */
void ckpt_diverted_by(long (*number)(const void *address), void (*rewind)(ucontext_t *context));

/* Call them; -1, or nothing, if no call is diverted. Context: as above. */
long ckpt_diverted_number(const void *address);
void ckpt_diverted_rewind(ucontext_t *context);

#endif
