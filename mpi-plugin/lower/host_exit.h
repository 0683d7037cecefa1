/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host_exit.h - what the MPI library wants done when the program ends.
 *
 * Exports to the lower half: __cxa_atexit.
 */
#ifndef CKPT_HOST_EXIT_H
#define CKPT_HOST_EXIT_H

/*
 * The program ends by way of the application's libc, which knows nothing of
 * the lower half. So this runs what the MPI library has registered with
 * atexit(), last first, each once: after MPI_Finalize, or when the lower half
 * itself ends the process. Context: normal (lower half).
 */
__attribute__((visibility("default"))) void ckpt_host_exit_run(void);

#endif
