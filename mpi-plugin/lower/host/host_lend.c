/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host_lend.c - lend thread pointers to threads of the application.
 *
 * If several threads may be in the lower half at once, each must look like a
 * thread of its libc, with its own thread-local storage. So for each one the
 * lower half has a thread that sleeps for ever. The application's thread uses
 * the sleeping thread's thread pointer.
 */
#include "base/invariant.h"
#include "config.h"
#include "lower/host/host_lend.h"

#include "sys/syscall.h"
#include "sys/thread_pointer.h"

#include <linux/futex.h>
#include <pthread.h>
#include <stddef.h>

/* The thread only sleeps, but its stack also holds the thread-local variables
 * of all libraries. */
#define STACK_SIZE (256ul * 1024)

struct loan {
    uintptr_t thread_pointer;
    volatile uint32_t known; /* futex: 1 once thread_pointer is set */
};

static void *sleep_for_ever(void *argument)
{
    static volatile uint32_t never;
    struct loan *loan = argument;

    loan->thread_pointer = ckpt_thread_pointer_get();
    __atomic_store_n(&loan->known, 1, __ATOMIC_RELEASE);
    ckpt_sys_futex(&loan->known, FUTEX_WAKE_PRIVATE, 1, NULL);
    for (;;) { /* another thread uses our storage now */
        ckpt_sys_futex(&never, FUTEX_WAIT_PRIVATE, 0, NULL);
    }
    return NULL;
}

int ckpt_host_lend(uintptr_t *thread_pointer)
{
    struct loan loan = {0};
    pthread_attr_t attributes;
    pthread_t thread;
    int error;

    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, STACK_SIZE);
    error = pthread_create(&thread, &attributes, sleep_for_ever, &loan);
    pthread_attr_destroy(&attributes);
    if (error != 0) {
        return -error;
    }
    while (__atomic_load_n(&loan.known, __ATOMIC_ACQUIRE) == 0) {
        ckpt_sys_futex(&loan.known, FUTEX_WAIT_PRIVATE, 0, NULL);
    }
    CKPT_INVARIANT(loan.thread_pointer != 0 && loan.thread_pointer % 16 == 0);
    *thread_pointer = loan.thread_pointer;
    return 0;
}
