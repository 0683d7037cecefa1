/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * callback.c - Fortran bindings that take functions of the program: operations,
 * error handlers, generalized requests, data representations.
 */
#include "fortran/fortran.h"

#include "handles/kinds.h"

#include <stdlib.h>

#pragma GCC visibility push(default)

void ompi_op_create_f(MPI_User_function *function, const MPI_Fint *commute,
                      MPI_Fint *op, MPI_Fint *ierror)
{
    MPI_Op c_op;
    int code = ckpt_op_create(function, CKPT_FORTRAN, *commute, &c_op, CKPT_SITE);

    if (code == MPI_SUCCESS) {
        *op = PMPI_Op_c2f(c_op);
    }
    ckpt_fortran_return(ierror, code);
}
CKPT_FORTRAN_NAMES(op_create, OP_CREATE, Op_create);

#define ERRHANDLER(kind, lower, upper, mixed)                                  \
    void ompi_##lower##_f(void *function, MPI_Fint *errhandler,                \
                          MPI_Fint *ierror)                                    \
    {                                                                          \
        MPI_Errhandler handler;                                                \
        int code = ckpt_errhandler_create(kind, function, CKPT_FORTRAN,        \
                                          &handler, "MPI_" #mixed, CKPT_SITE); \
                                                                               \
        if (code == MPI_SUCCESS) {                                             \
            *errhandler = PMPI_Errhandler_c2f(handler);                        \
        }                                                                      \
        ckpt_fortran_return(ierror, code);                                     \
    }                                                                          \
    CKPT_FORTRAN_NAMES(lower, upper, mixed)

ERRHANDLER(CKPT_COMM, comm_create_errhandler, COMM_CREATE_ERRHANDLER,
           Comm_create_errhandler);
ERRHANDLER(CKPT_COMM, errhandler_create, ERRHANDLER_CREATE, Errhandler_create);
ERRHANDLER(CKPT_WIN, win_create_errhandler, WIN_CREATE_ERRHANDLER,
           Win_create_errhandler);
ERRHANDLER(CKPT_FILE, file_create_errhandler, FILE_CREATE_ERRHANDLER,
           File_create_errhandler);
ERRHANDLER(CKPT_SESSION, session_create_errhandler, SESSION_CREATE_ERRHANDLER,
           Session_create_errhandler);

/* A generalized request (MPI 3.1, section 12.2). The C functions below get this
 * structure as their extra state. */
typedef void query_function(MPI_Aint *extra, MPI_Fint *status, MPI_Fint *ierror);
typedef void free_function(MPI_Aint *extra, MPI_Fint *ierror);
typedef void cancel_function(MPI_Aint *extra, MPI_Fint *complete,
                             MPI_Fint *ierror);

struct generalized {
    query_function *query;
    free_function *free;
    cancel_function *cancel;
    MPI_Aint extra;
};

static int query_request(void *extra, MPI_Status *status)
{
    struct generalized *request = extra;
    MPI_Fint ierror = MPI_SUCCESS;

    request->query(&request->extra, (MPI_Fint *)status, &ierror);
    return ierror;
}

static int free_request(void *extra)
{
    struct generalized *request = extra;
    MPI_Fint ierror = MPI_SUCCESS;

    request->free(&request->extra, &ierror);
    free(request);
    return ierror;
}

static int cancel_request(void *extra, int complete)
{
    struct generalized *request = extra;
    MPI_Fint ierror = MPI_SUCCESS, logical = complete != 0;

    request->cancel(&request->extra, &logical, &ierror);
    return ierror;
}

void ompi_grequest_start_f(query_function *query, free_function *free_function,
                           cancel_function *cancel, const MPI_Aint *extra_state,
                           MPI_Fint *request, MPI_Fint *ierror)
{
    struct generalized *extra = malloc(sizeof(*extra));
    MPI_Request c_request;
    int code;

    if (extra == NULL) {
        ckpt_fortran_no_memory(ierror, "MPI_Grequest_start");
        return;
    }
    *extra = (struct generalized){query, free_function, cancel, *extra_state};
    code = PMPI_Grequest_start(query_request, free_request, cancel_request,
                               extra, &c_request);
    if (code == MPI_SUCCESS) {
        *request = PMPI_Request_c2f(c_request);
    } else {
        free(extra);
    }
    ckpt_fortran_return(ierror, code);
}
CKPT_FORTRAN_NAMES(grequest_start, GREQUEST_START, Grequest_start);

/* A data representation (MPI 3.1, section 13.5.3); it is never freed. */
typedef void conversion_function(void *userbuf, MPI_Fint *datatype,
                                 MPI_Fint *count, void *filebuf,
                                 MPI_Offset *position, MPI_Aint *extra,
                                 MPI_Fint *ierror);
typedef void extent_function(MPI_Fint *datatype, MPI_Aint *extent,
                             MPI_Aint *extra, MPI_Fint *ierror);

struct representation {
    conversion_function *read;
    conversion_function *write;
    extent_function *extent;
    MPI_Aint *extra;
};

static int convert(conversion_function *function, void *userbuf,
                   MPI_Datatype datatype, int count, void *filebuf,
                   MPI_Offset position, MPI_Aint *extra)
{
    MPI_Fint ierror = MPI_SUCCESS, number = PMPI_Type_c2f(datatype);

    function(userbuf, &number, &count, filebuf, &position, extra, &ierror);
    return ierror;
}

static int read_conversion(void *userbuf, MPI_Datatype datatype, int count,
                           void *filebuf, MPI_Offset position, void *extra)
{
    struct representation *own = extra;

    return convert(own->read, userbuf, datatype, count, filebuf, position,
                   own->extra);
}

static int write_conversion(void *userbuf, MPI_Datatype datatype, int count,
                            void *filebuf, MPI_Offset position, void *extra)
{
    struct representation *own = extra;

    return convert(own->write, userbuf, datatype, count, filebuf, position,
                   own->extra);
}

static int file_extent(MPI_Datatype datatype, MPI_Aint *extent, void *extra)
{
    struct representation *own = extra;
    MPI_Fint ierror = MPI_SUCCESS, number = PMPI_Type_c2f(datatype);

    own->extent(&number, extent, own->extra, &ierror);
    return ierror;
}

/* MPI_CONVERSION_FN_NULL: only its address is used. */
void mpi_conversion_fn_null_f(void *userbuf, MPI_Fint *datatype, MPI_Fint *count,
                              void *filebuf, MPI_Offset *position,
                              MPI_Aint *extra, MPI_Fint *ierror)
{
    (void)userbuf, (void)datatype, (void)count, (void)filebuf, (void)position;
    (void)extra;
    *ierror = MPI_SUCCESS;
}
CKPT_FORTRAN_MANGLED(mpi_conversion_fn_null_f, mpi_conversion_fn_null,
                     MPI_CONVERSION_FN_NULL);

static int is_null(conversion_function *function)
{
    return function == mpi_conversion_fn_null_f;
}

void ompi_register_datarep_f(const char *datarep, conversion_function *read,
                             conversion_function *write, extent_function *extent,
                             MPI_Aint *extra_state, MPI_Fint *ierror,
                             int datarep_length)
{
    char *name = ckpt_fortran_string(datarep, datarep_length);
    struct representation *own = malloc(sizeof(*own));
    int code;

    if (name == NULL || own == NULL) {
        free(name);
        free(own);
        ckpt_fortran_no_memory(ierror, "MPI_Register_datarep");
        return;
    }
    *own = (struct representation){read, write, extent, extra_state};
    code = PMPI_Register_datarep(name, is_null(read) ? NULL : read_conversion,
                                 is_null(write) ? NULL : write_conversion,
                                 file_extent, own);
    free(name);
    if (code != MPI_SUCCESS) {
        free(own);
    }
    ckpt_fortran_return(ierror, code);
}
CKPT_FORTRAN_NAMES(register_datarep, REGISTER_DATAREP, Register_datarep);
