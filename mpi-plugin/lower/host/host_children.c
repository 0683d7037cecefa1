/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host_children.c - record processes that the lower half has started, for
 * example the daemon of a program started without a launcher. They are not the
 * application's children.
 */
#include "config.h"
#include "lower/host/host_children.h"

#include "base/invariant.h"
#include "lower/host/change.h"
#include "lower/host/export.h"
#include "lower/host/host_descriptors.h"
#include "lower/host/reservation.h"

#include <unistd.h>

#define CHILDREN_MAX 64
_Static_assert((CHILDREN_MAX & (CHILDREN_MAX - 1)) == 0, "the oldest is next if `count` overflows");

static int children[CHILDREN_MAX];
static unsigned count; /* may exceed the maximum: the oldest are forgotten */

int ckpt_host_owns_process(int pid)
{
    CKPT_INVARIANT(pid > 0); /* 0 is a free place */
    for (int i = 0; i < CHILDREN_MAX; i++) {
        if (__atomic_load_n(&children[i], __ATOMIC_ACQUIRE) == pid) {
            return 1;
        }
    }
    return 0;
}

CKPT_EXPORT pid_t fork(void)
{
    pid_t (*next)(void) = CKPT_NEXT(fork);
    uint64_t mask;
    pid_t child;

    ckpt_change_begin(&mask);
    child = next();
    if (child == 0) {
        ckpt_reservation_after_fork();
        ckpt_host_descriptors_inherit();
    } else if (child > 0) {
        __atomic_store_n(&children[count++ % CHILDREN_MAX], child,
                         __ATOMIC_RELEASE);
    }
    ckpt_change_end(&mask);
    return child;
}

CKPT_EXPORT pid_t vfork(void)
{
    return fork();
}
