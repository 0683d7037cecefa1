/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * persistent.h - persistent collectives (MPI 4.0, section 6.13).
 *
 * Ranks may start them in any order, so each has its own duplicate of the
 * communicator. They exist only in the upper half. A start begins the
 * nonblocking collective, which every MPI library has and which a cut can save
 * (cut/collectives/nonblocking.h).
 */
#ifndef CKPT_PERSISTENT_H
#define CKPT_PERSISTENT_H

#include "cut/collectives/nonblocking.h"

/* MPI_X_init of the lower half, with lower handles for `info` and `request`.
 * Runs with the lower thread pointer. Returns an MPI error code. */
typedef int ckpt_persistent_lower(const struct ckpt_nonblocking *call,
                                  MPI_Info info, MPI_Request *request);

/*
 * Ends the wrapper of MPI_X_init. call: the collective that each start begins;
 * copied, with its arrays. lower: has the library check the arguments.
 * Collective over the communicator. Context: normal, state IDLE. Returns an MPI
 * error code.
 */
int ckpt_persistent_init(const struct ckpt_nonblocking *call,
                         ckpt_persistent_lower *lower, MPI_Info info,
                         MPI_Request *request, const char *function, void *site);

/* MPI_Start and MPI_Request_free of such a request. Context: normal, between
 * ckpt_begin and ckpt_end. Return an MPI error code. */
int ckpt_persistent_start(MPI_Request request);
int ckpt_persistent_free(MPI_Request *request);

/*
 * Makes a duplicate of `comm`, topology included, for internal use; collective.
 * ckpt_release frees it. Context: normal, state IDLE; the caller calls ckpt_end
 * afterwards (wrap/communicator.c). Returns an MPI error code.
 */
int ckpt_communicator_duplicate(MPI_Comm comm, MPI_Comm *copy,
                                const char *function, void *site);

#endif
