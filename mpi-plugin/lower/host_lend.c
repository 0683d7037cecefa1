/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host_lend.c - thread pointers for threads of the application.
 *
 * Where several threads may be in the lower half at once, each must be a
 * thread of its libc, with thread-local storage of its own. So there is one
 * thread of the lower half for each, which does nothing but sleep for ever:
 * the application's thread goes by its thread pointer.
 */
#include "config.h"
#include "lower/host_lend.h"

#include "sys/syscall.h"
#include "sys/thread_pointer.h"

#include <linux/futex.h>
#include <pthread.h>
#include <stddef.h>

/* It only sleeps; the storage of all libraries' thread-local variables comes
 * out of the stack as well. */
#define STACK_SIZE (256ul * 1024)

struct loan {
    uintptr_t thread_pointer;
    volatile uint32_t known; /* futex: 1 once thread_pointer is there */
};

static void *sleep_for_ever(void *argument)
{
    static volatile uint32_t never;
    struct loan *loan = argument;

    loan->thread_pointer = ckpt_thread_pointer_get();
    __atomic_store_n(&loan->known, 1, __ATOMIC_RELEASE);
    ckpt_sys_futex(&loan->known, FUTEX_WAKE_PRIVATE, 1, NULL);
    for (;;) { /* from here on its storage is another's */
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
    *thread_pointer = loan.thread_pointer;
    return 0;
}
