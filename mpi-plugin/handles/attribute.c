/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * attribute.c - the table of key values, and the attributes of each object (MPI
 * 3.1, section 6.7).
 */
#include "handles/attribute.h"

#include "base/invariant.h"
#include "handles/attribute_functions.h"
#include "handles/wrapper.h"

#include <stdlib.h>

struct keyval {
    uint32_t kind;       /* CKPT_COMM, CKPT_DATATYPE, CKPT_WIN; 0: slot free */
    uint32_t references; /* 1 until freed, + 1 per attribute that uses it */
    struct ckpt_attribute_functions functions;
    void *owned; /* freed with it, or NULL */
};

static struct keyval *keyvals;
static int keyval_capacity;

/* Open MPI's error code for a key of another kind, instead of
 * MPI_ERR_KEYVAL. */
#define BAD_KEYVAL MPI_ERR_OTHER

/*
 * Several threads may be here, and callbacks may call these functions again.
 * All code runs with the guard. Only the callbacks run without it, and they may
 * have changed anything.
 */

static struct keyval *keyval_get(int id, uint32_t kind)
{
    struct keyval *keyval;

    if (id < CKPT_FIRST_KEYVAL || id - CKPT_FIRST_KEYVAL >= keyval_capacity) {
        return NULL;
    }
    keyval = &keyvals[id - CKPT_FIRST_KEYVAL];
    return keyval->kind == kind ? keyval : NULL;
}

/* Returns 1 if the key exists, for any kind of object. */
static int keyval_known(int id)
{
    return ckpt_keyval_predefined(id) ||
           (id >= CKPT_FIRST_KEYVAL && id - CKPT_FIRST_KEYVAL < keyval_capacity &&
            keyvals[id - CKPT_FIRST_KEYVAL].kind != 0);
}

static void keyval_drop(struct keyval *keyval)
{
    CKPT_INVARIANT(keyval->kind != 0 && keyval->references > 0);
    if (--keyval->references == 0) {
        keyval->kind = 0;
        free(keyval->owned);
    }
}

static int keyval_add(const struct keyval *keyval, int *id_p)
{
    int i;

    for (i = 0; i < keyval_capacity && keyvals[i].kind != 0; i++) {
    }
    if (i == keyval_capacity) {
        int capacity = keyval_capacity == 0 ? 16 : 2 * keyval_capacity;
        struct keyval *grown = realloc(keyvals, capacity * sizeof(*keyvals));

        if (grown == NULL) {
            return MPI_ERR_NO_MEM;
        }
        for (int j = keyval_capacity; j < capacity; j++) {
            grown[j].kind = 0;
        }
        keyvals = grown;
        keyval_capacity = capacity;
    }
    CKPT_INVARIANT(i < keyval_capacity && keyvals[i].kind == 0 && keyval->references == 1);
    keyvals[i] = *keyval;
    *id_p = CKPT_FIRST_KEYVAL + i;
    return MPI_SUCCESS;
}

int ckpt_keyval_create(enum ckpt_kind kind, enum ckpt_language language,
                       void *copy, void *delete, void *extra, int *id_p)
{
    const struct keyval keyval = {
        kind, 1, {language, copy, delete, extra}, NULL};
    int code;

    ckpt_guard();
    code = keyval_add(&keyval, id_p);
    ckpt_unguard();
    return code;
}

void ckpt_keyval_own(int keyval, void *memory)
{
    ckpt_guard();
    CKPT_INVARIANT(keyval >= CKPT_FIRST_KEYVAL && keyval - CKPT_FIRST_KEYVAL < keyval_capacity);
    keyvals[keyval - CKPT_FIRST_KEYVAL].owned = memory;
    ckpt_unguard();
}

int ckpt_keyval_free(enum ckpt_kind kind, int *id)
{
    struct keyval *keyval;

    ckpt_guard();
    keyval = keyval_get(*id, kind);
    if (keyval != NULL) {
        keyval_drop(keyval);
    }
    ckpt_unguard();
    if (keyval == NULL) {
        return BAD_KEYVAL;
    }
    *id = MPI_KEYVAL_INVALID;
    return MPI_SUCCESS;
}

static struct ckpt_attribute **attribute_find(struct ckpt_handle *handle, int id)
{
    struct ckpt_attribute **link = &handle->attributes;

    while (*link != NULL && (*link)->keyval != id) {
        link = &(*link)->next;
    }
    return link;
}

static int delete_guarded(struct ckpt_handle *handle, int id)
{
    struct keyval *keyval = keyval_get(id, handle->kind);
    struct ckpt_attribute **link = attribute_find(handle, id);
    struct ckpt_attribute *attribute = *link;
    struct ckpt_attribute_functions functions;
    struct ckpt_value value;
    int code;

    if (keyval == NULL || attribute == NULL) {
        return BAD_KEYVAL;
    }
    functions = keyval->functions;
    value = attribute->value;
    ckpt_unguard();
    code = ckpt_attribute_call_delete(&functions, handle, id, &value);
    ckpt_guard();
    if (code != MPI_SUCCESS) {
        return code;
    }
    link = attribute_find(handle, id); /* the callback may change the list */
    if (*link == attribute) {
        *link = attribute->next;
        free(attribute);
        keyval_drop(keyval_get(id, handle->kind));
    }
    return MPI_SUCCESS;
}

int ckpt_attribute_delete(struct ckpt_handle *handle, int id)
{
    int code;

    ckpt_guard();
    code = delete_guarded(handle, id);
    ckpt_unguard();
    return code;
}

static int set_guarded(struct ckpt_handle *handle, int id,
                       struct ckpt_value value)
{
    struct ckpt_attribute **link = attribute_find(handle, id);

    if (keyval_get(id, handle->kind) == NULL) {
        return BAD_KEYVAL;
    }
    if (*link != NULL) {
        int code = delete_guarded(handle, id);

        if (code != MPI_SUCCESS) {
            return code;
        }
        link = attribute_find(handle, id);
    }
    *link = calloc(1, sizeof(**link));
    if (*link == NULL) {
        return MPI_ERR_NO_MEM;
    }
    (*link)->keyval = id;
    (*link)->value = value;
    keyval_get(id, handle->kind)->references++;
    return MPI_SUCCESS;
}

int ckpt_attribute_set(struct ckpt_handle *handle, int id,
                       struct ckpt_value value)
{
    int code;

    ckpt_guard();
    code = set_guarded(handle, id, value);
    ckpt_unguard();
    return code;
}

int ckpt_attribute_get(struct ckpt_handle *handle, int id,
                       struct ckpt_value **value, int *flag)
{
    struct ckpt_attribute *attribute;
    int code = BAD_KEYVAL;

    if (id == MPI_KEYVAL_INVALID) {
        return MPI_ERR_KEYVAL;
    }
    ckpt_guard();
    *flag = 0;
    attribute = *attribute_find(handle, id);
    if (keyval_known(id)) {
        *flag = attribute != NULL; /* stays 0 with a key for other objects */
        if (attribute != NULL) {
            *value = &attribute->value;
        }
        code = MPI_SUCCESS;
    }
    ckpt_unguard();
    return code;
}

/* Copies one attribute. The guard is held, but not during the callback. */
static int copy_guarded(struct ckpt_handle *from, struct ckpt_handle *to,
                        const struct ckpt_attribute *attribute)
{
    const int id = attribute->keyval;
    const struct ckpt_attribute_functions functions =
        keyval_get(id, from->kind)->functions;
    struct ckpt_value in = attribute->value, out = {0};
    int flag = 0, code;

    ckpt_unguard();
    code = ckpt_attribute_call_copy(&functions, from, id, &in, &out, &flag);
    ckpt_guard();
    return code == MPI_SUCCESS && flag ? set_guarded(to, id, out) : code;
}

int ckpt_attributes_copy(struct ckpt_handle *from, struct ckpt_handle *to)
{
    struct ckpt_attribute *attribute;
    int code = MPI_SUCCESS;

    ckpt_guard();
    for (attribute = from->attributes;
         attribute != NULL && code == MPI_SUCCESS; attribute = attribute->next) {
        code = copy_guarded(from, to, attribute);
    }
    ckpt_unguard();
    return code;
}

int ckpt_attributes_delete(struct ckpt_handle *handle)
{
    int code = MPI_SUCCESS;

    ckpt_guard();
    while (handle->attributes != NULL && code == MPI_SUCCESS) {
        struct ckpt_attribute *last = handle->attributes;

        while (last->next != NULL) {
            last = last->next;
        }
        code = delete_guarded(handle, last->keyval);
    }
    ckpt_unguard();
    return code;
}
