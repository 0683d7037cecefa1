/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * identity.h - which process it was that `ckpt run` has started.
 *
 * All that a program starts inherits its environment, and with it our library;
 * only one process of them is the program. `ckpt run` puts its identity into
 * CKPT_ALONE: process id and time of its start, "%010u-%020lu". It stays what
 * it is over execve, and no other process of this host ever has the same.
 */
#ifndef CKPT_IDENTITY_H
#define CKPT_IDENTITY_H

#include <stddef.h>

#define CKPT_IDENTITY_VARIABLE "CKPT_ALONE"
#define CKPT_IDENTITY_SIZE     32 /* 10 + 1 + 20 digits and the NUL */

/* The identity of this process; empty if /proc cannot be read. Context: any,
 * upper half. */
void ckpt_identity(char text[CKPT_IDENTITY_SIZE]);

/*
 * After a restart: the variable of the program's environment tells the identity
 * of the new process, so that a program it executes is known as well. Does
 * nothing if the program has taken the variable away. Context: quiesced.
 */
void ckpt_identity_renew(char *const environment[]);

#endif
