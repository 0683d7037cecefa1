/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * launch_name.h - the name by which all ranks of a launch know it.
 */
#ifndef CKPT_LAUNCH_NAME_H
#define CKPT_LAUNCH_NAME_H

/* Bytes of a name, with its NUL. */
#define CKPT_LAUNCH_NAME_SIZE 256

/* Called when a program without MPI begins: from now on its identity (link/identity.h) is
 * the name. Context: normal. */
void ckpt_launch_name_alone(void);

/*
 * Chooses the name of the present launch (docs/protocol.md, section 1). With a PMIx launcher
 * it is the launcher's namespace. Else this rank makes a name, and rank 0's counts. Returns
 * NULL if all ranks have the same name, else the CKPT_LAUNCH_NAME_SIZE bytes that the caller
 * must overwrite with rank 0's. All ranks call this after MPI_Init and after each restart,
 * with a rank page. Context: normal or quiesced.
 */
char *ckpt_launch_name_choose(void);

/* Returns 1 if the ranks of the present launch must agree on its name over MPI. Context: any. */
int ckpt_launch_name_is_made(void);

/* The name last agreed on. Context: any. */
const char *ckpt_launch_name(void);

#endif
