/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shell.h - programs that only start others.
 */
#ifndef CKPT_SHELL_H
#define CKPT_SHELL_H

/*
 * 1 if this process runs a shell. While it waits for what it has started it
 * cannot be saved, and that may be mpirun, whose ranks are a job of their own:
 * so a shell is none. What it executes in its own place is. Context: normal.
 */
int ckpt_is_shell(void);

#endif
