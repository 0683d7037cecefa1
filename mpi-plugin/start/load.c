/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * load.c - load a lower half and initialise its MPI.
 */
#include "start/load.h"

#include "base/invariant.h"
#include "cut/messages/markers.h"
#include "handles/channels.h"
#include "handles/communicator.h"
#include "handles/handles.h"
#include "handles/message_log.h"
#include "lower/library.h"
#include "runtime/crossing.h"
#include "runtime/runtime.h"
#include "runtime/state.h"
#include "start/components.h"
#include "task/threads.h"

#include <errno.h>
#include <string.h>

extern const char *const ckpt_function_names[];

#define OBJECT_CAPACITY 512
static const char *object_names[OBJECT_CAPACITY];
static void *objects[OBJECT_CAPACITY];

/* Replaces a function that this MPI library lacks. It uses no TLS, because it
 * runs with the lower thread pointer. */
static int missing_function(void)
{
    return MPI_ERR_UNSUPPORTED_OPERATION;
}

static void fill_table(const char *library)
{
    uint32_t i;

    memset(&ckpt_lower, 0, sizeof(ckpt_lower));
    for (i = 0; i < ckpt_predefined_count; i++) {
        object_names[i] = ckpt_predefined[i].symbol;
        objects[i] = NULL;
    }
    ckpt_lower.version = CKPT_LOWER_VERSION;
    ckpt_lower.function_count = CKPT_FN_COUNT;
    ckpt_lower.object_count = ckpt_predefined_count;
    ckpt_lower.library = library;
    ckpt_lower.function_names = ckpt_function_names;
    ckpt_lower.object_names = object_names;
    ckpt_lower.function = ckpt_lower_function;
    ckpt_lower.object = objects;
    ckpt_lower.interrupt = &ckpt_pending;
    ckpt_lower.invariant_failed = ckpt_invariant_failed;
    ckpt_lower.armed = &ckpt_checkpoint.armed;
    ckpt_lower.open = &ckpt_rank_cut_open;
    ckpt_lower.last_words = ckpt_components_last_words();
    ckpt_lower.stops_alone = ckpt_runtime_may_come_back();
}

int ckpt_load(char *const environment[], uint64_t vdso, struct ckpt_failure *failure)
{
    static char library[4096], host[4096];
    int error, i;

    ckpt_runtime_enter(environment, vdso);
    if (ckpt_predefined_count > OBJECT_CAPACITY) {
        return ckpt_refuse(failure, CKPT_REFUSAL_TOO_MANY_OBJECTS, -E2BIG,
                           "too many predefined MPI objects");
    }
    error = ckpt_lower_library(ckpt_runtime_environment(), library, sizeof(library));
    if (error != 0) {
        return ckpt_refuse(failure, CKPT_REFUSAL_OTHER_MPI, error, "no MPI library found");
    }
    fill_table(library);
    ckpt_runtime_tool(host, sizeof(host), "ckpt-host");
    ckpt_threads_record_leader();
    error = ckpt_lower_load(&ckpt_lower, host, ckpt_runtime_environment(), vdso,
                            ckpt_threads_are_frozen(), failure);
    ckpt_threads_repair_leader();
    if (error != 0) {
        return error;
    }
    ckpt_thread_contexts_forget(ckpt_lower.thread_pointer);
    CKPT_INVARIANT(ckpt_lower.thread_pointer != 0 && ckpt_lower.thread_pointer % 16 == 0);
    CKPT_INVARIANT(ckpt_lower.function == ckpt_lower_function && ckpt_lower.object == objects);
    CKPT_INVARIANT(ckpt_lower.send != NULL && ckpt_lower.receive != NULL &&
                   ckpt_lower.wait != NULL && ckpt_lower.ranges != NULL);
    for (i = 0; i < CKPT_FN_COUNT; i++) {
        if (ckpt_lower_function[i] == NULL) {
            ckpt_lower_function[i] = (void *)missing_function;
        }
    }
    ckpt_predefined_bind();
    CKPT_INVARIANT(CKPT_LOWER(MPI_COMM_WORLD) != NULL &&
                   ckpt_predefined_find(CKPT_LOWER(MPI_COMM_WORLD)) == MPI_COMM_WORLD);
    return 0;
}

/* Calls MPI_Init_thread of the library, with the components of the former world if it would
 * choose them again. Returns its code. */
static int init_library(int *provided)
{
    const int is_named = ckpt_components_name();
    int code;

    CKPT_CALL(code, Init_thread, NULL, NULL, ckpt_thread_level, provided);
    if (is_named) {
        ckpt_components_named(code);
    } else if (code == MPI_SUCCESS) {
        ckpt_components_learn();
    }
    return code;
}

/* Returns 0 or -errno with a reason. */
static int init_lower(struct ckpt_failure *failure)
{
    int code, provided;

    code = init_library(&provided);
    if (code != MPI_SUCCESS) {
        return ckpt_refuse(failure, CKPT_REFUSAL_MPI_ERROR, -EIO,
                           "MPI_Init_thread of the MPI library failed, code %d",
                           code);
    }
    if (provided < ckpt_thread_level) {
        ckpt_thread_level = provided;
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
    return code == MPI_SUCCESS ? 0
                               : ckpt_refuse(failure, CKPT_REFUSAL_MPI_ERROR, -EIO,
                                             "MPI_Comm_dup failed, code %d", code);
}

int ckpt_load_start(struct ckpt_failure *failure)
{
    int error;

    CKPT_INVARIANT(ckpt_lower.thread_pointer != 0); /* ckpt_load() comes first */
    error = init_lower(failure);
    return error == 0 ? ckpt_thread_contexts_renew(failure) : error;
}

/* Fills the table: before MPI_Init every entry is missing_function. */
__attribute__((constructor)) static void fill_with_missing(void)
{
    for (int i = 0; i < CKPT_FN_COUNT; i++) {
        ckpt_lower_function[i] = (void *)missing_function;
    }
}
