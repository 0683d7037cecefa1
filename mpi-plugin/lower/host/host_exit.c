/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host_exit.c - exit handlers that the MPI library has registered.
 *
 * MPICH disconnects from its launcher in an exit handler, not in MPI_Finalize.
 * Without that the launcher takes the end of a rank for a crash.
 */
#include "config.h"
#include "lower/host/host_exit.h"

#include "lower/host/change.h"
#include "lower/host/export.h"
#include "lower/host/host_library.h"

#include <stddef.h>

#define HANDLERS_MAX 32

typedef void exit_function(void *argument);

int __cxa_atexit(exit_function *function, void *argument, void *object);

static struct {
    exit_function *function;
    void *argument;
} handlers[HANDLERS_MAX];
static int handler_count;
static struct ckpt_spinlock lock;

/* Returns 1 if there was room. */
static int keep(exit_function *function, void *argument)
{
    int kept = 0;
    uint64_t mask;

    ckpt_change_begin(&mask);
    ckpt_spinlock_take(&lock);
    if (handler_count < HANDLERS_MAX) {
        handlers[handler_count].function = function;
        handlers[handler_count].argument = argument;
        handler_count++;
        kept = 1;
    }
    ckpt_spinlock_give(&lock);
    ckpt_change_end(&mask);
    return kept;
}

/* Handlers of other libraries only clean up, which is not needed at the end. */
CKPT_EXPORT int __cxa_atexit(exit_function *function, void *argument,
                             void *object)
{
    if (ckpt_host_library_has((void *)function) && keep(function, argument)) {
        return 0;
    }
    return CKPT_NEXT(__cxa_atexit)(function, argument, object);
}

static exit_function *take_last(void **argument_p)
{
    exit_function *function = NULL;
    uint64_t mask;

    ckpt_change_begin(&mask);
    ckpt_spinlock_take(&lock);
    if (handler_count > 0) {
        handler_count--;
        function = handlers[handler_count].function;
        *argument_p = handlers[handler_count].argument;
    }
    ckpt_spinlock_give(&lock);
    ckpt_change_end(&mask);
    return function;
}

void ckpt_host_exit_run(void)
{
    exit_function *function;
    void *argument;

    while ((function = take_last(&argument)) != NULL) {
        function(argument);
    }
}
