/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * info.c - info objects as lists of keys and values.
 *
 * Calls on infos are plain (generated) wrappers. An info may change after it
 * was recorded, so its recipe is taken anew before each cut.
 */
#include "base/arena.h"
#include "handles/kinds.h"
#include "runtime/crossing.h"

#include <errno.h>
#include <string.h>

/* Recipe: pairs of NUL-terminated strings, then an empty key. */

static int entry_read(MPI_Info lower, int index, char *key, char *value)
{
    int code, flag;

    CKPT_CALL(code, Info_get_nthkey, lower, index, key);
    if (code == MPI_SUCCESS) {
        CKPT_CALL(code, Info_get, lower, key, MPI_MAX_INFO_VAL, value, &flag);
    }
    return code;
}

int ckpt_info_record(MPI_Info info)
{
    char key[MPI_MAX_INFO_KEY + 1], value[MPI_MAX_INFO_VAL + 1];
    MPI_Info lower = CKPT_LOWER(info);
    size_t space = 1, used = 0;
    char *recipe;
    int code, count = 0, i;

    CKPT_CALL(code, Info_get_nkeys, lower, &count);
    for (i = 0; i < count && code == MPI_SUCCESS; i++) {
        code = entry_read(lower, i, key, value);
        space += strlen(key) + strlen(value) + 2;
    }
    recipe = code == MPI_SUCCESS ? ckpt_memory_alloc(space) : NULL;
    if (recipe == NULL) {
        return -ENOMEM;
    }
    for (i = 0; i < count; i++) {
        (void)entry_read(lower, i, key, value);
        strcpy(recipe + used, key);
        used += strlen(key) + 1;
        strcpy(recipe + used, value);
        used += strlen(value) + 1;
    }
    recipe[used] = '\0';
    if (info->handle.recipe != NULL) {
        ckpt_memory_free(info->handle.recipe, info->handle.recipe_size);
    }
    info->handle.recipe = recipe;
    info->handle.recipe_size = space;
    return 0;
}

int ckpt_info_rebuild(MPI_Info info)
{
    const char *key = info->handle.recipe;
    MPI_Info lower = NULL;
    int code;

    CKPT_CALL(code, Info_create, &lower);
    while (code == MPI_SUCCESS && *key != '\0') {
        const char *value = key + strlen(key) + 1;

        CKPT_CALL(code, Info_set, lower, key, value);
        key = value + strlen(value) + 1;
    }
    info->handle.lower = lower;
    return code;
}
