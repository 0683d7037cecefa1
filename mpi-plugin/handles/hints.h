/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hints.h - the infos that the application gave a communicator.
 *
 * The library decides which hints MPI_Comm_get_info shows. So this code asks
 * the library after each call of all members that may have changed them, and a
 * restart gives the new library the same hints.
 */
#ifndef CKPT_HINTS_H
#define CKPT_HINTS_H

#include "handles/communicator.h"

/* Records the library's present hints of a communicator. Context: normal,
 * between ckpt_begin and ckpt_end. */
void ckpt_hints_note(MPI_Comm comm);

/* The same for the communicator `to`, made from `from`, if `from` has hints. */
static inline void ckpt_hints_inherit(MPI_Comm from, MPI_Comm to)
{
    if (__builtin_expect(from->hinted, 0)) {
        ckpt_hints_note(to);
    }
}

/* Records the hints that MPI_Comm_idup_with_info gives to a duplicate that is
 * being made. Returns an MPI error code. Context: normal, between begin and
 * end. */
int ckpt_hints_expect(MPI_Comm twin, MPI_Info info);

/* Makes a lower info object with the hints of a communicator. Runs with the
 * lower thread pointer. Returns an MPI error code. */
int ckpt_hints_info(MPI_Comm comm, MPI_Info *lower);

/*
 * Replaces a rebuilt lower communicator by a duplicate that has the hints. All
 * members call it, also those that have freed the communicator and know no
 * hints. _predefined sets the hints of MPI_COMM_WORLD and MPI_COMM_SELF. Both
 * return an MPI error code. Context: quiesced.
 */
int ckpt_hints_rebuild(MPI_Comm comm, MPI_Comm *lower);
int ckpt_hints_rebuild_predefined(void);

#endif
