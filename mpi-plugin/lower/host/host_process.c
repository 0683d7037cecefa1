/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host_process.c - keep the lower half from changing the process as a whole.
 *
 * Context of the exported functions: normal (lower half).
 */
#include "config.h"

#include "base/invariant.h"
#include "lower/host/export.h"
#include "lower/host/host_exit.h"
#include "lower/host/host_pmix.h"
#include "lower/host/host_process.h"
#include "lower/host/host_threads.h"
#include "sys/syscall.h"

#include <errno.h>
#include <pmix.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

/* The table while the MPI library is being loaded, else NULL. */
static struct ckpt_lower *loading;

void ckpt_host_loading(struct ckpt_lower *table)
{
    CKPT_INVARIANT(table == NULL || loading == NULL); /* one library at a time */
    loading = table;
}

static const char *const volatile *last_words; /* NULL: none, ever */

void ckpt_host_last_words(const char *const volatile *words)
{
    last_words = words;
}

/* Makes the load fail if the library ends the process while it is loaded, so
 * that the application survives. Later the MPI library may end the process, as
 * it could without ckpt. */
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
    if (last_words != NULL && *last_words != NULL) {
        (void)ckpt_sys_write(STDERR_FILENO, *last_words, strlen(*last_words));
    }
}

CKPT_EXPORT void exit(int status)
{
    refuse_to_end("exit");
    ckpt_host_exit_run();
    CKPT_NEXT(exit)
    (status);
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
    CKPT_NEXT(abort)
    ();
    __builtin_unreachable();
}

/* ---- A library that gives up ---------------------------------------------------- */

#define LONGEST_REST 10 /* s, until an agent has ended this process */

static const volatile int32_t *stops_alone; /* NULL: no */

void ckpt_host_stops_alone(const volatile int32_t *whether)
{
    stops_alone = whether;
}

static void rest(void)
{
    struct timespec left = {.tv_sec = LONGEST_REST};

    while (nanosleep(&left, &left) != 0 && errno == EINTR) {
    }
}

/* No peer has died, so this rank has failed. */
__attribute__((noreturn)) static void end_alone(int status)
{
    fprintf(stderr, "ckpt: the MPI library of process %d gives up, with code %d\n",
            ckpt_sys_getpid(), status);
    for (;;) {
        ckpt_sys_kill(ckpt_sys_getpid(), SIGKILL);
    }
}

/* The real function is not in the scope of ckpt-host: libmpi has opened its library. */
CKPT_EXPORT pmix_status_t PMIx_Abort(int status, const char message[], pmix_proc_t processes[],
                                     size_t count)
{
    const __typeof__(&PMIx_Abort) real = ckpt_host_pmix_function("PMIx_Abort");

    if (stops_alone != NULL && *stops_alone != 0) {
        rest();
        end_alone(status);
    }
    return real == NULL ? PMIX_ERR_NOT_SUPPORTED : real(status, message, processes, count);
}

/* ---- Names ---------------------------------------------------------------------- */

/* Keeps the thread name that the application gave its thread. */
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
