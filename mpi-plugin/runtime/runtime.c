/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * runtime.c - the process and its launch: phase, environment, lower half.
 */
#include "runtime/runtime.h"

#include "base/invariant.h"
#include "lower/launch_environment.h"
#include "process/memory_holder.h"
#include "runtime/crossing.h"

#include <errno.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

struct ckpt_lower ckpt_lower;
volatile int ckpt_state;
volatile int ckpt_pending;

void *ckpt_lower_function[CKPT_FN_COUNT];

int ckpt_thread_level = MPI_THREAD_SINGLE;
static enum ckpt_runtime_phase phase;

/* A copy of the launcher's environment: the application may change its own, and
 * after a restart the original is in memory that will be unmapped. */
static char *launch_environment[CKPT_ENVIRONMENT_ENTRIES];
static char environment_text[CKPT_ENVIRONMENT_BYTES];
static uint64_t kernel_vdso; /* of the running kernel; 0: not set yet */

enum ckpt_runtime_phase ckpt_runtime_phase(void)
{
    return phase;
}

void ckpt_runtime_set_phase(enum ckpt_runtime_phase now)
{
    phase = now;
}

void ckpt_outside(const char *function)
{
    fprintf(stderr,
            "*** The %s() function was called %s.\n"
            "*** This is disallowed by the MPI standard.\n"
            "*** Your MPI job will now abort.\n",
            function,
            phase == CKPT_RUNTIME_BEFORE ? "before MPI_INIT was invoked"
                                         : "after MPI_FINALIZE was invoked");
    exit(1);
}

void ckpt_runtime_give_up(const struct ckpt_failure *failure)
{
    fprintf(stderr, "ckpt: cannot start MPI: %s [%s]\n", failure->text,
            ckpt_refusal_name(failure->identity));
    exit(1);
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

int ckpt_runtime_may_come_back(void)
{
    const char *choice = ckpt_runtime_getenv("CKPT_KEEP_COPIES");

    return choice != NULL && strcmp(choice, "no") != 0;
}

void ckpt_runtime_hold_memory(void)
{
    if (ckpt_runtime_may_come_back()) {
        (void)ckpt_memory_holder_start(); /* without one the process ends later */
    }
}

static void copy_environment(char *const *from)
{
    size_t count = 0, used = 0;

    for (; *from != NULL && count + 1 < CKPT_ENVIRONMENT_ENTRIES; from++) {
        size_t length = strlen(*from) + 1;

        if (length <= sizeof(environment_text) - used) {
            launch_environment[count] = environment_text + used;
            memcpy(launch_environment[count++], *from, length);
            used += length;
        }
    }
    CKPT_INVARIANT(used <= sizeof(environment_text) && count < CKPT_ENVIRONMENT_ENTRIES);
    launch_environment[count] = NULL;
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
