/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * forked.h - the child of a fork() in the application: it is not the rank.
 */
#ifndef CKPT_FORKED_H
#define CKPT_FORKED_H

/* From now on children let the agent alone. Once per process, a restart
 * included. Context: normal. */
void ckpt_forked_open(void);

#endif
