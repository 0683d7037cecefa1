/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * started.c - reports the start of this process.
 */
#include "process/started.h"

#include "ckpt/wire.h"
#include "sys/syscall.h"
#include "sys/unix_socket.h"

#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>

void ckpt_tell_started(void)
{
    const char *path = getenv(CKPT_STARTED_VARIABLE);
    struct pollfd closed = {.events = POLLIN};

    if (path == NULL || (closed.fd = ckpt_unix_connect(path, SOCK_STREAM)) < 0) {
        return;
    }
    (void)ckpt_syscall3(SYS_poll, (long)&closed, 1, CKPT_STARTED_TIMEOUT_MS);
    ckpt_sys_close(closed.fd);
}
