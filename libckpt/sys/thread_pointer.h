/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * thread_pointer.h - the fs base, which selects the half that runs.
 *
 * Uses FSGSBASE instructions if the kernel allows them (AT_HWCAP2 bit 1),
 * otherwise arch_prctl. Context: any; code around a switch must not use TLS
 * (compile with -fno-stack-protector).
 */
#ifndef CKPT_THREAD_POINTER_H
#define CKPT_THREAD_POINTER_H

#include <asm/prctl.h>
#include <stdint.h>
#include <sys/syscall.h>

/* 1 if rdfsbase and wrfsbase work; set by ckpt_thread_pointer_open(). */
extern int ckpt_have_fsgsbase __attribute__((visibility("hidden")));

/* Returns 1 if the kernel lets programs use rdfsbase and wrfsbase. Context: as
 * of getauxval; after a restart it describes the kernel on which the program
 * started. */
int ckpt_kernel_allows_fsgsbase(void);

void ckpt_thread_pointer_open(void);

static inline uintptr_t ckpt_thread_pointer_get(void)
{
    uintptr_t value;

    if (__builtin_expect(ckpt_have_fsgsbase, 1)) {
        __asm__ volatile("rdfsbase %0"
                         : "=r"(value));
    } else {
        long result;
        __asm__ volatile("syscall"
                         : "=a"(result)
                         : "a"(SYS_arch_prctl), "D"(ARCH_GET_FS), "S"(&value)
                         : "rcx", "r11", "memory");
    }
    return value;
}

/* As ckpt_thread_pointer_get(), if a libc's thread control block is active. The
 * block begins with its own address (System V ABI, x86-64 TLS), and a load is
 * faster than rdfsbase. Not __builtin_thread_pointer, which the compiler may
 * evaluate again later. */
static inline uintptr_t ckpt_thread_pointer_load(void)
{
    uintptr_t value;

    __asm__ volatile("mov %%fs:0, %0"
                     : "=r"(value));
    return value;
}

static inline void ckpt_thread_pointer_set(uintptr_t value)
{
    if (__builtin_expect(ckpt_have_fsgsbase, 1)) {
        __asm__ volatile("wrfsbase %0"
                         :
                         : "r"(value)
                         : "memory");
    } else {
        long result;
        __asm__ volatile("syscall"
                         : "=a"(result)
                         : "a"(SYS_arch_prctl), "D"(ARCH_SET_FS), "S"(value)
                         : "rcx", "r11", "memory");
    }
}

/*
 * The two halves of this process, as the thread pointer distinguishes them: a
 * pair for each thread pointer of the lower half. A program with at most one
 * thread in the lower half has a single pair. A signal handler that finds fs ==
 * lower runs its body with fs == upper, and then restores the old value.
 * `lower` is 0 while no lower half is loaded.
 */
struct ckpt_halves {
    volatile uintptr_t lower; /* a thread pointer of the lower half */
    volatile uintptr_t upper; /* thread pointer of the application thread now in
                                 the lower half */
    /*
     * The same thread pointer while that thread runs a handler of the
     * application on top of a call into the lower half. Its fs is then the
     * upper one, yet the thread is inside the lower half and must not be
     * parked. The value stays set if the handler leaves by a jump, which
     * abandons the MPI call. The thread then cannot be parked until its next
     * handler.
     */
    volatile uintptr_t above;
};

#define CKPT_HALVES_MAX 1024u
extern struct ckpt_halves ckpt_halves[CKPT_HALVES_MAX]
    __attribute__((visibility("hidden")));
extern volatile uint32_t ckpt_halves_count /* pairs ever used; at least 1 */
    __attribute__((visibility("hidden")));

/* Returns the pair of a lower thread pointer; NULL for an upper one. Context:
 * any. */
static inline struct ckpt_halves *ckpt_halves_below(uintptr_t thread_pointer)
{
    for (uint32_t i = 0; i < ckpt_halves_count; i++) {
        if (ckpt_halves[i].lower == thread_pointer) {
            return &ckpt_halves[i];
        }
    }
    return 0;
}

/* Returns 1 for the (upper) thread pointer of a thread in a handler above a
 * call. */
static inline int ckpt_halves_above(uintptr_t thread_pointer)
{
    for (uint32_t i = 0; i < ckpt_halves_count; i++) {
        if (ckpt_halves[i].above == thread_pointer) {
            return 1;
        }
    }
    return 0;
}

#endif
