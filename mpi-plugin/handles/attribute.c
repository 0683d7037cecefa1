/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * attribute.c - key values, attributes and their callbacks (MPI 3.1, 6.7).
 */
#include "handles/attribute.h"

#include "handles/attribute_functions.h"
#include "handles/communicator.h"
#include "handles/window.h"
#include "wrap/error_codes.h"
#include "wrap/wrapper.h"

#include <stdlib.h>

/* Key values of the library (MPI_TAG_UB ...) are small; ours begin here. */
#define FIRST_KEYVAL 1024

struct keyval {
    uint32_t kind;       /* CKPT_COMM, CKPT_DATATYPE, CKPT_WIN; 0: slot free */
    uint32_t references; /* 1 until freed + attributes that use it */
    struct ckpt_attribute_functions functions;
    void *owned; /* freed with it, or NULL */
};

static struct keyval *keyvals;
static int keyval_capacity;

/* What Open MPI says of a key that does not fit, although MPI_ERR_KEYVAL is
 * there for it. */
#define BAD_KEYVAL MPI_ERR_OTHER

/*
 * Threads may be here at once, and callbacks may come back here: all runs with
 * the guard, but for the callbacks, which may have changed anything.
 */

static struct keyval *keyval_get(int id, uint32_t kind)
{
    struct keyval *keyval;

    if (id < FIRST_KEYVAL || id - FIRST_KEYVAL >= keyval_capacity) {
        return NULL;
    }
    keyval = &keyvals[id - FIRST_KEYVAL];
    return keyval->kind == kind ? keyval : NULL;
}

/* 1 if there is such a key, of any kind. */
static int keyval_known(int id)
{
    return ckpt_keyval_predefined(id) ||
           (id >= FIRST_KEYVAL && id - FIRST_KEYVAL < keyval_capacity &&
            keyvals[id - FIRST_KEYVAL].kind != 0);
}

static void keyval_drop(struct keyval *keyval)
{
    if (--keyval->references == 0) {
        keyval->kind = 0;
        free(keyval->owned);
    }
}

int ckpt_keyval_predefined(int keyval)
{
    return keyval >= 0 && keyval < FIRST_KEYVAL;
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
    keyvals[i] = *keyval;
    *id_p = FIRST_KEYVAL + i;
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
    keyvals[keyval - FIRST_KEYVAL].owned = memory;
    ckpt_unguard();
}

static int keyval_free(uint32_t kind, int *id)
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
    link = attribute_find(handle, id); /* the callback may have changed it */
    if (*link == attribute) {
        *link = attribute->next;
        free(attribute);
        keyval_drop(keyval_get(id, handle->kind));
    }
    return MPI_SUCCESS;
}

static int attribute_delete(struct ckpt_handle *handle, int id)
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
    attribute = *attribute_find(handle, id);
    if (keyval_known(id)) {
        *flag = attribute != NULL; /* never, with a key for other objects */
        if (attribute != NULL) {
            *value = &attribute->value;
        }
        code = MPI_SUCCESS;
    }
    ckpt_unguard();
    return code;
}

static int set_pointer(struct ckpt_handle *handle, int id, void *pointer)
{
    struct ckpt_value value = {.language = CKPT_C, .pointer = pointer};

    return ckpt_attribute_set(handle, id, value);
}

static int get_pointer(struct ckpt_handle *handle, int id, void *pointer,
                       int *flag)
{
    struct ckpt_value *value;
    int code = ckpt_attribute_get(handle, id, &value, flag);

    if (code == MPI_SUCCESS && *flag) {
        *(void **)pointer = ckpt_value_pointer(value);
    }
    return code;
}

/* Copies one attribute, guarded. */
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

/*
 * The attributes that MPI itself defines for communicators are ints of the
 * library; the application gets the address of our copy, which outlives a
 * lower half.
 */
static int predefined_get(MPI_Comm communicator, int id, void *value_p, int *flag)
{
    static int copies[FIRST_KEYVAL];
    int *lower = NULL;
    int code;

    ckpt_begin();
    CKPT_CALL(code, Comm_get_attr, CKPT_LOWER(communicator), id, &lower, flag);
    if (code == MPI_SUCCESS && *flag) {
        copies[id] = id == MPI_LASTUSEDCODE ? ckpt_error_last_used() : *lower;
        *(int **)value_p = &copies[id];
    }
    ckpt_end();
    return code;
}

int PMPI_Comm_create_keyval(MPI_Comm_copy_attr_function *copy,
                            MPI_Comm_delete_attr_function *delete, int *keyval,
                            void *extra)
{
    CKPT_INSIDE("MPI_Comm_create_keyval");
    CKPT_REQUIRE(copy != NULL && delete != NULL && keyval != NULL, NULL,
                 MPI_ERR_ARG, "MPI_Comm_create_keyval");
    int code = ckpt_keyval_create(CKPT_COMM, CKPT_C, (void *)copy,
                                  (void *)delete, extra, keyval);

    return code == MPI_SUCCESS ? code
                               : ckpt_error(NULL, code, "MPI_Comm_create_keyval");
}
CKPT_ALIAS(Comm_create_keyval);

int PMPI_Comm_free_keyval(int *keyval)
{
    CKPT_INSIDE("MPI_Comm_free_keyval");
    CKPT_REQUIRE(keyval != NULL, NULL, MPI_ERR_ARG, "MPI_Comm_free_keyval");
    int code = keyval_free(CKPT_COMM, keyval);

    return code == MPI_SUCCESS ? code
                               : ckpt_error(NULL, code, "MPI_Comm_free_keyval");
}
CKPT_ALIAS(Comm_free_keyval);

int PMPI_Comm_set_attr(MPI_Comm comm, int keyval, void *value)
{
    CKPT_INSIDE("MPI_Comm_set_attr");
    CKPT_REQUIRE(ckpt_communicator_valid(comm), NULL, MPI_ERR_COMM,
                 "MPI_Comm_set_attr");
    int code = set_pointer(&comm->handle, keyval, value);

    return code == MPI_SUCCESS ? code : ckpt_error(comm, code, "MPI_Comm_set_attr");
}
CKPT_ALIAS(Comm_set_attr);

int PMPI_Comm_get_attr(MPI_Comm comm, int keyval, void *value, int *flag)
{
    CKPT_INSIDE("MPI_Comm_get_attr");
    CKPT_REQUIRE(ckpt_communicator_valid(comm), NULL, MPI_ERR_COMM,
                 "MPI_Comm_get_attr");
    CKPT_REQUIRE(value != NULL && flag != NULL, comm, MPI_ERR_ARG,
                 "MPI_Comm_get_attr");
    int code = ckpt_keyval_predefined(keyval)
                   ? predefined_get(comm, keyval, value, flag)
                   : get_pointer(&comm->handle, keyval, value, flag);

    return code == MPI_SUCCESS ? code : ckpt_error(comm, code, "MPI_Comm_get_attr");
}
CKPT_ALIAS(Comm_get_attr);

int PMPI_Comm_delete_attr(MPI_Comm comm, int keyval)
{
    CKPT_INSIDE("MPI_Comm_delete_attr");
    CKPT_REQUIRE(ckpt_communicator_valid(comm), NULL, MPI_ERR_COMM,
                 "MPI_Comm_delete_attr");
    int code = attribute_delete(&comm->handle, keyval);

    return code == MPI_SUCCESS ? code
                               : ckpt_error(comm, code, "MPI_Comm_delete_attr");
}
CKPT_ALIAS(Comm_delete_attr);

int PMPI_Type_create_keyval(MPI_Type_copy_attr_function *copy,
                            MPI_Type_delete_attr_function *delete, int *keyval,
                            void *extra)
{
    CKPT_INSIDE("MPI_Type_create_keyval");
    CKPT_REQUIRE(copy != NULL && delete != NULL && keyval != NULL, NULL,
                 MPI_ERR_ARG, "MPI_Type_create_keyval");
    int code = ckpt_keyval_create(CKPT_DATATYPE, CKPT_C, (void *)copy,
                                  (void *)delete, extra, keyval);

    return code == MPI_SUCCESS ? code
                               : ckpt_error(NULL, code, "MPI_Type_create_keyval");
}
CKPT_ALIAS(Type_create_keyval);

int PMPI_Type_free_keyval(int *keyval)
{
    CKPT_INSIDE("MPI_Type_free_keyval");
    CKPT_REQUIRE(keyval != NULL, NULL, MPI_ERR_ARG, "MPI_Type_free_keyval");
    int code = keyval_free(CKPT_DATATYPE, keyval);

    return code == MPI_SUCCESS ? code
                               : ckpt_error(NULL, code, "MPI_Type_free_keyval");
}
CKPT_ALIAS(Type_free_keyval);

int PMPI_Type_set_attr(MPI_Datatype type, int keyval, void *value)
{
    CKPT_INSIDE("MPI_Type_set_attr");
    CKPT_REQUIRE(ckpt_datatype_valid(type), NULL, MPI_ERR_TYPE,
                 "MPI_Type_set_attr");
    int code = set_pointer(&type->handle, keyval, value);

    return code == MPI_SUCCESS ? code : ckpt_error(NULL, code, "MPI_Type_set_attr");
}
CKPT_ALIAS(Type_set_attr);

int PMPI_Type_get_attr(MPI_Datatype type, int keyval, void *value, int *flag)
{
    CKPT_INSIDE("MPI_Type_get_attr");
    CKPT_REQUIRE(ckpt_datatype_valid(type), NULL, MPI_ERR_TYPE,
                 "MPI_Type_get_attr");
    CKPT_REQUIRE(value != NULL && flag != NULL, NULL, MPI_ERR_ARG,
                 "MPI_Type_get_attr");
    int code = get_pointer(&type->handle, keyval, value, flag);

    return code == MPI_SUCCESS ? code : ckpt_error(NULL, code, "MPI_Type_get_attr");
}
CKPT_ALIAS(Type_get_attr);

int PMPI_Type_delete_attr(MPI_Datatype type, int keyval)
{
    CKPT_INSIDE("MPI_Type_delete_attr");
    CKPT_REQUIRE(ckpt_datatype_valid(type), NULL, MPI_ERR_TYPE,
                 "MPI_Type_delete_attr");
    int code = attribute_delete(&type->handle, keyval);

    return code == MPI_SUCCESS ? code
                               : ckpt_error(NULL, code, "MPI_Type_delete_attr");
}
CKPT_ALIAS(Type_delete_attr);

int PMPI_Win_create_keyval(MPI_Win_copy_attr_function *copy,
                           MPI_Win_delete_attr_function *delete, int *keyval,
                           void *extra)
{
    CKPT_INSIDE("MPI_Win_create_keyval");
    CKPT_REQUIRE(copy != NULL && delete != NULL && keyval != NULL, NULL,
                 MPI_ERR_ARG, "MPI_Win_create_keyval");
    int code = ckpt_keyval_create(CKPT_WIN, CKPT_C, (void *)copy,
                                  (void *)delete, extra, keyval);

    return code == MPI_SUCCESS ? code
                               : ckpt_error(NULL, code, "MPI_Win_create_keyval");
}
CKPT_ALIAS(Win_create_keyval);

int PMPI_Win_free_keyval(int *keyval)
{
    CKPT_INSIDE("MPI_Win_free_keyval");
    CKPT_REQUIRE(keyval != NULL, NULL, MPI_ERR_ARG, "MPI_Win_free_keyval");
    int code = keyval_free(CKPT_WIN, keyval);

    return code == MPI_SUCCESS ? code
                               : ckpt_error(NULL, code, "MPI_Win_free_keyval");
}
CKPT_ALIAS(Win_free_keyval);

int PMPI_Win_set_attr(MPI_Win win, int keyval, void *value)
{
    CKPT_INSIDE("MPI_Win_set_attr");
    CKPT_REQUIRE(ckpt_window_valid(win), NULL, MPI_ERR_WIN, "MPI_Win_set_attr");
    int code = set_pointer(&win->handle, keyval, value);

    return code == MPI_SUCCESS ? code : ckpt_error(win, code, "MPI_Win_set_attr");
}
CKPT_ALIAS(Win_set_attr);

/* What MPI itself defines, where the application may read it for ever; NULL if
 * it is something else. The base of a window is a value and not an address of
 * one. */
static void *window_predefined(MPI_Win win, int keyval)
{
    switch (keyval) {
    case MPI_WIN_SIZE:
        return &win->size;
    case MPI_WIN_DISP_UNIT:
        return &win->unit;
    case MPI_WIN_CREATE_FLAVOR:
        return &win->flavor;
    case MPI_WIN_MODEL:
        return &win->model;
    default:
        return NULL;
    }
}

int PMPI_Win_get_attr(MPI_Win win, int keyval, void *value, int *flag)
{
    CKPT_INSIDE("MPI_Win_get_attr");
    CKPT_REQUIRE(ckpt_window_valid(win), NULL, MPI_ERR_WIN, "MPI_Win_get_attr");
    CKPT_REQUIRE(value != NULL && flag != NULL, win, MPI_ERR_ARG,
                 "MPI_Win_get_attr");
    int code = MPI_SUCCESS;

    if (!ckpt_window_valid(win)) {
        code = MPI_ERR_WIN;
    } else if (window_predefined(win, keyval) != NULL) {
        *(void **)value = window_predefined(win, keyval);
        *flag = 1;
    } else if (keyval == MPI_WIN_BASE) {
        *(void **)value = win->base;
        *flag = 1;
    } else {
        code = get_pointer(&win->handle, keyval, value, flag);
    }
    return code == MPI_SUCCESS ? code : ckpt_error(win, code, "MPI_Win_get_attr");
}
CKPT_ALIAS(Win_get_attr);

int PMPI_Win_delete_attr(MPI_Win win, int keyval)
{
    CKPT_INSIDE("MPI_Win_delete_attr");
    CKPT_REQUIRE(ckpt_window_valid(win), NULL, MPI_ERR_WIN,
                 "MPI_Win_delete_attr");
    int code = attribute_delete(&win->handle, keyval);

    return code == MPI_SUCCESS ? code
                               : ckpt_error(win, code, "MPI_Win_delete_attr");
}
CKPT_ALIAS(Win_delete_attr);

/* The names that MPI-2.0 deprecated. */

int PMPI_Keyval_create(MPI_Copy_function *copy, MPI_Delete_function *delete,
                       int *keyval, void *extra)
{
    CKPT_REQUIRE(keyval != NULL, NULL, MPI_ERR_KEYVAL, "MPI_Keyval_create");
    return PMPI_Comm_create_keyval((MPI_Comm_copy_attr_function *)copy,
                                   (MPI_Comm_delete_attr_function *)delete,
                                   keyval, extra);
}
CKPT_ALIAS(Keyval_create);

int PMPI_Keyval_free(int *keyval)
{
    CKPT_REQUIRE(keyval != NULL, NULL, MPI_ERR_KEYVAL, "MPI_Keyval_free");
    return PMPI_Comm_free_keyval(keyval);
}
CKPT_ALIAS(Keyval_free);

int PMPI_Attr_put(MPI_Comm comm, int keyval, void *value)
{
    return PMPI_Comm_set_attr(comm, keyval, value);
}
CKPT_ALIAS(Attr_put);

int PMPI_Attr_get(MPI_Comm comm, int keyval, void *value, int *flag)
{
    return PMPI_Comm_get_attr(comm, keyval, value, flag);
}
CKPT_ALIAS(Attr_get);

int PMPI_Attr_delete(MPI_Comm comm, int keyval)
{
    return PMPI_Comm_delete_attr(comm, keyval);
}
CKPT_ALIAS(Attr_delete);
