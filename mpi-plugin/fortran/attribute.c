/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * attribute.c - Fortran bindings of attributes and key values (MPI 3.1, sections
 * 6.7 and 17.2.7), including those of MPI-1 with INTEGER values.
 */
#include "fortran/fortran.h"

#include "base/invariant.h"
#include "handles/attribute.h"
#include "handles/communicator.h"

#pragma GCC visibility push(default)

static void *object_of(enum ckpt_kind kind, MPI_Fint number)
{
    switch (kind) {
    case CKPT_COMM:
        return PMPI_Comm_f2c(number);
    case CKPT_DATATYPE:
        return PMPI_Type_f2c(number);
    default:
        CKPT_INVARIANT(kind == CKPT_WIN);
        return PMPI_Win_f2c(number);
    }
}

/* Errors of calls on datatypes go to MPI_COMM_WORLD's handler. */
static int result(enum ckpt_kind kind, void *object, int code, const char *name)
{
    if (code == MPI_SUCCESS) {
        return code;
    }
    return ckpt_error(kind == CKPT_DATATYPE ? NULL : object, code, name);
}

static int set(enum ckpt_kind kind, MPI_Fint number, int keyval,
               struct ckpt_value value, const char *name)
{
    void *object = object_of(kind, number);

    return result(kind, object, ckpt_attribute_set(object, keyval, value), name);
}

/* Reads an attribute that MPI defines: C gets pointers to integers, except for the
 * base of a window (MPI 3.1, section 11.2.6). */
static int get_predefined(enum ckpt_kind kind, MPI_Fint number, int keyval,
                          MPI_Aint *value, MPI_Fint *flag)
{
    void *pointer = NULL;
    int code = kind == CKPT_COMM ? PMPI_Comm_get_attr(PMPI_Comm_f2c(number),
                                                      keyval, &pointer, flag)
                                 : PMPI_Win_get_attr(PMPI_Win_f2c(number),
                                                     keyval, &pointer, flag);

    if (code != MPI_SUCCESS || !*flag) {
        return code;
    }
    if (kind == CKPT_WIN && keyval == MPI_WIN_BASE) {
        *value = (MPI_Aint)pointer;
    } else if (kind == CKPT_WIN && keyval == MPI_WIN_SIZE) {
        *value = *(MPI_Aint *)pointer;
    } else {
        *value = *(int *)pointer;
    }
    return code;
}

static int get(enum ckpt_kind kind, MPI_Fint number, int keyval, MPI_Aint *value,
               MPI_Fint *flag, const char *name)
{
    void *object = object_of(kind, number);
    struct ckpt_value *found;
    int code;

    if (kind != CKPT_DATATYPE && ckpt_keyval_predefined(keyval)) {
        return get_predefined(kind, number, keyval, value, flag);
    }
    code = ckpt_attribute_get(object, keyval, &found, flag);
    if (code == MPI_SUCCESS && *flag) {
        *value = ckpt_value_address(found);
    }
    return result(kind, object, code, name);
}

/* An extra state of Fortran, an integer, travels as the pointer of C. */
_Static_assert(sizeof(MPI_Aint) == sizeof(void *), "MPI_ADDRESS_KIND has the size of a pointer");

static int create(enum ckpt_kind kind, enum ckpt_language language, void *copy,
                  void *delete, MPI_Aint extra, int *keyval, const char *name)
{
    return result(kind, NULL,
                  ckpt_keyval_create(kind, language, copy, delete, (void *)extra,
                                     keyval),
                  name);
}

#define ATTRIBUTES(kind, lower, upper, mixed)                                 \
    void ompi_##lower##_create_keyval_f(void *copy, void *delete,             \
                                        MPI_Fint *keyval,                     \
                                        const MPI_Aint *extra,                \
                                        MPI_Fint *ierror)                     \
    {                                                                         \
        ckpt_fortran_return(ierror, create(kind, CKPT_FORTRAN, copy, delete,  \
                                           *extra, keyval,                    \
                                           "MPI_" #mixed "_create_keyval"));  \
    }                                                                         \
    CKPT_FORTRAN_NAMES(lower##_create_keyval, upper##_CREATE_KEYVAL,          \
                       mixed##_create_keyval);                                \
                                                                              \
    void ompi_##lower##_set_attr_f(const MPI_Fint *object,                    \
                                   const MPI_Fint *keyval,                    \
                                   const MPI_Aint *value, MPI_Fint *ierror)   \
    {                                                                         \
        struct ckpt_value new_value = {.language = CKPT_FORTRAN,              \
                                       .address = *value};                    \
                                                                              \
        ckpt_fortran_return(ierror, set(kind, *object, *keyval, new_value,    \
                                        "MPI_" #mixed "_set_attr"));          \
    }                                                                         \
    CKPT_FORTRAN_NAMES(lower##_set_attr, upper##_SET_ATTR, mixed##_set_attr); \
                                                                              \
    void ompi_##lower##_get_attr_f(const MPI_Fint *object,                    \
                                   const MPI_Fint *keyval, MPI_Aint *value,   \
                                   MPI_Fint *flag, MPI_Fint *ierror)          \
    {                                                                         \
        ckpt_fortran_return(ierror, get(kind, *object, *keyval, value, flag,  \
                                        "MPI_" #mixed "_get_attr"));          \
    }                                                                         \
    CKPT_FORTRAN_NAMES(lower##_get_attr, upper##_GET_ATTR, mixed##_get_attr)

ATTRIBUTES(CKPT_COMM, comm, COMM, Comm);
ATTRIBUTES(CKPT_DATATYPE, type, TYPE, Type);
ATTRIBUTES(CKPT_WIN, win, WIN, Win);

void ompi_keyval_create_f(void *copy, void *delete, MPI_Fint *keyval,
                          const MPI_Fint *extra, MPI_Fint *ierror)
{
    ckpt_fortran_return(ierror, create(CKPT_COMM, CKPT_FORTRAN_INTEGER, copy,
                                       delete, *extra, keyval,
                                       "MPI_Keyval_create"));
}
CKPT_FORTRAN_NAMES(keyval_create, KEYVAL_CREATE, Keyval_create);

void ompi_attr_put_f(const MPI_Fint *comm, const MPI_Fint *keyval,
                     const MPI_Fint *value, MPI_Fint *ierror)
{
    struct ckpt_value new_value = {.language = CKPT_FORTRAN_INTEGER,
                                   .integer = *value};

    ckpt_fortran_return(ierror,
                        set(CKPT_COMM, *comm, *keyval, new_value, "MPI_Attr_put"));
}
CKPT_FORTRAN_NAMES(attr_put, ATTR_PUT, Attr_put);

void ompi_attr_get_f(const MPI_Fint *comm, const MPI_Fint *keyval,
                     MPI_Fint *value, MPI_Fint *flag, MPI_Fint *ierror)
{
    MPI_Aint address = 0;
    int code = get(CKPT_COMM, *comm, *keyval, &address, flag, "MPI_Attr_get");

    if (code == MPI_SUCCESS && *flag) {
        *value = (MPI_Fint)address;
    }
    ckpt_fortran_return(ierror, code);
}
CKPT_FORTRAN_NAMES(attr_get, ATTR_GET, Attr_get);

/* The functions that mpif.h names. */

#define FUNCTIONS(lower, upper, type)                                       \
    void ompi_##lower##null_delete_fn_f(MPI_Fint *object, MPI_Fint *keyval, \
                                        type *value, type *extra,           \
                                        MPI_Fint *ierror)                   \
    {                                                                       \
        (void)object, (void)keyval, (void)value, (void)extra;               \
        *ierror = MPI_SUCCESS;                                              \
    }                                                                       \
    CKPT_FORTRAN_MANGLED(ompi_##lower##null_delete_fn_f,                    \
                         mpi_##lower##null_delete_fn,                       \
                         MPI_##upper##NULL_DELETE_FN);                      \
                                                                            \
    void ompi_##lower##null_copy_fn_f(MPI_Fint *object, MPI_Fint *keyval,   \
                                      type *extra, type *in, type *out,     \
                                      MPI_Fint *flag, MPI_Fint *ierror)     \
    {                                                                       \
        (void)object, (void)keyval, (void)extra, (void)in, (void)out;       \
        *flag = 0;                                                          \
        *ierror = MPI_SUCCESS;                                              \
    }                                                                       \
    CKPT_FORTRAN_MANGLED(ompi_##lower##null_copy_fn_f,                      \
                         mpi_##lower##null_copy_fn,                         \
                         MPI_##upper##NULL_COPY_FN);                        \
                                                                            \
    void ompi_##lower##dup_fn_f(MPI_Fint *object, MPI_Fint *keyval,         \
                                type *extra, type *in, type *out,           \
                                MPI_Fint *flag, MPI_Fint *ierror)           \
    {                                                                       \
        (void)object, (void)keyval, (void)extra;                            \
        *flag = 1;                                                          \
        *out = *in;                                                         \
        *ierror = MPI_SUCCESS;                                              \
    }                                                                       \
    CKPT_FORTRAN_MANGLED(ompi_##lower##dup_fn_f, mpi_##lower##dup_fn,       \
                         MPI_##upper##DUP_FN)

FUNCTIONS(comm_, COMM_, MPI_Aint);
FUNCTIONS(type_, TYPE_, MPI_Aint);
FUNCTIONS(win_, WIN_, MPI_Aint);
FUNCTIONS(, , MPI_Fint);
