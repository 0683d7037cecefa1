/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * resume.h - bring the saved process back to life.
 */
#ifndef CKPT_RESUME_H
#define CKPT_RESUME_H

#include "ckpt/snapshot.h"

/* Entered by the restorer on the resume stack, with all saved memory in place
 * and no lower half. Loads a lower half, makes the MPI objects again, and goes
 * on in the context that was described last (ckpt_process_image). Never returns. */
void ckpt_resume(struct ckpt_resume_info *info) __attribute__((noreturn));

/* Top of the stack that ckpt_resume runs on. */
void *ckpt_resume_stack(void);

#endif
