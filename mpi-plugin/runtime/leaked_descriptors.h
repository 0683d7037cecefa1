/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * leaked_descriptors.h - descriptors that a launcher forgot to close.
 */
#ifndef CKPT_LEAKED_DESCRIPTORS_H
#define CKPT_LEAKED_DESCRIPTORS_H

/*
 * MPICH's hydra_pmi_proxy leaves its own pipes and sockets open in the ranks, and
 * Slurm's slurmstepd a socket of its PMIx plugin. No program knows of them, and
 * none of them can be saved: closes those that the proxy has open too, but not the
 * standard streams and the rank's own channel to it (PMI_FD). Does nothing under
 * other launchers.
 * Context: normal, at MPI_Init.
 */
void ckpt_leaked_descriptors_close(void);

#endif
