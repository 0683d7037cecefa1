/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * unix_socket.h - connects to Unix sockets of this node.
 */
#ifndef CKPT_UNIX_SOCKET_H
#define CKPT_UNIX_SOCKET_H

/*
 * Connects to a Unix socket. type: SOCK_STREAM or another one. Returns the descriptor,
 * close-on-exec, for the caller to close; or -errno, -ENAMETOOLONG if the path does not fit
 * into an address. Context: normal, also in a constructor: it makes raw system calls, since
 * libc's may be wrapped.
 */
int ckpt_unix_connect(const char *path, int type);

#endif
