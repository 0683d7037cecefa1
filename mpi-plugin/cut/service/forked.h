/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * forked.h - the child of a fork() in the application: it is not the rank.
 */
#ifndef CKPT_FORKED_H
#define CKPT_FORKED_H

/* Makes children of fork() disconnect from the agent. Called once per process,
 * not again after a restart. Context: normal. */
void ckpt_forked_open(void);

#endif
