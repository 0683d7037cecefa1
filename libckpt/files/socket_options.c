/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * socket_options.c - the options of a socket that a program may have set.
 *
 * A save reads all known options. A restart sets those that differ from a new
 * socket's.
 */
#include "files/socket.h"

#include "base/invariant.h"
#include "sys/syscall.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>

#define ANY 0

/* Missing from older headers. */
#ifndef SO_BUF_LOCK
#define SO_BUF_LOCK 72
#endif
#define SEND_BUFFER_LOCKED    1
#define RECEIVE_BUFFER_LOCKED 2

static const struct {
    int domain; /* AF_INET: also AF_INET6 */
    int level;
    int name;
    int early;
} known[] = {
    {ANY, SOL_SOCKET, SO_REUSEADDR, 1},
    {AF_INET, SOL_SOCKET, SO_REUSEPORT, 1},
    {AF_INET6, IPPROTO_IPV6, IPV6_V6ONLY, 1},
    {ANY, SOL_SOCKET, SO_SNDBUF, 0},
    {ANY, SOL_SOCKET, SO_RCVBUF, 0},
    {ANY, SOL_SOCKET, SO_KEEPALIVE, 0},
    {ANY, SOL_SOCKET, SO_BROADCAST, 0},
    {ANY, SOL_SOCKET, SO_LINGER, 0},
    {ANY, SOL_SOCKET, SO_RCVLOWAT, 0},
    {ANY, SOL_SOCKET, SO_RCVTIMEO, 0},
    {ANY, SOL_SOCKET, SO_SNDTIMEO, 0},
    {ANY, SOL_SOCKET, SO_TIMESTAMP, 0},
    {ANY, SOL_SOCKET, SO_TIMESTAMPNS, 0},
    {AF_UNIX, SOL_SOCKET, SO_PASSCRED, 0},
    {AF_INET, SOL_SOCKET, SO_OOBINLINE, 0},
    {AF_INET, SOL_SOCKET, SO_DONTROUTE, 0},
    {AF_INET, IPPROTO_IP, IP_TOS, 0},
    {AF_INET, IPPROTO_IP, IP_TTL, 0},
    {AF_INET, IPPROTO_IP, IP_PKTINFO, 0},
    {AF_INET, IPPROTO_IP, IP_MULTICAST_TTL, 0},
    {AF_INET, IPPROTO_IP, IP_MULTICAST_LOOP, 0},
    {AF_INET6, IPPROTO_IPV6, IPV6_UNICAST_HOPS, 0},
    {AF_INET6, IPPROTO_IPV6, IPV6_RECVPKTINFO, 0},
    {AF_INET, IPPROTO_TCP, TCP_NODELAY, 0},
    {AF_INET, IPPROTO_TCP, TCP_CORK, 0},
    {AF_INET, IPPROTO_TCP, TCP_KEEPIDLE, 0},
    {AF_INET, IPPROTO_TCP, TCP_KEEPINTVL, 0},
    {AF_INET, IPPROTO_TCP, TCP_KEEPCNT, 0},
    {AF_INET, IPPROTO_TCP, TCP_USER_TIMEOUT, 0},
    {AF_INET, IPPROTO_TCP, TCP_DEFER_ACCEPT, 0},
};
_Static_assert(sizeof known / sizeof known[0] <= CKPT_SOCKET_OPTIONS,
               "room for all options");

static long get_option(int fd, int level, int name, void *value,
                       uint32_t *size)
{
    return ckpt_syscall6(SYS_getsockopt, fd, level, name, (long)value,
                         (long)size, 0);
}

/* Returns 1 for a buffer size that the kernel has chosen and adapts. A size
 * that the program has set is locked. */
static int is_set_by_kernel(int fd, int level, int name)
{
    uint32_t size = sizeof(int);
    int locked = 0;

    if (level != SOL_SOCKET || (name != SO_SNDBUF && name != SO_RCVBUF)) {
        return 0;
    }
    get_option(fd, SOL_SOCKET, SO_BUF_LOCK, &locked, &size);
    return (locked & (name == SO_SNDBUF ? SEND_BUFFER_LOCKED
                                        : RECEIVE_BUFFER_LOCKED)) == 0;
}

/* Excludes multicast settings of stream sockets: an accepted socket has them,
 * but cannot set them. */
static int is_for(const struct ckpt_socket *socket, size_t i)
{
    if (socket->type == SOCK_STREAM && known[i].level == IPPROTO_IP &&
        (known[i].name == IP_MULTICAST_TTL ||
         known[i].name == IP_MULTICAST_LOOP)) {
        return 0;
    }
    return known[i].domain == ANY || known[i].domain == socket->domain ||
           (known[i].domain == AF_INET && socket->domain == AF_INET6);
}

size_t ckpt_socket_options_read(int fd, const struct ckpt_socket *socket,
                                struct ckpt_socket_option *options)
{
    size_t count = 0;

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        struct ckpt_socket_option *option = &options[count];

        *option = (struct ckpt_socket_option){
            .level = known[i].level,
            .name = known[i].name,
            .size = sizeof option->value,
        };
        if (is_for(socket, i) &&
            !is_set_by_kernel(fd, known[i].level, known[i].name) &&
            get_option(fd, option->level, option->name, option->value,
                       &option->size) == 0) {
            CKPT_INVARIANT(option->size <= sizeof option->value);
            count++;
        }
    }
    return count;
}

static int is_early(const struct ckpt_socket_option *option)
{
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (known[i].level == option->level && known[i].name == option->name) {
            return known[i].early;
        }
    }
    return 0;
}

/* Sets the option if its value differs. Returns 0 or -errno. */
static int write_option(int fd, const struct ckpt_socket_option *option)
{
    uint8_t now[sizeof option->value];
    socklen_t size = sizeof now;
    uint8_t value[sizeof option->value];
    int bytes;

    if (getsockopt(fd, option->level, option->name, now, &size) == 0 &&
        size == option->size && memcmp(now, option->value, size) == 0) {
        return 0;
    }
    memcpy(value, option->value, sizeof value);
    if (option->level == SOL_SOCKET &&
        (option->name == SO_SNDBUF || option->name == SO_RCVBUF)) {
        memcpy(&bytes, value, sizeof bytes);
        bytes /= 2; /* the kernel doubles the value that it gets */
        memcpy(value, &bytes, sizeof bytes);
    }
    return setsockopt(fd, option->level, option->name, value, option->size) == 0
               ? 0
               : -errno;
}

int ckpt_socket_options_write(const struct ckpt_socket_view *view, int fd,
                              int early)
{
    int error = 0;

    for (uint32_t i = 0; i < view->socket->option_count && error == 0; i++) {
        const struct ckpt_socket_option *option = &view->options[i];

        if (option->size > sizeof option->value) {
            return -EINVAL;
        }
        if (is_early(option) == early) {
            error = write_option(fd, option);
        }
    }
    return error;
}
