/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * unix_socket.c - connects to Unix sockets of this node.
 */
#include "sys/unix_socket.h"

#include "sys/syscall.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

int ckpt_unix_connect(const char *path, int type)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    long fd, result;

    if (strlen(path) >= sizeof(address.sun_path)) {
        return -ENAMETOOLONG;
    }
    strcpy(address.sun_path, path);
    fd = ckpt_syscall3(SYS_socket, AF_UNIX, type | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return (int)fd;
    }
    do {
        result = ckpt_syscall3(SYS_connect, fd, (long)&address, sizeof(address));
    } while (result == -EINTR);
    if (result < 0) {
        ckpt_sys_close((int)fd);
        return (int)result;
    }
    return (int)fd;
}
