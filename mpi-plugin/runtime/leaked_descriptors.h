/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * leaked_descriptors.h - close descriptors that a launcher left open by
 * mistake.
 */
#ifndef CKPT_LEAKED_DESCRIPTORS_H
#define CKPT_LEAKED_DESCRIPTORS_H

/*
 * MPICH's hydra_pmi_proxy leaves its own pipes and sockets open in the ranks,
 * and Slurm's slurmstepd leaves a socket of its PMIx plugin. No program uses
 * them, and none of them can be saved. So this closes the descriptors that the
 * proxy has open too, except the standard streams and the rank's own channel to
 * the proxy (PMI_FD). Does nothing under other launchers.
 * Context: normal, at MPI_Init.
 */
void ckpt_leaked_descriptors_close(void);

#endif
