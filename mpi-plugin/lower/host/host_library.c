/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host_library.c - the MPI library of the lower half: Open MPI's, or MPICH's
 * behind the adapter, a library of ours that gives it the types and constants
 * of Open MPI.
 */
#include "config.h"
#include "lower/host/host_library.h"

#include "adapt/adapter.h"
#include "base/invariant.h"
#include "lower/host/host_process.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define PATH_SIZE 4096
#define ADAPTER   "libckpt-mpich.so"

static void *library;
static const struct ckpt_adapter *adapter; /* NULL: Open MPI */

__attribute__((format(printf, 2, 3))) static int
fail(struct ckpt_lower *table, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(table->failure.text, sizeof(table->failure.text), format,
              arguments);
    va_end(arguments);
    return -ENOTSUP;
}

/* Returns whether the library has an extension of MPICH, which its derivatives
 * also have. */
static int is_mpich(void)
{
    return dlsym(library, "MPIX_Grequest_start") != NULL;
}

static int open_adapter(struct ckpt_lower *table, const char *host_path)
{
    const char *slash = strrchr(host_path, '/');
    const char *reason;
    char path[PATH_SIZE];
    void *opened;

    snprintf(path, sizeof(path), "%.*s" ADAPTER,
             slash == NULL ? 0 : (int)(slash + 1 - host_path), host_path);
    opened = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (opened == NULL) {
        return fail(table,
                    "%s is MPICH's library; ckpt was built without MPICH, or "
                    "its adapter is missing: %s",
                    table->library, dlerror());
    }
    adapter = dlsym(opened, CKPT_ADAPTER_SYMBOL);
    if (adapter == NULL) {
        return fail(table, "%s is of another version", path);
    }
    reason = adapter->refuse();
    return reason == NULL ? 0 : fail(table, "%s: %s", table->library, reason);
}

int ckpt_host_library_open(struct ckpt_lower *table, const char *host_path)
{
    CKPT_INVARIANT(library == NULL && adapter == NULL); /* a lower half has one library */
    ckpt_host_loading(table);
    library = dlopen(table->library, RTLD_NOW | RTLD_GLOBAL);
    ckpt_host_loading(NULL);
    if (library == NULL) {
        (void)fail(table, "cannot load the MPI library: %s", dlerror());
        return -ENOENT;
    }
    return is_mpich() ? open_adapter(table, host_path) : 0;
}

void *ckpt_host_library_function(const char *name)
{
    CKPT_INVARIANT(library != NULL);
    return adapter != NULL ? adapter->function(name) : dlsym(library, name);
}

void *ckpt_host_library_object(const char *symbol)
{
    return adapter != NULL ? adapter->object(symbol) : dlsym(library, symbol);
}

int ckpt_host_library_has(void *address)
{
    Dl_info own, other;

    return adapter != NULL &&
           dladdr(dlsym(library, "PMPI_Init"), &own) != 0 &&
           dladdr(address, &other) != 0 && own.dli_fbase == other.dli_fbase;
}
