/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * identity.h - identify the process that `ckpt run` has started.
 *
 * Every process that the program starts inherits its environment, and with it
 * our library; only one of these processes is the program. `ckpt run` puts its
 * identity into CKPT_NON_MPI: process id and start time, "%010u-%020lu". execve
 * does not change it, and no other process of this host ever has the same.
 */
#ifndef CKPT_IDENTITY_H
#define CKPT_IDENTITY_H

#include <stddef.h>

#define CKPT_IDENTITY_VARIABLE "CKPT_NON_MPI"
#define CKPT_IDENTITY_SIZE     32 /* 10 + 1 + 20 digits and the NUL */

/* Writes the identity of this process; empty if /proc cannot be read. Context:
 * any, upper half. */
void ckpt_identity(char text[CKPT_IDENTITY_SIZE]);

/*
 * Called after a restart: sets the variable in the program's environment to the
 * identity of the new process, so that a program it executes is recognised,
 * too. Does nothing if the program has removed the variable. Context: quiesced.
 */
void ckpt_identity_renew(char *const environment[]);

#endif
