/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * group.c - groups as lists of ranks of MPI_COMM_WORLD.
 *
 * The calls on groups are plain (generated) wrappers; before a cut
 * ckpt_group_record() reads the list of members from the lower half.
 */
#include "base/arena.h"
#include "base/invariant.h"
#include "handles/kinds.h"
#include "runtime/crossing.h"

#include <errno.h>

int ckpt_group_record(MPI_Group group)
{
    MPI_Group lower = CKPT_LOWER(group), world;
    int code, size, error = 0, i;
    size_t space;
    int *ranks;

    CKPT_CALL(code, Group_size, lower, &size);
    space = (2 * (size_t)size + 2) * sizeof(int);
    ranks = ckpt_memory_alloc(space);
    if (code != MPI_SUCCESS || ranks == NULL) {
        return -ENOMEM;
    }
    for (i = 0; i < size; i++) {
        ranks[1 + size + i] = i;
    }
    ranks[0] = size;
    CKPT_CALL(code, Comm_group, CKPT_LOWER(MPI_COMM_WORLD), &world);
    CKPT_CALL(code, Group_translate_ranks, lower, size, ranks + 1 + size, world,
              ranks + 1);
    for (i = 0; i < size; i++) {
        error = ranks[1 + i] == MPI_UNDEFINED ? -ENOTSUP : error;
    }
    CKPT_CALL(code, Group_free, &world);
    if (error != 0) {
        ckpt_memory_free(ranks, space);
        return error;
    }
    group->handle.recipe = ranks;
    group->handle.recipe_size = space;
    return 0;
}

int ckpt_group_rebuild(MPI_Group group)
{
    const int *ranks = group->handle.recipe;
    MPI_Group world, lower = NULL;
    int code, ignored;

    CKPT_INVARIANT(ranks[0] >= 0 &&
                   (2 * (size_t)ranks[0] + 2) * sizeof(int) == group->handle.recipe_size);
    CKPT_CALL(code, Comm_group, CKPT_LOWER(MPI_COMM_WORLD), &world);
    if (code == MPI_SUCCESS) {
        CKPT_CALL(code, Group_incl, world, ranks[0], ranks + 1, &lower);
        CKPT_CALL(ignored, Group_free, &world);
        (void)ignored;
    }
    group->handle.lower = lower;
    return code;
}
