/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * memory_holder.h - a process that has the same memory as this one, and waits for its end.
 *
 * The kernel frees the memory of a process before it tells anybody of its death, and before an
 * execve returns. That takes 25 to 46 ms a GiB on the machine of docs/benchmarks.md. With a holder
 * the process ends at once: the holder has the memory last. It ends after the process, and the
 * kernel then frees the memory, with a lower priority.
 *
 * The program has no child more, and the holder has no descriptors. Its stack is a page.
 */
#ifndef CKPT_MEMORY_HOLDER_H
#define CKPT_MEMORY_HOLDER_H

/* The name of its process (PR_SET_NAME). */
#define CKPT_MEMORY_HOLDER_NAME "ckpt-holder"

/*
 * Starts a holder if this process has none. The holder ends when the leader ends, or executes
 * another program; so the leader calls this. Returns 0, or -errno: then the process ends as without
 * one. Context: normal or quiesced.
 */
int ckpt_memory_holder_start(void);

/* This memory has become that of another process, a restored one or a copy, which has no holder.
 * Context: any. */
void ckpt_memory_holder_gone(void);

#endif
