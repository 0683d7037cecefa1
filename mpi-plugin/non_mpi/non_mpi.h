/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * non_mpi.h - a program that `ckpt run` has started without a launcher: the only
 * rank of its job.
 *
 * It attaches to an agent before its main, and can be saved from then on,
 * without a lower half. If it calls MPI_Init later, it detaches from the agent
 * there and goes on as any rank of MPI.
 */
#ifndef CKPT_NON_MPI_H
#define CKPT_NON_MPI_H

#include "ckpt/snapshot.h"

/* Called when MPI begins: detaches from the agent. Does nothing for other
 * programs. Context: normal. */
void ckpt_non_mpi_end(void);

/* Called after a restart instead of loading a lower half: records the new
 * launch. Context: quiesced. */
void ckpt_non_mpi_resume(const struct ckpt_resume_info *info);

#endif
