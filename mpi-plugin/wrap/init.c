/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * init.c - MPI_Init, MPI_Finalize and the queries allowed around them (MPI 3.1,
 * sections 8.6, 8.7 and 12.4).
 */
#include "base/invariant.h"
#include "config.h"
#include "wrap/init.h"

#include "handles/attribute.h"
#include "handles/communicator.h"
#include "handles/wrapper.h"
#include "runtime/abi_check.h"
#include "runtime/runtime.h"
#include "runtime/uncovered.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static enum ckpt_runtime_phase world; /* only of MPI_Init and MPI_Finalize */
static pthread_t main_thread;

static void refuse_caller(const void *address)
{
    struct ckpt_failure failure = {0};

    if (ckpt_check_fortran_abi(address, &failure) != 0) {
        ckpt_runtime_give_up(&failure);
    }
}

/* Several threads may begin sessions at once. */
static void start_once(int required)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

    pthread_mutex_lock(&mutex);
    if (ckpt_runtime_phase() == CKPT_RUNTIME_BEFORE) {
        main_thread = pthread_self();
        ckpt_runtime_begin(required);
        CKPT_INVARIANT(ckpt_runtime_phase() == CKPT_RUNTIME_ACTIVE);
    }
    pthread_mutex_unlock(&mutex);
}

int PMPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    (void)argc, (void)argv;
    if (world != CKPT_RUNTIME_BEFORE) {
        return ckpt_error(NULL, MPI_ERR_OTHER, "MPI_Init_thread");
    }
    refuse_caller(__builtin_return_address(0));
    start_once(required);
    world = CKPT_RUNTIME_ACTIVE;
    *provided = ckpt_thread_level;
    return MPI_SUCCESS;
}
CKPT_ALIAS(Init_thread);

int PMPI_Init(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    if (world != CKPT_RUNTIME_BEFORE) {
        return ckpt_error(NULL, MPI_ERR_OTHER, "MPI_Init");
    }
    refuse_caller(__builtin_return_address(0));
    start_once(MPI_THREAD_SINGLE);
    world = CKPT_RUNTIME_ACTIVE;
    return MPI_SUCCESS;
}
CKPT_ALIAS(Init);

int PMPI_Initialized(int *flag)
{
    CKPT_REQUIRE(flag != NULL, NULL, MPI_ERR_ARG, "MPI_Initialized");
    *flag = world != CKPT_RUNTIME_BEFORE;
    return MPI_SUCCESS;
}
CKPT_ALIAS(Initialized);

int PMPI_Finalized(int *flag)
{
    CKPT_REQUIRE(flag != NULL, NULL, MPI_ERR_ARG, "MPI_Finalized");
    *flag = world == CKPT_RUNTIME_FINALIZED;
    return MPI_SUCCESS;
}
CKPT_ALIAS(Finalized);

/* MPI_Get_library_version works even when no library is loaded. */
static char library_version[MPI_MAX_LIBRARY_VERSION_STRING] =
    "ckpt " PACKAGE_VERSION " for Open MPI";

/* Ends MPI: no MPI function works any more. Returns the library's code. */
static int stop(void)
{
    int code, length;

    CKPT_INVARIANT(ckpt_runtime_phase() == CKPT_RUNTIME_ACTIVE); /* it ends once */
    ckpt_runtime_leave();
    ckpt_begin();
    CKPT_CALL(code, Get_library_version, library_version, &length);
    CKPT_CALL(code, Finalize);
    ckpt_runtime_set_phase(CKPT_RUNTIME_FINALIZED);
    ckpt_end_quietly(); /* this thread may end before the process does */
    ckpt_slow_path |= CKPT_SLOW_OUTSIDE;
    ckpt_state = CKPT_STATE_CRITICAL; /* no service any more */
    return code;
}

static int sessions_used;

/* Runs at exit. If the program leaves a session or MPI open, the launcher
 * reports that it did not finalize MPI. */
static void stop_after_sessions(void)
{
    if (ckpt_runtime_phase() == CKPT_RUNTIME_ACTIVE &&
        world != CKPT_RUNTIME_ACTIVE && ckpt_live(CKPT_SESSION) == NULL) {
        (void)stop();
    }
}

/* A program may always begin another session, and only a library that is still
 * initialized can provide it. So the library ends with the process. */
void ckpt_init_session(int required)
{
    start_once(required);
    if (!__atomic_exchange_n(&sessions_used, 1, __ATOMIC_SEQ_CST)) {
        (void)atexit(stop_after_sessions);
    }
}

int PMPI_Finalize(void)
{
    int code;

    if (world != CKPT_RUNTIME_ACTIVE) {
        return ckpt_error(NULL, MPI_ERR_OTHER, "MPI_Finalize");
    }
    /* First the attributes of MPI_COMM_SELF (MPI 3.1, 8.7.1). */
    code = ckpt_attributes_delete(&MPI_COMM_SELF->handle);
    if (code == MPI_SUCCESS) {
        code = ckpt_attributes_delete(&MPI_COMM_WORLD->handle);
    }
    if (code != MPI_SUCCESS) {
        return ckpt_error(NULL, code, "MPI_Finalize");
    }
    world = CKPT_RUNTIME_FINALIZED;
    return ckpt_live(CKPT_SESSION) == NULL ? stop() : MPI_SUCCESS;
}
CKPT_ALIAS(Finalize);

int PMPI_Abort(MPI_Comm comm, int code)
{
    int result;

    if (ckpt_runtime_phase() != CKPT_RUNTIME_ACTIVE) {
        return ckpt_error(NULL, MPI_ERR_OTHER, "MPI_Abort");
    }
    ckpt_begin();
    ckpt_uncovered_begin(); /* a replay must not repeat it */
    ckpt_lower.stops_alone = 0;
    CKPT_CALL(result, Abort,
              CKPT_LOWER(ckpt_communicator_valid(comm) ? comm : MPI_COMM_WORLD),
              code);
    return result;
}
CKPT_ALIAS(Abort);

int PMPI_Query_thread(int *provided)
{
    CKPT_INSIDE("MPI_Query_thread");
    CKPT_REQUIRE(provided != NULL, NULL, MPI_ERR_ARG, "MPI_Query_thread");
    *provided = ckpt_thread_level;
    return MPI_SUCCESS;
}
CKPT_ALIAS(Query_thread);

int PMPI_Is_thread_main(int *flag)
{
    CKPT_INSIDE("MPI_Is_thread_main");
    CKPT_REQUIRE(flag != NULL, NULL, MPI_ERR_COMM, "MPI_Is_thread_main");
    *flag = pthread_equal(pthread_self(), main_thread);
    return MPI_SUCCESS;
}
CKPT_ALIAS(Is_thread_main);

int PMPI_Get_version(int *version, int *subversion)
{
    CKPT_REQUIRE(version != NULL && subversion != NULL, NULL, MPI_ERR_ARG,
                 "MPI_Get_version");
    *version = MPI_VERSION;
    *subversion = MPI_SUBVERSION;
    return MPI_SUCCESS;
}
CKPT_ALIAS(Get_version);

int PMPI_Get_library_version(char *version, int *length)
{
    int code;

    if (version == NULL || length == NULL) {
        return ckpt_error(NULL, MPI_ERR_ARG, "MPI_Get_library_version");
    }
    if (ckpt_runtime_phase() != CKPT_RUNTIME_ACTIVE) {
        strcpy(version, library_version);
        *length = (int)strlen(version);
        return MPI_SUCCESS;
    }
    ckpt_begin();
    CKPT_CALL(code, Get_library_version, version, length);
    ckpt_end();
    return code;
}
CKPT_ALIAS(Get_library_version);

int PMPI_Pcontrol(const int level, ...)
{
    (void)level; /* for profiling tools, which wrap the function */
    return MPI_SUCCESS;
}
CKPT_ALIAS(Pcontrol);

/* After a restart the program's clock continues from its value at the
 * checkpoint. */
double PMPI_Wtime(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
CKPT_ALIAS(Wtime);

double PMPI_Wtick(void)
{
    struct timespec resolution;

    clock_getres(CLOCK_MONOTONIC, &resolution);
    return (double)resolution.tv_sec + 1e-9 * (double)resolution.tv_nsec;
}
CKPT_ALIAS(Wtick);
