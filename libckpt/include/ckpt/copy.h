/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * copy.h - how a frozen copy of a rank (libckpt/process/frozen_copy.h) is recognised.
 */
#ifndef CKPT_COPY_H
#define CKPT_COPY_H

/* Name of the process (PR_SET_NAME), as long as it is frozen or stands by. */
#define CKPT_COPY_NAME "ckpt-copy"

#endif
