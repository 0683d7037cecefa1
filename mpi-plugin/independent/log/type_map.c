/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * type_map.c - keep type maps with few ranges together with their datatypes.
 */
#include "independent/log/type_map.h"

#include "handles/kinds.h"
#include "runtime/crossing.h"

#include <stdlib.h>
#include <string.h>

/* Longer type maps are not kept: processing them takes long anyway. */
enum {
    MOST_RANGES = 64
};

/* One allocation, freed with the datatype. */
struct type_map {
    int64_t extent;
    MPI_Datatype element;
    uint32_t count; /* number of ranges; above the limit `range` is empty */
    struct ckpt_log_range range[];
};

static struct type_map *map_of(const struct ckpt_layout *one, int64_t extent)
{
    const uint32_t kept = one->count <= MOST_RANGES ? one->count : 0;
    struct type_map *map = malloc(sizeof(*map) + kept * sizeof(map->range[0]));

    if (map != NULL) {
        map->extent = extent;
        map->element = one->element == NULL ? NULL : ckpt_datatype_of(one->element);
        map->count = one->count;
        memcpy(map->range, one->range, kept * sizeof(map->range[0]));
    }
    return map;
}

/* Makes the type map of a type at its first use. */
static int find_out(MPI_Datatype type)
{
    MPI_Datatype lower = CKPT_LOWER(type);
    struct ckpt_layout one;
    MPI_Aint bound, extent;
    int code;

    ckpt_layout_begin(&one);
    CKPT_CALL(code, Type_get_extent, lower, &bound, &extent);
    if (code == MPI_SUCCESS) {
        code = ckpt_layout_add(&one, lower, 1);
    }
    if (code == MPI_SUCCESS) {
        type->map = map_of(&one, extent);
        code = type->map == NULL ? MPI_ERR_NO_MEM : MPI_SUCCESS;
    }
    ckpt_layout_free(&one);
    return code;
}

int ckpt_type_map_add(struct ckpt_layout *layout, MPI_Datatype type, int count,
                      MPI_Datatype *element)
{
    const int code = type->map == NULL ? find_out(type) : MPI_SUCCESS;
    const struct type_map *map = type->map;

    if (code != MPI_SUCCESS) {
        return code;
    }
    if (element != NULL) {
        *element = map->element;
    }
    if (map->count > MOST_RANGES) {
        return ckpt_layout_add(layout, CKPT_LOWER(type), count);
    }
    return ckpt_layout_repeat(layout, map->range, map->count, map->extent, count);
}

int ckpt_type_map_extent(MPI_Datatype type, int64_t *extent)
{
    const int code = type->map == NULL ? find_out(type) : MPI_SUCCESS;

    *extent = code == MPI_SUCCESS ? type->map->extent : 0;
    return code;
}
