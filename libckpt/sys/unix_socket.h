/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * unix_socket.h - connections to sockets of this node.
 */
#ifndef CKPT_UNIX_SOCKET_H
#define CKPT_UNIX_SOCKET_H

/*
 * Connects to a Unix socket. type: SOCK_STREAM or another one. The descriptor, close-on-exec
 * and the caller's, or -errno; -ENAMETOOLONG if the path has no room in an address. Context:
 * normal, also in a constructor; by system calls of its own, as libc's may be wrapped.
 */
int ckpt_unix_connect(const char *path, int type);

#endif
