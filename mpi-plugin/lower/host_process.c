/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host_process.c - what the lower half may not do to the process as a whole.
 *
 * Context of the exported functions: normal (lower half).
 */
#include "config.h"

#include "lower/export.h"
#include "lower/host_exit.h"
#include "lower/host_process.h"
#include "lower/host_threads.h"
#include "sys/syscall.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

/* The table while the MPI library is being loaded, else NULL. */
static struct ckpt_lower *loading;

void ckpt_host_loading(struct ckpt_lower *table)
{
    loading = table;
}

/* A library that gives up while it is loaded does not take the application
 * with it: the load fails. Later the end of the process is the MPI library's
 * to decide, as it would be without us. */
static void refuse_to_end(const char *how)
{
    struct ckpt_lower *table = loading;

    if (table != NULL) {
        snprintf(table->failure.text, sizeof(table->failure.text),
                 "%s called %s() while it was loaded", table->library, how);
        table->status = -ENOTSUP;
        loading = NULL;
        table->back(table);
    }
}

CKPT_EXPORT void exit(int status)
{
    refuse_to_end("exit");
    ckpt_host_exit_run();
    CKPT_NEXT(exit)(status);
    __builtin_unreachable();
}

CKPT_EXPORT void _exit(int status)
{
    refuse_to_end("_exit");
    ckpt_sys_exit_group(status);
}

CKPT_EXPORT void _Exit(int status) __attribute__((alias("_exit")));

CKPT_EXPORT void abort(void)
{
    refuse_to_end("abort");
    CKPT_NEXT(abort)();
    __builtin_unreachable();
}

/* The name of an application's thread stays what the application made it. */
CKPT_EXPORT int prctl(int operation, ...)
{
    unsigned long argument[4];
    va_list arguments;

    va_start(arguments, operation);
    for (int i = 0; i < 4; i++) {
        argument[i] = va_arg(arguments, unsigned long);
    }
    va_end(arguments);

    if (operation == PR_SET_NAME &&
        !ckpt_host_owns_thread(ckpt_sys_gettid())) {
        return 0;
    }
    return (int)ckpt_libc_result(ckpt_sys_prctl(
        operation, argument[0], argument[1], argument[2], argument[3]));
}
