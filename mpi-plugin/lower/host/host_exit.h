/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host_exit.h - exit handlers that the MPI library has registered.
 *
 * Exports to the lower half: __cxa_atexit.
 */
#ifndef CKPT_HOST_EXIT_H
#define CKPT_HOST_EXIT_H

/*
 * Runs the functions that the MPI library has registered with atexit(), last
 * first, each once. The program ends in the application's libc, which does not
 * know the lower half. So this is called after MPI_Finalize, or when the lower
 * half itself ends the process. Context: normal (lower half).
 */
__attribute__((visibility("default"))) void ckpt_host_exit_run(void);

#endif
