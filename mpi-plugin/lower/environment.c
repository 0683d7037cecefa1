/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * environment.c - the environment variables of the lower half.
 *
 * It is the application's environment, without variables for the application's
 * libc and without those that would preload our stand-in again. Added settings
 * let two halves live in one process.
 */
#include "config.h"
#include "lower/environment.h"

#include "base/text.h"

#include <string.h>

/* The lower half gets LD_LIBRARY_PATH as an option of its dynamic linker. */
static const char *const dropped[] = {
    "LD_PRELOAD=",
    "LD_LIBRARY_PATH=",
    "LD_AUDIT=",
    "MALLOC_",
    "MIMALLOC_",
};

/*
 * Registration caches detect freed buffers by watching munmap, but only in
 * their own half. The application frees its buffers with the upper half's
 * munmap. So these settings disable such caches in Open MPI, UCX and libfabric.
 */
static const char *const added[] = {
    "OMPI_MCA_memory=^patcher",
    "UCX_MEM_EVENTS=n",
    "FI_MR_CACHE_MONITOR=disabled",
};

/* The kernel keeps one rseq area per thread, which stays the upper libc's. The
 * linker also sets aside room for thread-local variables. ckpt-host loads the
 * libraries late; libraries loaded at program start would not need that
 * room. */
static const char tunables_name[] = "GLIBC_TUNABLES";
static const char tunables_added[] =
    "glibc.pthread.rseq=0:glibc.rtld.optional_static_tls=16384";

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Returns 1 if both are settings of the same variable. */
static int same_variable(const char *a, const char *b)
{
    while (*a == *b && *a != '=' && *a != '\0') {
        a++;
        b++;
    }
    return *a == '=' && *b == '=';
}

static int is_kept(const char *entry)
{
    for (size_t i = 0; i < COUNT(dropped); i++) {
        if (ckpt_text_starts(entry, dropped[i])) {
            return 0;
        }
    }
    for (size_t i = 0; i < COUNT(added); i++) {
        if (same_variable(entry, added[i])) {
            return 0;
        }
    }
    return !ckpt_text_starts(entry, "GLIBC_TUNABLES=");
}

const char *ckpt_environment_value(char *const environment[], const char *name)
{
    size_t length = ckpt_text_length(name);

    for (; *environment != NULL; environment++) {
        if (ckpt_text_starts(*environment, name) &&
            (*environment)[length] == '=') {
            return *environment + length + 1;
        }
    }
    return NULL;
}

size_t ckpt_environment_measure(char *const environment[], size_t *count_p)
{
    size_t size = sizeof(tunables_name) + 1 + sizeof(tunables_added);
    size_t count = 1;

    for (; *environment != NULL; environment++) {
        size += ckpt_text_length(*environment) + 1;
        count++;
    }
    for (size_t i = 0; i < COUNT(added); i++) {
        size += ckpt_text_length(added[i]) + 1;
        count++;
    }
    *count_p = count;
    return size;
}

/* Copies without the NUL; returns the position of the next byte. */
static char *put(char *text, const char *from)
{
    size_t length = ckpt_text_length(from);

    memcpy(text, from, length);
    return text + length;
}

static char *put_tunables(char *const environment[], char *text)
{
    const char *value = ckpt_environment_value(environment, tunables_name);

    text = put(text, tunables_name);
    *text++ = '=';
    if (value != NULL && *value != '\0') {
        text = put(text, value);
        *text++ = ':';
    }
    text = put(text, tunables_added);
    *text++ = '\0';
    return text;
}

size_t ckpt_environment_write(char *const environment[], char *text,
                              uint64_t *vector)
{
    size_t count = 0;

    for (size_t i = 0; environment[i] != NULL; i++) {
        if (is_kept(environment[i])) {
            vector[count++] = (uint64_t)text;
            text = put(text, environment[i]);
            *text++ = '\0';
        }
    }
    for (size_t i = 0; i < COUNT(added); i++) {
        vector[count++] = (uint64_t)text;
        text = put(text, added[i]);
        *text++ = '\0';
    }
    vector[count++] = (uint64_t)text;
    put_tunables(environment, text);
    return count;
}
