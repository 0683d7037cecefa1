/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * info.c - info objects as lists of keys and values.
 *
 * Calls on infos are plain (generated) wrappers. An info may change after it
 * was recorded, so its recipe is recorded again before each cut.
 */
#include "handles/info.h"

#include "base/arena.h"
#include "base/invariant.h"
#include "handles/kinds.h"
#include "runtime/crossing.h"

#include <errno.h>
#include <string.h>

/* Reads an entry. If its key is too long for programs built with Open MPI
 * (MPICH has such keys), *flag is 0: the program cannot see it either. */
static int entry_read(MPI_Info lower, int index, char *key, char *value,
                      int *flag)
{
    int code;

    *flag = 0;

    CKPT_CALL(code, Info_get_nthkey, lower, index, key);
    if (code == MPI_SUCCESS) {
        CKPT_CALL(code, Info_get, lower, key, MPI_MAX_INFO_VAL, value, flag);
    }
    return code;
}

char *ckpt_info_pairs(MPI_Info lower, size_t *size)
{
    char key[MPI_MAX_INFO_KEY + 1], value[MPI_MAX_INFO_VAL + 1];
    size_t space = 1, used = 0;
    char *pairs;
    int code = MPI_SUCCESS, count = 0, flag, i;

    if (lower != CKPT_LOWER(MPI_INFO_NULL)) {
        CKPT_CALL(code, Info_get_nkeys, lower, &count);
    }
    for (i = 0; i < count && code == MPI_SUCCESS; i++) {
        code = entry_read(lower, i, key, value, &flag);
        space += flag ? strlen(key) + strlen(value) + 2 : 0;
    }
    pairs = code == MPI_SUCCESS ? ckpt_memory_alloc(space) : NULL;
    if (pairs == NULL) {
        return NULL;
    }
    for (i = 0; i < count; i++) {
        (void)entry_read(lower, i, key, value, &flag);
        if (!flag) {
            continue;
        }
        CKPT_INVARIANT(used + strlen(key) + strlen(value) + 2 < space);
        strcpy(pairs + used, key);
        used += strlen(key) + 1;
        strcpy(pairs + used, value);
        used += strlen(value) + 1;
    }
    CKPT_INVARIANT(used == space - 1);
    pairs[used] = '\0';
    *size = space;
    return pairs;
}

/* Replaces old pairs, if there are any, by new ones. */
static void replace(char **pairs, size_t *size, char *by, size_t by_size)
{
    if (*pairs != NULL) {
        ckpt_memory_free(*pairs, *size);
    }
    *pairs = by;
    *size = by_size;
}

void ckpt_info_take(char **pairs, size_t *size, MPI_Info *lower)
{
    size_t taken_size;
    char *taken = ckpt_info_pairs(*lower, &taken_size);
    int ignored;

    CKPT_CALL(ignored, Info_free, lower);
    (void)ignored;
    if (taken != NULL) {
        replace(pairs, size, taken, taken_size);
    }
}

int ckpt_info_add(MPI_Info lower, const char *pairs, const char *but)
{
    const char *key = pairs;
    int code = MPI_SUCCESS;

    while (code == MPI_SUCCESS && *key != '\0') {
        const char *value = key + strlen(key) + 1;

        if (but == NULL || strcmp(key, but) != 0) {
            code = CKPT_FUNCTION(Info_set)(lower, key, value);
        }
        key = value + strlen(value) + 1;
    }
    return code;
}

int ckpt_info_set_pairs(MPI_Info lower, const char *pairs)
{
    uintptr_t upper = ckpt_enter();
    int code = ckpt_info_add(lower, pairs, NULL);

    ckpt_leave(upper);
    return code;
}

const char *ckpt_info_value(const char *pairs, const char *wanted)
{
    const char *key = pairs;

    while (*key != '\0') {
        const char *value = key + strlen(key) + 1;

        if (strcmp(key, wanted) == 0) {
            return value;
        }
        key = value + strlen(value) + 1;
    }
    return NULL;
}

int ckpt_info_is_true(const char *pairs, const char *wanted)
{
    const char *value = ckpt_info_value(pairs, wanted);

    return value != NULL && strcmp(value, "true") == 0;
}

int ckpt_info_merge(char **pairs, size_t *size, MPI_Info info)
{
    MPI_Info both = NULL;
    size_t added_size, all_size;
    char *added = ckpt_info_pairs(info, &added_size), *all = NULL;
    int code, ignored;

    if (added == NULL) {
        return -ENOMEM;
    }
    CKPT_CALL(code, Info_create, &both);
    if (code == MPI_SUCCESS && *pairs != NULL) {
        code = ckpt_info_set_pairs(both, *pairs);
    }
    if (code == MPI_SUCCESS) {
        code = ckpt_info_set_pairs(both, added);
    }
    if (code == MPI_SUCCESS) {
        all = ckpt_info_pairs(both, &all_size);
    }
    CKPT_CALL(ignored, Info_free, &both);
    (void)ignored;
    ckpt_memory_free(added, added_size);
    if (all == NULL) {
        return -ENOMEM;
    }
    replace(pairs, size, all, all_size);
    return 0;
}

int ckpt_info_record(MPI_Info info)
{
    size_t size;
    char *recipe = ckpt_info_pairs(CKPT_LOWER(info), &size);

    if (recipe == NULL) {
        return -ENOMEM;
    }
    if (info->handle.recipe != NULL) {
        ckpt_memory_free(info->handle.recipe, info->handle.recipe_size);
    }
    info->handle.recipe = recipe;
    info->handle.recipe_size = size;
    return 0;
}

int ckpt_info_rebuild(MPI_Info info)
{
    MPI_Info lower = NULL;
    int code;

    CKPT_CALL(code, Info_create, &lower);
    if (code == MPI_SUCCESS) {
        code = ckpt_info_set_pairs(lower, info->handle.recipe);
    }
    info->handle.lower = lower;
    return code;
}
