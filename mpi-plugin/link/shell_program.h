/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shell_program.h - the arguments that a rank gives to ckpt-shell (shell/shell.c) when it becomes a
 * shell. Numbers are decimal. Both belong to one installation: there is no version.
 */
#ifndef CKPT_SHELL_PROGRAM_H
#define CKPT_SHELL_PROGRAM_H

#define CKPT_SHELL_PROGRAM "ckpt-shell" /* also the name of the process, at most 15 characters */

enum ckpt_shell_argument {
    CKPT_SHELL_NAME = 0,
    CKPT_SHELL_RANK,
    CKPT_SHELL_EPOCH,     /* of BECOME_SHELL */
    CKPT_SHELL_SUCCESSOR, /* pid */
    CKPT_SHELL_SOCKET,    /* path on which an agent of the launch listens */
    CKPT_SHELL_AGENT,     /* descriptor: the connection to the agent */
    CKPT_SHELL_KEPT,      /* and up to CKPT_SHELL_KEPT_MOST descriptors of the launcher */
};
#define CKPT_SHELL_KEPT_MOST 8
#define CKPT_SHELL_ARGUMENTS (CKPT_SHELL_KEPT + CKPT_SHELL_KEPT_MOST)

#endif
