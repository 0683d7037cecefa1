/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * early_info.c - infos before MPI has begun: keys and values, each with its
 * NUL, and one more NUL at the end.
 */
#include "handles/early_info.h"

#include "base/arena.h"
#include "base/invariant.h"
#include "handles/kinds.h"

#include <string.h>

static int is_valid(MPI_Info info)
{
    return info != NULL && info != MPI_INFO_NULL && info->handle.recipe != NULL;
}

static char *next_pair(char *key)
{
    char *value = key + strlen(key) + 1;

    return value + strlen(value) + 1;
}

/* Returns the pair with this key, or NULL. */
static char *find(MPI_Info info, const char *key)
{
    char *pair = info->handle.recipe;

    while (*pair != '\0' && strcmp(pair, key) != 0) {
        pair = next_pair(pair);
    }
    return *pair == '\0' ? NULL : pair;
}

/* Grows the pairs by `more` bytes at the end. */
static int grow(MPI_Info info, size_t more)
{
    const size_t size = info->handle.recipe_size;
    char *larger = ckpt_memory_alloc(size + more);

    if (larger == NULL) {
        return MPI_ERR_NO_MEM;
    }
    memset(larger, 0, size + more);
    memcpy(larger, info->handle.recipe, size);
    ckpt_memory_free(info->handle.recipe, size);
    info->handle.recipe = larger;
    info->handle.recipe_size = size + more;
    return MPI_SUCCESS;
}

static int create(MPI_Info *info_p, const void *pairs, size_t size,
                  const char *creator)
{
    MPI_Info info = ckpt_handle_create(CKPT_INFO, sizeof(*info), NULL, creator,
                                       __builtin_return_address(0));

    if (info == NULL) {
        return MPI_ERR_NO_MEM;
    }
    info->handle.recipe = ckpt_memory_alloc(size);
    info->handle.recipe_size = size;
    if (info->handle.recipe == NULL) {
        ckpt_handle_destroy(&info->handle);
        return MPI_ERR_NO_MEM;
    }
    memcpy(info->handle.recipe, pairs, size);
    *info_p = info;
    return MPI_SUCCESS;
}

int ckpt_early_Info_create(MPI_Info *info)
{
    return info == NULL ? MPI_ERR_INFO : create(info, "", 1, "MPI_Info_create");
}

int ckpt_early_Info_dup(MPI_Info info, MPI_Info *newinfo)
{
    if (!is_valid(info) || newinfo == NULL) {
        return MPI_ERR_INFO;
    }
    return create(newinfo, info->handle.recipe, info->handle.recipe_size,
                  "MPI_Info_dup");
}

int ckpt_early_Info_free(MPI_Info *info)
{
    if (info == NULL || !is_valid(*info)) {
        return MPI_ERR_INFO;
    }
    ckpt_release(*info);
    *info = MPI_INFO_NULL;
    return MPI_SUCCESS;
}

int ckpt_early_Info_delete(MPI_Info info, const char *key)
{
    char *pair, *next, *pairs, *end;

    if (!is_valid(info)) {
        return MPI_ERR_INFO;
    }
    pair = key == NULL ? NULL : find(info, key);
    if (pair == NULL) {
        return MPI_ERR_INFO_NOKEY;
    }
    pairs = info->handle.recipe;
    next = next_pair(pair);
    CKPT_INVARIANT(next < pairs + info->handle.recipe_size);
    end = pairs + info->handle.recipe_size;
    memmove(pair, next, (size_t)(end - next));
    memset(end - (next - pair), 0, (size_t)(next - pair)); /* a later pair ends here */
    return MPI_SUCCESS;
}

int ckpt_early_Info_set(MPI_Info info, const char *key, const char *value)
{
    char *end;
    int code;

    if (!is_valid(info)) {
        return MPI_ERR_INFO;
    }
    if (key == NULL || key[0] == '\0' || strlen(key) > MPI_MAX_INFO_KEY) {
        return MPI_ERR_INFO_KEY;
    }
    if (value == NULL || strlen(value) > MPI_MAX_INFO_VAL) {
        return MPI_ERR_INFO_VALUE;
    }
    (void)ckpt_early_Info_delete(info, key);
    code = grow(info, strlen(key) + strlen(value) + 2);
    if (code == MPI_SUCCESS) {
        for (end = info->handle.recipe; *end != '\0'; end = next_pair(end)) {
        }
        CKPT_INVARIANT(end + strlen(key) + strlen(value) + 2 <
                       (char *)info->handle.recipe + info->handle.recipe_size);
        strcpy(end, key);
        strcpy(end + strlen(key) + 1, value);
    }
    return code;
}

/* Sets *value to the value of a key, or NULL. Returns an MPI error code. */
static int look_up(MPI_Info info, const char *key, const char **value)
{
    char *pair;

    if (!is_valid(info)) {
        return MPI_ERR_INFO;
    }
    if (key == NULL) {
        return MPI_ERR_INFO_KEY;
    }
    pair = find(info, key);
    *value = pair == NULL ? NULL : pair + strlen(pair) + 1;
    return MPI_SUCCESS;
}

int ckpt_early_Info_get(MPI_Info info, const char *key, int valuelen,
                        char *value, int *flag)
{
    const char *found = NULL;
    int code = look_up(info, key, &found);

    if (code != MPI_SUCCESS || flag == NULL || value == NULL || valuelen < 0) {
        return code == MPI_SUCCESS ? MPI_ERR_ARG : code;
    }
    *flag = found != NULL;
    if (found != NULL) {
        value[0] = '\0';
        strncat(value, found, (size_t)valuelen);
    }
    return MPI_SUCCESS;
}

int ckpt_early_Info_get_valuelen(MPI_Info info, const char *key, int *valuelen,
                                 int *flag)
{
    const char *found = NULL;
    int code = look_up(info, key, &found);

    if (code != MPI_SUCCESS || flag == NULL || valuelen == NULL) {
        return code == MPI_SUCCESS ? MPI_ERR_ARG : code;
    }
    *flag = found != NULL;
    if (found != NULL) {
        *valuelen = (int)strlen(found);
    }
    return MPI_SUCCESS;
}

/* Returns the nth pair; *count: the number of pairs before it, or of all
 * pairs. */
static char *nth(MPI_Info info, int n, int *count)
{
    char *pair = info->handle.recipe;

    for (*count = 0; *pair != '\0' && *count != n; ++*count) {
        pair = next_pair(pair);
    }
    return pair;
}

int ckpt_early_Info_get_nkeys(MPI_Info info, int *nkeys)
{
    if (!is_valid(info) || nkeys == NULL) {
        return is_valid(info) ? MPI_ERR_ARG : MPI_ERR_INFO;
    }
    (void)nth(info, -1, nkeys);
    return MPI_SUCCESS;
}

int ckpt_early_Info_get_nthkey(MPI_Info info, int n, char *key)
{
    const char *pair;
    int count;

    if (!is_valid(info)) {
        return MPI_ERR_INFO;
    }
    pair = nth(info, n, &count);
    if (n < 0 || key == NULL || *pair == '\0') {
        return n < 0 || key == NULL ? MPI_ERR_ARG : MPI_ERR_INFO_KEY;
    }
    strcpy(key, pair);
    return MPI_SUCCESS;
}

int ckpt_early_infos_rebuild(void)
{
    struct ckpt_handle *handle = ckpt_live(CKPT_INFO);
    int code = MPI_SUCCESS;

    for (; handle != NULL && code == MPI_SUCCESS;
         handle = ckpt_live_next(handle)) {
        code = ckpt_info_rebuild((MPI_Info)handle);
    }
    return code;
}
