/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hints.h - what a library has been told of a communicator by way of infos.
 *
 * What MPI_Comm_get_info shows is the library's own choice; so it is asked,
 * whenever a call that all members make may have changed it, and a restart tells
 * the new library the same.
 */
#ifndef CKPT_HINTS_H
#define CKPT_HINTS_H

#include "handles/communicator.h"

/* Notes what the library knows of a communicator now. Context: normal, between
 * ckpt_begin and ckpt_end. */
void ckpt_hints_note(MPI_Comm comm);

/* The same for one that was made of another, if that one has hints. */
static inline void ckpt_hints_inherit(MPI_Comm from, MPI_Comm to)
{
    if (__builtin_expect(from->hinted, 0)) {
        ckpt_hints_note(to);
    }
}

/* What MPI_Comm_idup_with_info is to tell of a duplicate that is being made.
 * Returns an MPI error code. Context: normal, between begin and end. */
int ckpt_hints_expect(MPI_Comm twin, MPI_Info info);

/* A lower info object with the hints of a communicator; with the lower thread
 * pointer. Returns an MPI error code. */
int ckpt_hints_info(MPI_Comm comm, MPI_Info *lower);

/*
 * Replaces a lower communicator that was made anew by a duplicate that has the
 * hints; by all members, also those that have freed it and know no hints.
 * _predefined tells those of MPI_COMM_WORLD and MPI_COMM_SELF. Both return an
 * MPI error code. Context: quiesced.
 */
int ckpt_hints_rebuild(MPI_Comm comm, MPI_Comm *lower);
int ckpt_hints_rebuild_predefined(void);

#endif
