/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * runtime.c - load the lower half and start its MPI.
 */
#include "runtime/runtime.h"

#include "base/invariant.h"
#include "cut/epoch.h"
#include "cut/report.h"
#include "handles/communicator.h"
#include "handles/handles.h"
#include "runtime/crossing.h"
#include "runtime/init.h"
#include "lower/library.h"
#include "sys/syscall.h"
#include "task/threads.h"

#include <errno.h>
#include <string.h>
#include <sys/auxv.h>

struct ckpt_lower ckpt_lower;
volatile int ckpt_state;
volatile int ckpt_pending;

extern const char *const ckpt_function_names[];
void *ckpt_lower_function[CKPT_FN_COUNT];

#define OBJECT_CAPACITY 512
static const char *object_names[OBJECT_CAPACITY];
static void *objects[OBJECT_CAPACITY];

/* A copy of the launcher's environment: the application may change its own, and
 * after a restart the original is in memory that will be unmapped. */
#define ENVIRONMENT_ENTRIES 8192
static char *launch_environment[ENVIRONMENT_ENTRIES];
static char environment_text[1024 * 1024];
static uint64_t kernel_vdso; /* of the running kernel; 0: not set yet */

/* Replaces a function that this MPI library lacks. It uses no TLS, because it
 * runs with the lower thread pointer. */
static int missing_function(void)
{
    return MPI_ERR_UNSUPPORTED_OPERATION;
}

char *const *ckpt_runtime_environment(void)
{
    return launch_environment;
}

const char *ckpt_runtime_getenv(const char *name)
{
    size_t length = strlen(name);
    char *const *entry = launch_environment;

    for (; *entry != NULL; entry++) {
        if (strncmp(*entry, name, length) == 0 && (*entry)[length] == '=') {
            return *entry + length + 1;
        }
    }
    return NULL;
}

static void copy_environment(char *const *from)
{
    size_t count = 0, used = 0;

    for (; *from != NULL && count + 1 < ENVIRONMENT_ENTRIES; from++) {
        size_t length = strlen(*from) + 1;

        if (length <= sizeof(environment_text) - used) {
            launch_environment[count] = environment_text + used;
            memcpy(launch_environment[count++], *from, length);
            used += length;
        }
    }
    CKPT_INVARIANT(used <= sizeof(environment_text) && count < ENVIRONMENT_ENTRIES);
    launch_environment[count] = NULL;
}

static void fill_table(const char *library)
{
    uint32_t i;

    CKPT_INVARIANT(ckpt_predefined_count <= OBJECT_CAPACITY);
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
    ckpt_lower.open = &ckpt_epoch_open;
}

/* Finds the directory of ckpt-host and ckptd: beside this library, or
 * CKPT_LIBDIR. */
static void library_directory(char *path, size_t size)
{
    const char *directory = ckpt_runtime_getenv("CKPT_LIBDIR");

    if (directory == NULL) {
        directory = CKPT_LIBRARY_DIRECTORY; /* as configured */
    }
    strncpy(path, directory, size - 1);
    path[size - 1] = '\0';
}

void ckpt_runtime_tool(char *path, size_t size, const char *name)
{
    library_directory(path, size);
    if (strlen(path) + strlen(name) + 2 <= size) {
        strcat(path, "/");
        strcat(path, name);
    }
}

void ckpt_runtime_enter(char *const environment[], uint64_t vdso)
{
    copy_environment(environment);
    kernel_vdso = vdso;
}

uint64_t ckpt_runtime_vdso(void)
{
    return kernel_vdso != 0 ? kernel_vdso : getauxval(AT_SYSINFO_EHDR);
}

int ckpt_runtime_load(char *const environment[], uint64_t vdso,
                      struct ckpt_failure *failure)
{
    static char library[4096], host[4096];
    int error, i;

    ckpt_runtime_enter(environment, vdso);
    if (ckpt_predefined_count > OBJECT_CAPACITY) {
        return ckpt_fail(failure, -E2BIG, "too many predefined MPI objects");
    }
    error = ckpt_lower_library(launch_environment, library,
                               sizeof(library));
    if (error != 0) {
        return ckpt_fail(failure, error, "no MPI library found");
    }
    fill_table(library);
    ckpt_runtime_tool(host, sizeof(host), "ckpt-host");
    ckpt_threads_record_leader();
    error = ckpt_lower_load(&ckpt_lower, host, launch_environment, vdso, failure);
    ckpt_threads_repair_leader();
    if (error != 0) {
        return error;
    }
    ckpt_lanes_forget(ckpt_lower.thread_pointer);
    CKPT_INVARIANT(ckpt_lower.thread_pointer != 0 && ckpt_lower.thread_pointer % 16 == 0);
    for (i = 0; i < CKPT_FN_COUNT; i++) {
        if (ckpt_lower_function[i] == NULL) {
            ckpt_lower_function[i] = (void *)missing_function;
        }
    }
    ckpt_predefined_bind();
    return 0;
}

int ckpt_runtime_start(struct ckpt_failure *failure)
{
    int error = ckpt_init_lower(failure);

    return error == 0 ? ckpt_lanes_renew(failure) : error;
}

int ckpt_require_lower(void)
{
    return ckpt_halves[0].lower != 0 ? 0 : MPI_T_ERR_NOT_INITIALIZED;
}

int ckpt_runtime_lower_ranges(struct ckpt_range *ranges, int capacity)
{
    uintptr_t upper;
    int count;

    if (ckpt_require_lower() != 0) {
        return 0;
    }
    upper = ckpt_enter();
    count = ckpt_lower.ranges(ranges, capacity);
    ckpt_leave(upper);
    if (count < 0) {
        return count;
    }
    if (!CKPT_INVARIANT(count <= capacity)) {
        return -E2BIG;
    }
    return count + ckpt_lower_loader_ranges(ranges + count, capacity - count);
}

/* Fills the table: before MPI_Init every entry is missing_function. */
__attribute__((constructor)) static void fill_with_missing(void)
{
    for (int i = 0; i < CKPT_FN_COUNT; i++) {
        ckpt_lower_function[i] = (void *)missing_function;
    }
}
