/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * alone.h - a program that `ckpt run` has started without a launcher: the only
 * rank of its job.
 *
 * It is introduced to an agent before its main, and can be saved from then on,
 * without a lower half. If it calls MPI_Init after all, it parts from the agent
 * there and goes on as any rank of MPI.
 */
#ifndef CKPT_ALONE_H
#define CKPT_ALONE_H

#include "ckpt/snapshot.h"

#include <stddef.h>

/* 1 while this process is a rank without MPI: no function of the lower half may
 * be called, MPI_COMM_WORLD has no members. Context: any. */
int ckpt_alone(void);

/* MPI begins: parts from the agent. Does nothing for other programs. Context:
 * normal. */
void ckpt_alone_end(void);

/* After a restart, in place of loading a lower half: takes note of the new
 * launch. Context: quiesced. */
void ckpt_alone_resume(const struct ckpt_resume_info *info);

/* The name of the launch (cut/launch_name.h) of a program that began alone: 1;
 * else 0, and `name` is left as it is. Context: any. */
int ckpt_alone_launch_name(char *name, size_t size);

#endif
