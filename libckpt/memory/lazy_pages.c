/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lazy_pages.c - the rank's side of a lazy restart.
 */
#include "memory/lazy_pages.h"

#include "base/invariant.h"
#include "sys/descriptor.h"
#include "sys/syscall.h"

#include <errno.h>
#include <sys/socket.h>

static struct {
    int faults;
    int server;
} lazy = {-1, -1};

void ckpt_lazy_pages_begin(int faults, int page_server)
{
    CKPT_INVARIANT((faults < 0) == (page_server < 0));
    lazy.faults = ckpt_descriptor_raise(faults);
    lazy.server = ckpt_descriptor_raise(page_server);
}

/* A page server that has gone cannot hear this. If it was not done, it has a guardian that ends
 * this process. */
static void tell(char message)
{
    if (lazy.server >= 0) {
        (void)ckpt_syscall6(SYS_sendto, lazy.server, (long)&message, 1, MSG_NOSIGNAL, 0, 0);
    }
}

void ckpt_lazy_pages_running(void)
{
    tell(CKPT_LAZY_PAGES_RUNNING);
}

int ckpt_lazy_pages_own_descriptor(int fd)
{
    return fd >= 0 && (fd == lazy.faults || fd == lazy.server);
}

void ckpt_lazy_pages_forget(void)
{
    CKPT_INVARIANT((lazy.faults < 0) == (lazy.server < 0));
    if (lazy.server >= 0) {
        ckpt_sys_close(lazy.faults);
        ckpt_sys_close(lazy.server);
        lazy.faults = lazy.server = -1;
    }
}

int ckpt_lazy_pages_await(struct ckpt_failure *failure)
{
    char message = 0;
    long got;

    if (lazy.server < 0) {
        return 0;
    }
    tell(CKPT_LAZY_PAGES_AWAITED);
    do {
        got = ckpt_sys_read(lazy.server, &message, 1);
    } while (got == -EINTR);
    if (got != 1 || message != CKPT_LAZY_PAGES_COMPLETE) {
        return ckpt_fail(failure, -EPIPE,
                         "the page server of the lazy restart ended before all memory was there");
    }
    ckpt_lazy_pages_forget();
    CKPT_INVARIANT(lazy.faults < 0);
    return 0;
}
