/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * attribute_functions.c - call copy and delete functions, and define those that
 * mpi.h names.
 */
#include "handles/attribute_functions.h"

/* The functions of the three kinds of object differ only in the object's
 * type. */
typedef int copy_function(void *object, int keyval, void *extra, void *in,
                          void *out, int *flag);
typedef int delete_function(void *object, int keyval, void *value, void *extra);

typedef void address_copy(MPI_Fint *object, MPI_Fint *keyval, MPI_Aint *extra,
                          MPI_Aint *in, MPI_Aint *out, MPI_Fint *flag,
                          MPI_Fint *ierror);
typedef void address_delete(MPI_Fint *object, MPI_Fint *keyval, MPI_Aint *value,
                            MPI_Aint *extra, MPI_Fint *ierror);

typedef void integer_copy(MPI_Fint *object, MPI_Fint *keyval, MPI_Fint *extra,
                          MPI_Fint *in, MPI_Fint *out, MPI_Fint *flag,
                          MPI_Fint *ierror);
typedef void integer_delete(MPI_Fint *object, MPI_Fint *keyval, MPI_Fint *value,
                            MPI_Fint *extra, MPI_Fint *ierror);

static MPI_Fint number_of(struct ckpt_handle *handle)
{
    switch (handle->kind) {
    case CKPT_COMM:
        return PMPI_Comm_c2f((MPI_Comm)(void *)handle);
    case CKPT_DATATYPE:
        return PMPI_Type_c2f((MPI_Datatype)(void *)handle);
    default:
        return PMPI_Win_c2f((MPI_Win)(void *)handle);
    }
}

static int copy_c(const struct ckpt_attribute_functions *functions,
                  struct ckpt_handle *handle, int keyval, struct ckpt_value *in,
                  struct ckpt_value *out, int *flag)
{
    return ((copy_function *)functions->copy)(handle, keyval, functions->extra,
                                              ckpt_value_pointer(in),
                                              &out->pointer, flag);
}

static int copy_address(const struct ckpt_attribute_functions *functions,
                        struct ckpt_handle *handle, int keyval,
                        struct ckpt_value *in, struct ckpt_value *out, int *flag)
{
    MPI_Aint address = ckpt_value_address(in);
    MPI_Aint extra = (MPI_Aint)functions->extra;
    MPI_Fint object = number_of(handle), ierror = MPI_SUCCESS;

    ((address_copy *)functions->copy)(&object, &keyval, &extra, &address,
                                      &out->address, flag, &ierror);
    return ierror;
}

static int copy_integer(const struct ckpt_attribute_functions *functions,
                        struct ckpt_handle *handle, int keyval,
                        struct ckpt_value *in, struct ckpt_value *out, int *flag)
{
    MPI_Fint integer = (MPI_Fint)ckpt_value_address(in);
    MPI_Fint extra = (MPI_Fint)(MPI_Aint)functions->extra;
    MPI_Fint object = number_of(handle), ierror = MPI_SUCCESS;

    ((integer_copy *)functions->copy)(&object, &keyval, &extra, &integer,
                                      &out->integer, flag, &ierror);
    return ierror;
}

int ckpt_attribute_call_copy(const struct ckpt_attribute_functions *functions,
                             struct ckpt_handle *handle, int keyval,
                             struct ckpt_value *in, struct ckpt_value *out,
                             int *flag)
{
    *flag = 0;
    if (functions->copy == NULL) {
        return MPI_SUCCESS;
    }
    *out = (struct ckpt_value){.language = functions->language};
    switch (functions->language) {
    case CKPT_FORTRAN:
        return copy_address(functions, handle, keyval, in, out, flag);
    case CKPT_FORTRAN_INTEGER:
        return copy_integer(functions, handle, keyval, in, out, flag);
    default:
        return copy_c(functions, handle, keyval, in, out, flag);
    }
}

int ckpt_attribute_call_delete(const struct ckpt_attribute_functions *functions,
                               struct ckpt_handle *handle, int keyval,
                               struct ckpt_value *value)
{
    MPI_Aint address = ckpt_value_address(value);
    MPI_Aint extra = (MPI_Aint)functions->extra;
    MPI_Fint integer = (MPI_Fint)address, integer_extra = (MPI_Fint)extra;
    MPI_Fint object, ierror = MPI_SUCCESS;

    if (functions->delete == NULL) {
        return MPI_SUCCESS;
    }
    if (functions->language == CKPT_C) {
        return ((delete_function *)functions->delete)(
            handle, keyval, ckpt_value_pointer(value), functions->extra);
    }
    object = number_of(handle);
    if (functions->language == CKPT_FORTRAN) {
        ((address_delete *)functions->delete)(&object, &keyval, &address, &extra,
                                              &ierror);
    } else {
        ((integer_delete *)functions->delete)(&object, &keyval, &integer,
                                              &integer_extra, &ierror);
    }
    return ierror;
}

/* The predefined callbacks that mpi.h names. */

#define NULL_DELETE_FUNCTION(name, type)                        \
    int name(type object, int keyval, void *value, void *extra) \
    {                                                           \
        (void)object, (void)keyval, (void)value, (void)extra;   \
        return MPI_SUCCESS;                                     \
    }
#define NULL_COPY_FUNCTION(name, type)                                  \
    int name(type object, int keyval, void *extra, void *in, void *out, \
             int *flag)                                                 \
    {                                                                   \
        (void)object, (void)keyval, (void)extra, (void)in, (void)out;   \
        *flag = 0;                                                      \
        return MPI_SUCCESS;                                             \
    }
#define DUP_FUNCTION(name, type)                                        \
    int name(type object, int keyval, void *extra, void *in, void *out, \
             int *flag)                                                 \
    {                                                                   \
        (void)object, (void)keyval, (void)extra;                        \
        *flag = 1;                                                      \
        *(void **)out = in;                                             \
        return MPI_SUCCESS;                                             \
    }

NULL_DELETE_FUNCTION(OMPI_C_MPI_COMM_NULL_DELETE_FN, MPI_Comm)
NULL_COPY_FUNCTION(OMPI_C_MPI_COMM_NULL_COPY_FN, MPI_Comm)
DUP_FUNCTION(OMPI_C_MPI_COMM_DUP_FN, MPI_Comm)
NULL_DELETE_FUNCTION(OMPI_C_MPI_TYPE_NULL_DELETE_FN, MPI_Datatype)
NULL_COPY_FUNCTION(OMPI_C_MPI_TYPE_NULL_COPY_FN, MPI_Datatype)
DUP_FUNCTION(OMPI_C_MPI_TYPE_DUP_FN, MPI_Datatype)
NULL_DELETE_FUNCTION(OMPI_C_MPI_WIN_NULL_DELETE_FN, MPI_Win)
NULL_COPY_FUNCTION(OMPI_C_MPI_WIN_NULL_COPY_FN, MPI_Win)
DUP_FUNCTION(OMPI_C_MPI_WIN_DUP_FN, MPI_Win)
NULL_DELETE_FUNCTION(OMPI_C_MPI_NULL_DELETE_FN, MPI_Comm)
NULL_COPY_FUNCTION(OMPI_C_MPI_NULL_COPY_FN, MPI_Comm)
DUP_FUNCTION(OMPI_C_MPI_DUP_FN, MPI_Comm)
