/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * attribute.c - MPI's functions for key values and attributes (MPI 3.1, section
 * 6.7 and, deprecated, chapter 15).
 */
#include "handles/attribute.h"

#include "base/invariant.h"
#include "handles/communicator.h"
#include "handles/error_codes.h"
#include "handles/window.h"
#include "handles/wrapper.h"

/* The result of a function. An error goes to the error handler of `comm`, which may be
 * a window, or NULL for MPI_COMM_WORLD's handler. */
#define RESULT(comm, code, name) \
    ((code) == MPI_SUCCESS ? MPI_SUCCESS : ckpt_error(comm, code, name))

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

/*
 * The attributes that MPI itself defines for communicators are ints of the library. The
 * application gets the address of our copy, which outlives a lower half.
 */
static int predefined_get(MPI_Comm communicator, int id, void *value_p, int *flag)
{
    static int copies[CKPT_FIRST_KEYVAL];
    int *lower = NULL;
    int code;

    CKPT_INVARIANT(id >= 0 && id < CKPT_FIRST_KEYVAL);
    ckpt_begin();
    CKPT_CALL(code, Comm_get_attr, CKPT_LOWER(communicator), id, &lower, flag);
    if (code == MPI_SUCCESS && *flag) {
        copies[id] = id == MPI_LASTUSEDCODE ? ckpt_error_last_used() : *lower;
        *(int **)value_p = &copies[id];
    }
    ckpt_end();
    return code;
}

static int Comm_get(MPI_Comm comm, int keyval, void *value, int *flag)
{
    return ckpt_keyval_predefined(keyval)
               ? predefined_get(comm, keyval, value, flag)
               : get_pointer(&comm->handle, keyval, value, flag);
}

static int Type_get(MPI_Datatype type, int keyval, void *value, int *flag)
{
    return get_pointer(&type->handle, keyval, value, flag);
}

/* Sets *value to an attribute that MPI itself defines, in memory that stays valid.
 * Returns 0 for any other key. */
static int window_predefined(MPI_Win win, int keyval, void **value)
{
    switch (keyval) {
    case MPI_WIN_BASE: /* the value itself, not its address */
        *value = win->base;
        return 1;
    case MPI_WIN_SIZE:
        *value = &win->size;
        return 1;
    case MPI_WIN_DISP_UNIT:
        *value = &win->unit;
        return 1;
    case MPI_WIN_CREATE_FLAVOR:
        *value = &win->flavor;
        return 1;
    case MPI_WIN_MODEL:
        *value = &win->model;
        return 1;
    default:
        return 0;
    }
}

static int Win_get(MPI_Win win, int keyval, void *value, int *flag)
{
    if (!window_predefined(win, keyval, value)) {
        return get_pointer(&win->handle, keyval, value, flag);
    }
    *flag = 1;
    return MPI_SUCCESS;
}

/*
 * The functions that are the same for each kind of object. Parameters: X of
 * MPI_X_set_attr, the type of its handle, its kind, how to check the handle, and the
 * object that gets its errors (an expression of `object`).
 */
#define KEYVALS_AND_ATTRIBUTES(X, type, kind, valid, bad, where)             \
    int PMPI_##X##_create_keyval(MPI_##X##_copy_attr_function *copy,         \
                                 MPI_##X##_delete_attr_function *delete,     \
                                 int *keyval, void *extra)                   \
    {                                                                        \
        CKPT_INSIDE("MPI_" #X "_create_keyval");                             \
        CKPT_REQUIRE(copy != NULL && delete != NULL && keyval != NULL, NULL, \
                     MPI_ERR_ARG, "MPI_" #X "_create_keyval");               \
        int code = ckpt_keyval_create(kind, CKPT_C, (void *)copy,            \
                                      (void *)delete, extra, keyval);        \
                                                                             \
        return RESULT(NULL, code, "MPI_" #X "_create_keyval");               \
    }                                                                        \
    CKPT_ALIAS(X##_create_keyval);                                           \
                                                                             \
    int PMPI_##X##_free_keyval(int *keyval)                                  \
    {                                                                        \
        CKPT_INSIDE("MPI_" #X "_free_keyval");                               \
        CKPT_REQUIRE(keyval != NULL, NULL, MPI_ERR_ARG,                      \
                     "MPI_" #X "_free_keyval");                              \
        int code = ckpt_keyval_free(kind, keyval);                           \
                                                                             \
        return RESULT(NULL, code, "MPI_" #X "_free_keyval");                 \
    }                                                                        \
    CKPT_ALIAS(X##_free_keyval);                                             \
                                                                             \
    int PMPI_##X##_set_attr(type object, int keyval, void *pointer)          \
    {                                                                        \
        CKPT_INSIDE("MPI_" #X "_set_attr");                                  \
        CKPT_REQUIRE(valid(object), NULL, bad, "MPI_" #X "_set_attr");       \
        struct ckpt_value value = {.language = CKPT_C, .pointer = pointer};  \
        int code = ckpt_attribute_set(&object->handle, keyval, value);       \
                                                                             \
        return RESULT(where, code, "MPI_" #X "_set_attr");                   \
    }                                                                        \
    CKPT_ALIAS(X##_set_attr);                                                \
                                                                             \
    int PMPI_##X##_get_attr(type object, int keyval, void *value, int *flag) \
    {                                                                        \
        CKPT_INSIDE("MPI_" #X "_get_attr");                                  \
        CKPT_REQUIRE(valid(object), NULL, bad, "MPI_" #X "_get_attr");       \
        CKPT_REQUIRE(value != NULL && flag != NULL, where, MPI_ERR_ARG,      \
                     "MPI_" #X "_get_attr");                                 \
        int code = X##_get(object, keyval, value, flag);                     \
                                                                             \
        return RESULT(where, code, "MPI_" #X "_get_attr");                   \
    }                                                                        \
    CKPT_ALIAS(X##_get_attr);                                                \
                                                                             \
    int PMPI_##X##_delete_attr(type object, int keyval)                      \
    {                                                                        \
        CKPT_INSIDE("MPI_" #X "_delete_attr");                               \
        CKPT_REQUIRE(valid(object), NULL, bad, "MPI_" #X "_delete_attr");    \
        int code = ckpt_attribute_delete(&object->handle, keyval);           \
                                                                             \
        return RESULT(where, code, "MPI_" #X "_delete_attr");                \
    }                                                                        \
    CKPT_ALIAS(X##_delete_attr)

KEYVALS_AND_ATTRIBUTES(Comm, MPI_Comm, CKPT_COMM, ckpt_communicator_valid,
                       MPI_ERR_COMM, object);
KEYVALS_AND_ATTRIBUTES(Type, MPI_Datatype, CKPT_DATATYPE, ckpt_datatype_valid,
                       MPI_ERR_TYPE, NULL);
KEYVALS_AND_ATTRIBUTES(Win, MPI_Win, CKPT_WIN, ckpt_window_valid, MPI_ERR_WIN,
                       object);

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
    CKPT_INSIDE("MPI_Attr_get");
    if (ckpt_communicator_valid(comm) && keyval == MPI_KEYVAL_INVALID && flag != NULL) {
        *flag = 0;
        return ckpt_error(comm, MPI_ERR_OTHER, "MPI_Attr_get"); /* as Open MPI */
    }
    return PMPI_Comm_get_attr(comm, keyval, value, flag);
}
CKPT_ALIAS(Attr_get);

int PMPI_Attr_delete(MPI_Comm comm, int keyval)
{
    return PMPI_Comm_delete_attr(comm, keyval);
}
CKPT_ALIAS(Attr_delete);
