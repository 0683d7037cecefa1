/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * type_map.h - what bytes a datatype of the application means, found out once: types do not
 * change, but for the library's handles of them.
 */
#ifndef CKPT_TYPE_MAP_H
#define CKPT_TYPE_MAP_H

#include "independent/layout.h"

#pragma GCC visibility push(hidden)

/*
 * Adds `count` elements of a datatype at address 0 to a layout. *element, which may be NULL,
 * is then the predefined type that comes first in it, the application's; NULL if there is
 * none. Between begin and end. Returns an MPI error code.
 */
int ckpt_type_map_add(struct ckpt_layout *layout, MPI_Datatype type, int count,
                      MPI_Datatype *element);

/* The extent of a predefined datatype. Between begin and end. Returns an MPI error code. */
int ckpt_type_map_extent(MPI_Datatype type, int64_t *extent);

#pragma GCC visibility pop

#endif
