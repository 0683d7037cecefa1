/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wrapper.h - common parts of every hand-written MPI wrapper.
 */
#ifndef CKPT_WRAPPER_H
#define CKPT_WRAPPER_H

#include "handles/handles.h"
#include "runtime/crossing.h"

/* MPI_<name> as a weak alias of PMPI_<name>, so that profiling tools work. */
#define CKPT_ALIAS(name)                      \
    extern __typeof__(PMPI_##name) MPI_##name \
        __attribute__((weak, alias("PMPI_" #name)))

/* Exports the same function under the names of Open MPI's extensions. */
#define CKPT_EXTENSION(name)                                          \
    extern __typeof__(PMPI_##name) PMPIX_##name, MPIX_##name;         \
    __typeof__(PMPI_##name) PMPIX_##name                              \
        __attribute__((visibility("default"), alias("PMPI_" #name))); \
    __typeof__(PMPI_##name) MPIX_##name                               \
        __attribute__((visibility("default"), weak, alias("PMPI_" #name)))

/* Start and end of the stand-in's code (from the linker). */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char etext[] __attribute__((visibility("hidden")));

/*
 * Returns where the application called the wrapper with this frame. A Fortran
 * binding may be in between; it is our code, so it has a frame too.
 */
static inline void *ckpt_site(void *caller, void *const *frame)
{
    if ((const char *)caller >= __ehdr_start && (const char *)caller < etext) {
        return ((void *const *)frame[0])[1];
    }
    return caller;
}
#define CKPT_SITE \
    ckpt_site(__builtin_return_address(0), __builtin_frame_address(0))

/* Checks an argument, as the real library does before it acts: the error
 * handler of `object` gets the error. */
#define CKPT_REQUIRE(condition, object, code, name)      \
    do {                                                 \
        if (__builtin_expect(!(condition), 0)) {         \
            return ckpt_error((object), (code), (name)); \
        }                                                \
    } while (0)

/* For wrappers that need no ckpt_begin: MPI must have begun and not ended. */
#define CKPT_INSIDE(name)                                              \
    do {                                                               \
        if (__builtin_expect(ckpt_slow_path & CKPT_SLOW_OUTSIDE, 0)) { \
            ckpt_outside(name);                                        \
        }                                                              \
    } while (0)

/* Ends a wrapper: leaves the critical section, then calls the application's
 * error handler after a failure. */
#define CKPT_RETURN(object, code, name)                   \
    do {                                                  \
        int code_ = (code);                               \
        ckpt_end();                                       \
        return __builtin_expect(code_ == MPI_SUCCESS, 1)  \
                   ? MPI_SUCCESS                          \
                   : ckpt_error((object), code_, (name)); \
    } while (0)

#endif
