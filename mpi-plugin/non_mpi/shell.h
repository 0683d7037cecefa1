/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shell.h - recognise programs that only start others.
 */
#ifndef CKPT_SHELL_H
#define CKPT_SHELL_H

/*
 * Returns 1 if this process runs a shell. A shell cannot be saved while it
 * waits for its children, and a child may be mpirun, whose ranks are a separate
 * job. So a shell is not a rank. A program that it executes in its own place is
 * one. Context: normal.
 */
int ckpt_is_shell(void);

#endif
