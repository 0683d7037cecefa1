/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * glue.c - the C functions of Open MPI 4's C++ bindings (MPI::).
 *
 * libmpi_cxx.so.40 is C++ on top of the C functions, except these few, which
 * access the objects of the real libmpi. The linker finds our versions first.
 * Their prototypes are those of Open MPI's ompi/mpi/cxx/cxx_glue.h.
 */
#define _GNU_SOURCE /* dladdr */

#include "handles/attribute.h"
#include "handles/communicator.h"
#include "handles/kinds.h"
#include "handles/wrapper.h"

#include <dlfcn.h>
#include <stdlib.h>

#pragma GCC visibility push(default)

/* The class of an MPI::Comm (ompi_cxx_communicator_type_t). */
enum comm_type {
    UNKNOWN,
    INTRACOMM,
    INTERCOMM,
    CARTCOMM,
    GRAPHCOMM
};

enum comm_type ompi_cxx_comm_get_type(MPI_Comm comm)
{
    int kind = comm->topology != NULL ? comm->topology->kind : MPI_UNDEFINED;

    if (kind == MPI_GRAPH) {
        return GRAPHCOMM;
    }
    if (kind == MPI_CART) {
        return CARTCOMM;
    }
    return comm->inter ? INTERCOMM : INTRACOMM;
}

int ompi_cxx_errhandler_invoke_comm(MPI_Comm comm, int code, const char *message)
{
    return ckpt_error(comm, code, message);
}

int ompi_cxx_errhandler_invoke_file(MPI_File file, int code, const char *message)
{
    return ckpt_error(file, code, message);
}

/* Looks up a function in the library that made the call: the bindings, wherever
 * they are loaded. */
static void *function_of_caller(void *site, const char *name)
{
    Dl_info info;
    void *library, *function = NULL;

    if (dladdr(site, &info) != 0 &&
        (library = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD)) != NULL) {
        function = dlsym(library, name);
        dlclose(library);
    }
    return function;
}

static MPI_Errhandler create_errhandler(enum ckpt_kind kind, void *function,
                                        const char *dispatch,
                                        const char *creator, void *site)
{
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    void *found = function_of_caller(site, dispatch);

    if (found == NULL) {
        (void)ckpt_error(NULL, MPI_ERR_INTERN, creator);
    } else if (ckpt_errhandler_create(kind, function, CKPT_CXX, &handler,
                                      creator, site) == MPI_SUCCESS) {
        handler->dispatch =
            (void (*)(void *, int *, const char *, void *))found;
    }
    return handler;
}

MPI_Errhandler ompi_cxx_errhandler_create_comm(void *function)
{
    return create_errhandler(CKPT_COMM, function,
                             "ompi_mpi_cxx_comm_errhandler_invoke",
                             "MPI::Comm::Create_errhandler", CKPT_SITE);
}

MPI_Errhandler ompi_cxx_errhandler_create_win(void *function)
{
    return create_errhandler(CKPT_WIN, function,
                             "ompi_mpi_cxx_win_errhandler_invoke",
                             "MPI::Win::Create_errhandler", CKPT_SITE);
}

MPI_Errhandler ompi_cxx_errhandler_create_file(void *function)
{
    return create_errhandler(CKPT_FILE, function,
                             "ompi_mpi_cxx_file_errhandler_invoke",
                             "MPI::File::Create_errhandler", CKPT_SITE);
}

/* Sets MPI::ERRORS_THROW_EXCEPTIONS: a predefined handler with C functions. */
void ompi_cxx_errhandler_set_callbacks(MPI_Errhandler handler, void *comm,
                                       void *file, void *win)
{
    handler->function[CKPT_COMM] = comm;
    handler->function[CKPT_FILE] = file;
    handler->function[CKPT_WIN] = win;
}

/* Creates a key value. `owned`, if not NULL, is the extra state, freed with the
 * key value. */
static int create_keyval(enum ckpt_kind kind, void *copy, void *delete,
                         int *keyval, void *extra, void *owned)
{
    int code = ckpt_keyval_create(kind, CKPT_C, copy, delete, extra, keyval);

    if (code == MPI_SUCCESS && owned != NULL) {
        ckpt_keyval_own(*keyval, owned);
    }
    return code;
}

int ompi_cxx_attr_create_keyval_comm(void *copy, void *delete, int *keyval,
                                     void *extra, int flags, void *owned)
{
    (void)flags;
    return create_keyval(CKPT_COMM, copy, delete, keyval, extra, owned);
}

int ompi_cxx_attr_create_keyval_win(void *copy, void *delete, int *keyval,
                                    void *extra, int flags, void *owned)
{
    (void)flags;
    return create_keyval(CKPT_WIN, copy, delete, keyval, extra, owned);
}

int ompi_cxx_attr_create_keyval_type(void *copy, void *delete, int *keyval,
                                     void *extra, int flags, void *owned)
{
    (void)flags;
    return create_keyval(CKPT_DATATYPE, copy, delete, keyval, extra, owned);
}

/* Called when MPI::Op::Init has made an operation of a function in
 * libmpi_cxx. */
void ompi_op_set_cxx_callback(MPI_Op op, MPI_User_function *function)
{
    op->language = CKPT_CXX;
    op->cxx = function;
}

/* Extra state of a data representation's functions; it is never freed. */
struct intercept_state {
    void *read, *write, *extent, *extra;
};

struct intercept_state *ompi_cxx_new_intercept_state(void *read, void *write,
                                                     void *extent, void *extra)
{
    struct intercept_state *state = malloc(sizeof(*state));

    if (state != NULL) {
        *state = (struct intercept_state){read, write, extent, extra};
    }
    return state;
}
