/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * process_image.h - describe this stopped rank as a struct ckpt_snapshot.
 */
#ifndef CKPT_PROCESS_IMAGE_H
#define CKPT_PROCESS_IMAGE_H

#include "ckpt/failure.h"
#include "ckpt/snapshot.h"
#include "task/threads.h"

#include <stddef.h>

/* Reserves memory. Context: normal. Returns 0 or -errno. */
int ckpt_process_image_open(void);

/*
 * Describes the process; other threads are frozen. context: where the leader
 * goes on after a restart. The snapshot stays valid until the next call.
 * Returns 0; -EAGAIN if the signal interrupted the lower half while it changed
 * the list of its memory; else -errno with the reason, which names what cannot
 * be saved. Context: quiesced.
 */
int ckpt_process_image(struct ckpt_context *context,
                       struct ckpt_snapshot **snapshot_p,
                       struct ckpt_failure *failure);

/* Sets where the restorer enters the restored process, and the top of the stack it runs on.
 * Called once, before the first image. Context: normal. */
void ckpt_process_image_resume(void (*entry)(struct ckpt_resume_info *info), void *stack);

/* Returns the `context` of the last ckpt_process_image(). Context: any. */
struct ckpt_context *ckpt_process_image_goal(void);

/* Writes "program+0x123" for an address of code. Context: any. */
void ckpt_site_name(const void *site, char *text, size_t size);

/* Finishes a restart when all ranks have their memory, before the next
 * ckpt_process_image(). Context: quiesced. */
void ckpt_process_image_settle(void);

#endif
