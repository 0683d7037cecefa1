/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * next.h - macros for libc functions that the stand-in replaces.
 */
#ifndef CKPT_NEXT_H
#define CKPT_NEXT_H

#include <dlfcn.h>

/* Marks a definition that the dynamic linker should bind the application to. */
#define CKPT_INTERPOSE __attribute__((visibility("default")))

/*
 * The next definition, which would be used without ours, with its own type. It
 * is looked up once; two threads that do so at once find the same.
 */
#define CKPT_NEXT(name)                                                         \
    __extension__({                                                             \
        static __typeof__(&(name)) next_;                                       \
        __typeof__(&(name)) found_ = __atomic_load_n(&next_, __ATOMIC_RELAXED); \
        if (found_ == NULL) {                                                   \
            found_ = (__typeof__(&(name)))dlsym(RTLD_NEXT, #name);              \
            __atomic_store_n(&next_, found_, __ATOMIC_RELAXED);                 \
        }                                                                       \
        found_;                                                                 \
    })

#endif
