/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * launch_name.h - the name by which all ranks of a launch know it.
 */
#ifndef CKPT_LAUNCH_NAME_H
#define CKPT_LAUNCH_NAME_H

/*
 * Chooses the name of the present launch (docs/protocol.md, section 1). With a
 * PMIx launcher it is the launcher's namespace. Else rank 0 makes a name and
 * broadcasts it over MPI. All ranks call this after MPI_Init and after each
 * restart. Returns 0, or -EPROTO if MPI fails: then the names differ. Context: normal or
 * quiesced, between ckpt_begin and ckpt_end.
 */
int ckpt_launch_name_agree(void);

/* The name last agreed on. Context: any. */
const char *ckpt_launch_name(void);

#endif
