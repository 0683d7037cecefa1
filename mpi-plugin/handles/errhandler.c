/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * errhandler.c - error handlers, kept in the upper half (MPI 3.1, 8.3): the
 * lower half always returns its errors, and the wrapper calls the handler.
 */
#include "base/invariant.h"
#include "handles/communicator.h"
#include "handles/error_codes.h"
#include "handles/kinds.h"
#include "handles/session.h"
#include "handles/window.h"
#include "handles/wrapper.h"
#include "runtime/runtime.h"

#include <stdio.h>
#include <stdlib.h>

static MPI_Errhandler *handler_slot(void *object)
{
    struct ckpt_handle *handle = object;

    switch (handle->kind) {
    case CKPT_COMM:
        return &((MPI_Comm)object)->errhandler;
    case CKPT_WIN:
        return &((MPI_Win)object)->errhandler;
    case CKPT_SESSION:
        return &((MPI_Session)object)->errhandler;
    default:
        return &((MPI_File)object)->errhandler;
    }
}

static MPI_Errhandler handler_of(void *object)
{
    struct ckpt_handle *handle = object;
    MPI_Errhandler handler = *handler_slot(object);

    if (handler != NULL) {
        return handler;
    }
    return handle->kind == CKPT_FILE ? MPI_ERRORS_RETURN : MPI_ERRORS_ARE_FATAL;
}

/* Whether the library has failed, and not the call: if a peer has died, Open MPI returns one of
 * these classes, or a class of its own behind those of the standard. */
static int is_failure_of_library(int code)
{
    int result, class = MPI_SUCCESS;

    CKPT_CALL(result, Error_class, code, &class);
    return result == MPI_SUCCESS && (class == MPI_ERR_OTHER || class == MPI_ERR_INTERN ||
                                     class == MPI_ERR_UNKNOWN || class > MPI_ERR_RMA_SHARED);
}

__attribute__((noreturn)) static void end_job(void *object, int code,
                                              const char *function)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0, result;
    MPI_Comm comm = MPI_COMM_WORLD;

    if (object != NULL && ((struct ckpt_handle *)object)->kind == CKPT_COMM) {
        comm = object;
    }
    ckpt_begin();
    result = ckpt_error_string(code, text, &length);
    ckpt_end();
    fprintf(stderr,
            "*** An error occurred in %s\n*** reported by rank %d\n*** %s\n"
            "*** MPI_ERRORS_ARE_FATAL (processes in this communicator will now "
            "abort)\n",
            function, MPI_COMM_WORLD->rank, text);
    fflush(stderr);
    ckpt_lower.stops_alone = ckpt_lower.stops_alone && is_failure_of_library(code);
    CKPT_CALL(result, Abort, CKPT_LOWER(comm), code);
    (void)result;
    abort();
}

typedef void fortran_function(MPI_Fint *object, MPI_Fint *code);

static MPI_Fint number_of(void *object)
{
    switch (((struct ckpt_handle *)object)->kind) {
    case CKPT_COMM:
        return PMPI_Comm_c2f(object);
    case CKPT_WIN:
        return PMPI_Win_c2f(object);
    case CKPT_SESSION:
        return PMPI_Session_c2f(object);
    default:
        return PMPI_File_c2f(object);
    }
}

static int invoke(void *object, MPI_Errhandler handler, int code,
                  const char *function)
{
    void *callback = handler->function[((struct ckpt_handle *)object)->kind];
    MPI_Fint number;

    if (handler == MPI_ERRORS_RETURN) {
        return code;
    }
    if (callback == NULL) {
        end_job(object, code, function);
    }
    switch (handler->language) {
    case CKPT_FORTRAN:
        number = number_of(object);
        ((fortran_function *)callback)(&number, &code);
        break;
    case CKPT_CXX:
        handler->dispatch(&object, &code, function, callback);
        break;
    default: /* MPI handlers have variable arguments: mpi.h */
        ((MPI_Comm_errhandler_function *)callback)((MPI_Comm *)&object, &code,
                                                   function);
        break;
    }
    return code;
}

int ckpt_error(void *object, int code, const char *function)
{
    if (code < 0) {
        return code; /* the library's own code, which no handler sees */
    }
    if (ckpt_runtime_phase() != CKPT_RUNTIME_ACTIVE) {
        ckpt_outside(function);
    }
    if (object == NULL || object == MPI_COMM_NULL || object == MPI_WIN_NULL ||
        ((struct ckpt_handle *)object)->references == 0) {
        object = MPI_COMM_WORLD; /* MPI 3.1, section 8.3 */
    }
    return invoke(object, handler_of(object), code, function);
}

int ckpt_error_of(MPI_Errhandler handler, int code, const char *function)
{
    if (code == MPI_SUCCESS || handler == MPI_ERRORS_RETURN) {
        return code;
    }
    return invoke(MPI_COMM_WORLD, handler, code, function);
}

int ckpt_errhandler_create(enum ckpt_kind kind, void *function,
                           enum ckpt_language language,
                           MPI_Errhandler *handler_p, const char *creator,
                           void *site)
{
    const int early = ckpt_runtime_phase() == CKPT_RUNTIME_BEFORE; /* allowed */
    MPI_Errhandler handler;

    if (!early) {
        ckpt_begin();
    }
    handler = ckpt_handle_create(CKPT_ERRHANDLER, sizeof(*handler), NULL,
                                 creator, site);
    if (handler != NULL) {
        CKPT_INVARIANT(kind < CKPT_KIND_COUNT);
        handler->function[kind] = function;
        handler->language = language;
        *handler_p = handler;
    }
    if (early) {
        return handler == NULL ? MPI_ERR_NO_MEM : MPI_SUCCESS;
    }
    CKPT_RETURN(NULL, handler == NULL ? MPI_ERR_NO_MEM : MPI_SUCCESS, creator);
}

static int set(void *object, MPI_Errhandler handler, const char *name)
{
    MPI_Errhandler *slot;

    if (object == NULL) {
        return ckpt_error(NULL, MPI_ERR_ARG, name);
    }
    if (handler == NULL || handler == MPI_ERRHANDLER_NULL ||
        handler->handle.references == 0) {
        return ckpt_error(object, MPI_ERR_ARG, name);
    }
    slot = handler_slot(object);
    ckpt_begin();
    ckpt_retain(handler);
    if (*slot != NULL) {
        ckpt_drop(*slot);
    }
    *slot = handler;
    ckpt_end();
    return MPI_SUCCESS;
}

/* Gets the handler. The caller owns a reference, to be freed. */
static int get(void *object, MPI_Errhandler *handler, const char *name)
{
    if (object == NULL) {
        return ckpt_error(NULL, MPI_ERR_ARG, name);
    }
    ckpt_guard();
    *handler = handler_of(object);
    ckpt_retain(*handler);
    ckpt_unguard();
    return MPI_SUCCESS;
}

static int call(void *object, int code, const char *name)
{
    if (code < 0) {
        code = MPI_ERR_UNKNOWN; /* not a code of library or program */
    }
    (void)invoke(object, handler_of(object), code, name);
    return MPI_SUCCESS;
}

int PMPI_Comm_create_errhandler(MPI_Comm_errhandler_function *function,
                                MPI_Errhandler *handler)
{
    CKPT_REQUIRE(function != NULL && handler != NULL, NULL, MPI_ERR_ARG,
                 "MPI_Comm_create_errhandler");
    return ckpt_errhandler_create(CKPT_COMM, (void *)function, CKPT_C, handler,
                                  "MPI_Comm_create_errhandler", CKPT_SITE);
}
CKPT_ALIAS(Comm_create_errhandler);

int PMPI_Win_create_errhandler(MPI_Win_errhandler_function *function,
                               MPI_Errhandler *handler)
{
    CKPT_REQUIRE(function != NULL && handler != NULL, NULL, MPI_ERR_ARG,
                 "MPI_Win_create_errhandler");
    return ckpt_errhandler_create(CKPT_WIN, (void *)function, CKPT_C, handler,
                                  "MPI_Win_create_errhandler", CKPT_SITE);
}
CKPT_ALIAS(Win_create_errhandler);

int PMPI_File_create_errhandler(MPI_File_errhandler_function *function,
                                MPI_Errhandler *handler)
{
    CKPT_REQUIRE(function != NULL && handler != NULL, NULL, MPI_ERR_ARG,
                 "MPI_File_create_errhandler");
    return ckpt_errhandler_create(CKPT_FILE, (void *)function, CKPT_C, handler,
                                  "MPI_File_create_errhandler", CKPT_SITE);
}
CKPT_ALIAS(File_create_errhandler);

int PMPI_Session_create_errhandler(MPI_Session_errhandler_function *function,
                                   MPI_Errhandler *handler)
{
    CKPT_REQUIRE(function != NULL && handler != NULL, NULL, MPI_ERR_ARG,
                 "MPI_Session_create_errhandler");
    return ckpt_errhandler_create(CKPT_SESSION, (void *)function, CKPT_C, handler,
                                  "MPI_Session_create_errhandler", CKPT_SITE);
}
CKPT_ALIAS(Session_create_errhandler);

int PMPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler handler)
{
    if (!ckpt_communicator_valid(comm)) {
        return ckpt_error(NULL, MPI_ERR_COMM, "MPI_Comm_set_errhandler");
    }
    return set(comm, handler, "MPI_Comm_set_errhandler");
}
CKPT_ALIAS(Comm_set_errhandler);

int PMPI_Win_set_errhandler(MPI_Win win, MPI_Errhandler handler)
{
    CKPT_REQUIRE(ckpt_window_valid(win), NULL, MPI_ERR_WIN,
                 "MPI_Win_set_errhandler");
    return set(win, handler, "MPI_Win_set_errhandler");
}
CKPT_ALIAS(Win_set_errhandler);

int PMPI_File_set_errhandler(MPI_File file, MPI_Errhandler handler)
{
    CKPT_REQUIRE(file != NULL, MPI_FILE_NULL, MPI_ERR_FILE,
                 "MPI_File_set_errhandler");
    return set(file, handler, "MPI_File_set_errhandler");
}
CKPT_ALIAS(File_set_errhandler);

int PMPI_Session_set_errhandler(MPI_Session session, MPI_Errhandler handler)
{
    CKPT_REQUIRE(ckpt_session_valid(session), NULL, MPI_ERR_SESSION,
                 "MPI_Session_set_errhandler");
    return set(session, handler, "MPI_Session_set_errhandler");
}
CKPT_ALIAS(Session_set_errhandler);

int PMPI_Comm_get_errhandler(MPI_Comm comm, MPI_Errhandler *handler)
{
    CKPT_REQUIRE(ckpt_communicator_valid(comm), NULL, MPI_ERR_COMM,
                 "MPI_Comm_get_errhandler");
    CKPT_REQUIRE(handler != NULL, comm, MPI_ERR_ARG, "MPI_Comm_get_errhandler");
    if (!ckpt_communicator_valid(comm)) {
        return ckpt_error(NULL, MPI_ERR_COMM, "MPI_Comm_get_errhandler");
    }
    return get(comm, handler, "MPI_Comm_get_errhandler");
}
CKPT_ALIAS(Comm_get_errhandler);

int PMPI_Win_get_errhandler(MPI_Win win, MPI_Errhandler *handler)
{
    CKPT_REQUIRE(ckpt_window_valid(win), NULL, MPI_ERR_WIN,
                 "MPI_Win_get_errhandler");
    CKPT_REQUIRE(handler != NULL, win, MPI_ERR_ARG, "MPI_Win_get_errhandler");
    return get(win, handler, "MPI_Win_get_errhandler");
}
CKPT_ALIAS(Win_get_errhandler);

int PMPI_File_get_errhandler(MPI_File file, MPI_Errhandler *handler)
{
    CKPT_REQUIRE(file != NULL, NULL, MPI_ERR_FILE, "MPI_File_get_errhandler");
    CKPT_REQUIRE(handler != NULL, NULL, MPI_ERR_ARG, "MPI_File_get_errhandler");
    return get(file, handler, "MPI_File_get_errhandler");
}
CKPT_ALIAS(File_get_errhandler);

int PMPI_Session_get_errhandler(MPI_Session session, MPI_Errhandler *handler)
{
    CKPT_REQUIRE(ckpt_session_valid(session), NULL, MPI_ERR_SESSION,
                 "MPI_Session_get_errhandler");
    CKPT_REQUIRE(handler != NULL, session, MPI_ERR_ARG,
                 "MPI_Session_get_errhandler");
    return get(session, handler, "MPI_Session_get_errhandler");
}
CKPT_ALIAS(Session_get_errhandler);

int PMPI_Comm_call_errhandler(MPI_Comm comm, int code)
{
    CKPT_REQUIRE(ckpt_communicator_valid(comm), NULL, MPI_ERR_COMM,
                 "MPI_Comm_call_errhandler");
    return call(comm, code, "MPI_Comm_call_errhandler");
}
CKPT_ALIAS(Comm_call_errhandler);

int PMPI_Win_call_errhandler(MPI_Win win, int code)
{
    CKPT_REQUIRE(ckpt_window_valid(win), NULL, MPI_ERR_WIN,
                 "MPI_Win_call_errhandler");
    return call(win, code, "MPI_Win_call_errhandler");
}
CKPT_ALIAS(Win_call_errhandler);

int PMPI_File_call_errhandler(MPI_File file, int code)
{
    CKPT_REQUIRE(file != NULL && file != MPI_FILE_NULL, NULL, MPI_ERR_ARG,
                 "MPI_File_call_errhandler");
    return call(file, code, "MPI_File_call_errhandler");
}
CKPT_ALIAS(File_call_errhandler);

int PMPI_Session_call_errhandler(MPI_Session session, int code)
{
    CKPT_REQUIRE(ckpt_session_valid(session), NULL, MPI_ERR_SESSION,
                 "MPI_Session_call_errhandler");
    return call(session, code, "MPI_Session_call_errhandler");
}
CKPT_ALIAS(Session_call_errhandler);

int PMPI_Errhandler_free(MPI_Errhandler *handler)
{
    CKPT_REQUIRE(handler != NULL, NULL, MPI_ERR_ARG, "MPI_Errhandler_free");
    if (*handler == NULL || *handler == MPI_ERRHANDLER_NULL) {
        return ckpt_error(NULL, MPI_ERR_ARG, "MPI_Errhandler_free");
    }
    if (ckpt_runtime_phase() == CKPT_RUNTIME_BEFORE) { /* allowed */
        ckpt_drop(*handler);
        *handler = MPI_ERRHANDLER_NULL;
        return MPI_SUCCESS;
    }
    ckpt_begin();
    ckpt_drop(*handler);
    *handler = MPI_ERRHANDLER_NULL;
    ckpt_end();
    return MPI_SUCCESS;
}
CKPT_ALIAS(Errhandler_free);

/* The functions' MPI-1 names. */

int PMPI_Errhandler_create(MPI_Handler_function *function,
                           MPI_Errhandler *handler)
{
    return PMPI_Comm_create_errhandler(function, handler);
}
CKPT_ALIAS(Errhandler_create);

int PMPI_Errhandler_set(MPI_Comm comm, MPI_Errhandler handler)
{
    return PMPI_Comm_set_errhandler(comm, handler);
}
CKPT_ALIAS(Errhandler_set);

int PMPI_Errhandler_get(MPI_Comm comm, MPI_Errhandler *handler)
{
    return PMPI_Comm_get_errhandler(comm, handler);
}
CKPT_ALIAS(Errhandler_get);
