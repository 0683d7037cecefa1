/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * init.h - how MPI begins without MPI_Init.
 */
#ifndef CKPT_INIT_H
#define CKPT_INIT_H

/* Called by MPI_Session_init: starts MPI with this thread level if it has not
 * begun. MPI then ends with the process. Context: normal. */
void ckpt_init_session(int required);

#endif
