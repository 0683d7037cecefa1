/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * type_map.h - the bytes that an application's datatype describes, computed once: types do
 * not change, only their lower handles do.
 */
#ifndef CKPT_TYPE_MAP_H
#define CKPT_TYPE_MAP_H

#include "independent/log/layout.h"

#pragma GCC visibility push(hidden)

/*
 * Adds `count` elements of a datatype at address 0 to a layout. If `element` is not NULL,
 * sets *element to the application's handle of the first predefined type in it, or NULL.
 * Between begin and end. Returns an MPI error code.
 */
int ckpt_type_map_add(struct ckpt_layout *layout, MPI_Datatype type, int count,
                      MPI_Datatype *element);

/* Returns the extent of a predefined datatype. Between begin and end. Returns an MPI error
 * code. */
int ckpt_type_map_extent(MPI_Datatype type, int64_t *extent);

#pragma GCC visibility pop

#endif
