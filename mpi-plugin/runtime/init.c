/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * init.c - MPI_Init, MPI_Finalize and the queries allowed around them (MPI 3.1,
 * sections 8.6, 8.7 and 12.4).
 */
#include "base/invariant.h"
#include "config.h"
#include "runtime/init.h"

#include "alone/alone.h"
#include "cut/agent_link.h"
#include "cut/partition.h"
#include "cut/rank_page.h"
#include "cut/service.h"
#include "cut/markers.h"
#include "cut/message_log.h"
#include "cut/synchronous_send.h"
#include "files/files.h"
#include "handles/attribute.h"
#include "handles/channels.h"
#include "handles/communicator.h"
#include "handles/early_info.h"
#include "independent/page.h"
#include "memory/regions.h"
#include "runtime/foreign.h"
#include "runtime/leaked_descriptors.h"
#include "runtime/runtime.h"
#include "task/signals.h"
#include "task/threads.h"
#include "wrap/wrapper.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <errno.h>

static enum ckpt_runtime_phase phase;
static enum ckpt_runtime_phase world; /* only of MPI_Init and MPI_Finalize */
static int thread_level = MPI_THREAD_SINGLE;
static pthread_t main_thread;

enum ckpt_runtime_phase ckpt_runtime_phase(void)
{
    return phase;
}

int ckpt_init_lower(struct ckpt_failure *failure)
{
    int code, provided;

    CKPT_CALL(code, Init_thread, NULL, NULL, thread_level, &provided);
    if (code != MPI_SUCCESS) {
        return ckpt_fail(failure, -EIO,
                         "MPI_Init_thread of the MPI library failed, code %d",
                         code);
    }
    if (provided < thread_level) {
        thread_level = provided;
    }
    CKPT_CALL(code, Comm_set_errhandler, CKPT_LOWER(MPI_COMM_WORLD),
              CKPT_LOWER(MPI_ERRORS_RETURN));
    CKPT_CALL(code, Comm_set_errhandler, CKPT_LOWER(MPI_COMM_SELF),
              CKPT_LOWER(MPI_ERRORS_RETURN));
    code = ckpt_channels_open();
    if (code == MPI_SUCCESS) {
        code = ckpt_log_open();
    }
    if (code == MPI_SUCCESS) {
        code = ckpt_markers_open();
    }
    return code == MPI_SUCCESS
               ? 0
               : ckpt_fail(failure, -EIO, "MPI_Comm_dup failed, code %d", code);
}

__attribute__((noreturn)) static void give_up(const struct ckpt_failure *failure)
{
    fprintf(stderr, "ckpt: cannot start MPI: %s\n", failure->text);
    exit(1);
}

static void refuse_caller(const void *address)
{
    struct ckpt_failure failure = {""};

    if (ckpt_foreign_fortran(address, &failure) != 0) {
        give_up(&failure);
    }
}

/* Thread levels may differ from rank to rank, but all ranks must run
 * collectives alike. */
static int agree_on_collectives(void)
{
    int code, highest = MPI_THREAD_SINGLE;

    CKPT_CALL(code, Allreduce, &thread_level, &highest, 1, CKPT_LOWER(MPI_INT),
              CKPT_LOWER(MPI_MAX), CKPT_LOWER(MPI_COMM_WORLD));
    ckpt_collectives_split = highest == MPI_THREAD_MULTIPLE;
    return code;
}

/* Makes MPI ready for the application's threads. Returns 0 or -errno. */
static int allow_threads(void)
{
    int error = 0;

    if (thread_level == MPI_THREAD_MULTIPLE) {
        error = ckpt_lanes_open();
    }
    if (thread_level >= MPI_THREAD_SERIALIZED) {
        ckpt_allow_threads();
    }
    return error;
}

void ckpt_runtime_open_process(void)
{
    static int opened;

    if (opened) {
        return;
    }
    opened = 1;
    ckpt_thread_pointer_open();
    ckpt_regions_open();
    ckpt_leaked_descriptors_close();
    ckpt_files_open();
    /* Before a lower half exists that a handler could interrupt. */
    (void)ckpt_signals_open(ckpt_signals_number(getenv("CKPT_SIGNAL")));
}

void ckpt_runtime_need_library(void)
{
    extern char **environ;
    struct ckpt_failure failure = {""};

    if (ckpt_require_lower() == 0) {
        return;
    }
    ckpt_alone_end();
    if (ckpt_foreign_mpi(&failure) != 0) {
        give_up(&failure);
    }
    ckpt_runtime_open_process();
    if (ckpt_runtime_load(environ, ckpt_runtime_vdso(), &failure) != 0) {
        give_up(&failure);
    }
}

static void start(int required)
{
    struct ckpt_failure failure = {""};
    int rank, size, code, error;

    CKPT_INVARIANT(phase == CKPT_RUNTIME_BEFORE);
    ckpt_slow_path &= ~CKPT_SLOW_OUTSIDE;
    ckpt_runtime_need_library();
    main_thread = pthread_self();
    thread_level = required;
    if (ckpt_runtime_start(&failure) != 0) {
        give_up(&failure);
    }
    CKPT_CALL(code, Comm_rank, CKPT_LOWER(MPI_COMM_WORLD), &rank);
    CKPT_CALL(code, Comm_size, CKPT_LOWER(MPI_COMM_WORLD), &size);
    error = ckpt_rank_page_open(rank, size);
    if (code != MPI_SUCCESS || error != 0) {
        (void)ckpt_fail(&failure, error, "no memory for the rank page");
        give_up(&failure);
    }
    CKPT_INVARIANT(rank >= 0 && rank < size);
    ckpt_communicators_open();
    if (agree_on_collectives() != MPI_SUCCESS || allow_threads() != 0) {
        (void)ckpt_fail(&failure, -EAGAIN, "no thread for the MPI library");
        give_up(&failure);
    }
    ckpt_begin();
    code = ckpt_early_infos_rebuild();
    if (code == MPI_SUCCESS) {
        code = ckpt_partition_open();
    }
    if (code == MPI_SUCCESS) {
        code = ckpt_synchronous_open();
    }
    if (code == MPI_SUCCESS) {
        code = ckpt_independent_open(rank, size);
    }
    ckpt_end();
    if (code != MPI_SUCCESS) {
        (void)ckpt_fail(&failure, -EIO, "the MPI library fails, code %d", code);
        give_up(&failure);
    }
    phase = CKPT_RUNTIME_ACTIVE;
    ckpt_service_open();
}

/* Several threads may begin sessions at once. */
static void start_once(int required)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

    pthread_mutex_lock(&mutex);
    if (phase == CKPT_RUNTIME_BEFORE) {
        start(required);
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
    *provided = thread_level;
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

    CKPT_INVARIANT(phase == CKPT_RUNTIME_ACTIVE);
    ckpt_begin();
    ckpt_partition_close();
    ckpt_end();
    ckpt_service_close();
    ckpt_begin();
    CKPT_CALL(code, Get_library_version, library_version, &length);
    CKPT_CALL(code, Finalize);
    phase = CKPT_RUNTIME_FINALIZED;
    ckpt_slow_path |= CKPT_SLOW_OUTSIDE;
    ckpt_state = CKPT_STATE_CRITICAL; /* no service any more */
    return code;
}

static int sessions_used;

/* Runs at exit. If the program leaves a session or MPI open, the launcher
 * reports that it did not finalize MPI. */
static void stop_after_sessions(void)
{
    if (phase == CKPT_RUNTIME_ACTIVE && world != CKPT_RUNTIME_ACTIVE &&
        ckpt_live(CKPT_SESSION) == NULL) {
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

    if (phase != CKPT_RUNTIME_ACTIVE) {
        return ckpt_error(NULL, MPI_ERR_OTHER, "MPI_Abort");
    }
    ckpt_begin();
    ckpt_uncovered_begin(); /* a replay must not repeat it */
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
    *provided = thread_level;
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
    if (phase != CKPT_RUNTIME_ACTIVE) {
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
