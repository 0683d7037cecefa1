/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * next.h - for functions of libc that the stand-in takes the place of.
 */
#ifndef CKPT_NEXT_H
#define CKPT_NEXT_H

#include <dlfcn.h>

/* Before a definition: the dynamic linker shall bind the application to it. */
#define CKPT_INTERPOSE __attribute__((visibility("default")))

/*
 * The definition that would have been used without ours, with its own type.
 * It is looked up once; two threads that do so at once find the same.
 */
#define CKPT_NEXT(name)                                                        \
    __extension__({                                                            \
        static __typeof__(&(name)) next_;                                      \
        __typeof__(&(name)) found_ = __atomic_load_n(&next_, __ATOMIC_RELAXED);\
        if (found_ == NULL) {                                                  \
            found_ = (__typeof__(&(name)))dlsym(RTLD_NEXT, #name);             \
            __atomic_store_n(&next_, found_, __ATOMIC_RELAXED);                \
        }                                                                      \
        found_;                                                                \
    })

#endif
