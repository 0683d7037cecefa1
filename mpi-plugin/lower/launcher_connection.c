/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * launcher_connection.c - which descriptors connect this process to the server of its launcher.
 *
 * A URI ends in tcp4://ADDRESS:PORT or tcp6://ADDRESS:PORT (PMIx, ptl/base).
 */
#include "lower/launcher_connection.h"

#include "base/text.h"
#include "sys/syscall.h"

#include <netinet/in.h>
#include <stddef.h>
#include <sys/socket.h>

#define VARIABLE "PMIX_SERVER_URI"

union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

static unsigned port_of(in_port_t port)
{
    return ntohs(port);
}

/* Writes how a URI with this address ends. The text of an IPv6 address is not unique, so only the
 * port counts. Returns 0 if it is none of TCP. */
static int end_of_uri(const union address *peer, char *end, size_t size)
{
    const unsigned char *byte = (const unsigned char *)&peer->v4.sin_addr;

    if (peer->any.sa_family == AF_INET) {
        ckpt_text_format(end, size, "tcp4://%u.%u.%u.%u:%u", byte[0], byte[1], byte[2], byte[3],
                         port_of(peer->v4.sin_port));
    } else if (peer->any.sa_family == AF_INET6) {
        ckpt_text_format(end, size, "]:%u", port_of(peer->v6.sin6_port));
    }
    return peer->any.sa_family == AF_INET || peer->any.sa_family == AF_INET6;
}

int ckpt_launcher_connection(int fd, char *const environment[])
{
    union address peer = {.any = {.sa_family = AF_UNSPEC}};
    socklen_t size = sizeof(peer);
    char end[64];

    if (ckpt_syscall3(SYS_getpeername, fd, (long)&peer, (long)&size) != 0 ||
        !end_of_uri(&peer, end, sizeof(end))) {
        return 0;
    }
    for (; *environment != NULL; environment++) {
        if (ckpt_text_starts(*environment, VARIABLE) && ckpt_text_ends(*environment, end)) {
            return 1;
        }
    }
    return 0;
}
