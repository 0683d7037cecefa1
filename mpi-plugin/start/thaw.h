/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * thaw.h - a frozen copy of a rank comes to life, and is the rank (docs/protocol.md, section 14).
 */
#ifndef CKPT_START_THAW_H
#define CKPT_START_THAW_H

#include "ckpt/failure.h"
#include "ckpt/snapshot.h"

/* The calls of struct ckpt_frozen_copy_calls (process/frozen_copy.h). Context: quiesced, in the
 * copy. The copy was made while the rank stood still, described. */
int ckpt_may_thaw(struct ckpt_failure *failure);
int ckpt_may_stand(struct ckpt_failure *failure);
void ckpt_thaw(struct ckpt_resume_info *info, int agent) __attribute__((noreturn));

#endif
