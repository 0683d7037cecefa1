/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * socket_peer.c - finds the other end of a socket.
 *
 * For Unix sockets the kernel reports it over netlink (sock_diag(7)). The ends
 * of an inet connection have each other's addresses, so the kernel can look up
 * the socket with the reversed addresses.
 */
#include "files/socket.h"

#include "base/text.h"
#include "sys/syscall.h"

#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <string.h>

/* Queries the kernel about a socket. Returns the size of the answer, which has
 * a header and at least `least` bytes after it, or -errno. */
static long ask(const void *request, size_t size, char *answer, size_t capacity,
                size_t least)
{
    struct nlmsghdr header;
    long result;
    int fd;

    fd = (int)ckpt_syscall3(SYS_socket, AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC,
                            NETLINK_SOCK_DIAG);
    if (fd < 0) {
        return fd;
    }
    result = ckpt_sys_write(fd, request, size);
    if (result >= 0) {
        result = ckpt_sys_read(fd, answer, capacity);
    }
    ckpt_sys_close(fd);
    if (result < (long)sizeof header) {
        return result < 0 ? result : -EPROTO;
    }
    memcpy(&header, answer, sizeof header);
    if (header.nlmsg_type == NLMSG_ERROR) {
        int error;

        memcpy(&error, answer + NLMSG_HDRLEN, sizeof error);
        return error < 0 ? error : -EPROTO;
    }
    return header.nlmsg_type == SOCK_DIAG_BY_FAMILY &&
                   header.nlmsg_len <= result &&
                   header.nlmsg_len >= NLMSG_HDRLEN + least
               ? (long)header.nlmsg_len
               : -EPROTO;
}

static void read_attributes(const char *at, const char *end,
                            struct ckpt_unix_facts *facts)
{
    struct nlattr attribute;
    struct unix_diag_rqlen queue;
    uint32_t peer;

    while (at + sizeof attribute <= end) {
        const char *value = at + NLA_HDRLEN;

        memcpy(&attribute, at, sizeof attribute);
        if (attribute.nla_len < NLA_HDRLEN || attribute.nla_len > end - at) {
            return;
        }
        switch (attribute.nla_type) {
        case UNIX_DIAG_PEER:
            memcpy(&peer, value, sizeof peer);
            facts->peer = peer;
            break;
        case UNIX_DIAG_SHUTDOWN:
            facts->shutdown = *(const uint8_t *)value;
            break;
        case UNIX_DIAG_RQLEN:
            memcpy(&queue, value, sizeof queue);
            facts->waiting = queue.udiag_rqueue;
            facts->backlog = queue.udiag_wqueue;
            break;
        }
        at += NLA_ALIGN(attribute.nla_len);
    }
}

int ckpt_socket_unix_facts(uint64_t inode, struct ckpt_unix_facts *facts)
{
    const struct {
        struct nlmsghdr header;
        struct unix_diag_req body;
    } request = {
        .header = {.nlmsg_len = sizeof request,
                   .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                   .nlmsg_flags = NLM_F_REQUEST},
        .body = {.sdiag_family = AF_UNIX,
                 .udiag_states = ~0u,
                 .udiag_ino = (uint32_t)inode,
                 .udiag_show = UDIAG_SHOW_PEER | UDIAG_SHOW_RQLEN,
                 .udiag_cookie = {~0u, ~0u}},
    };
    char answer[1024] __attribute__((aligned(8)));
    const size_t fixed = NLMSG_ALIGN(sizeof(struct unix_diag_msg));
    long size = ask(&request, sizeof request, answer, sizeof answer, fixed);

    *facts = (struct ckpt_unix_facts){0};
    if (size < 0) {
        return (int)size;
    }
    read_attributes(answer + NLMSG_HDRLEN + fixed, answer + size, facts);
    return 0;
}

/* Converts address and port to their IPv6 form. Returns 0 for another address
 * family. */
static int widen(const uint8_t *address, uint8_t wide[18])
{
    sa_family_t family;

    memset(wide, 0, 18);
    memcpy(&family, address, sizeof family);
    if (family == AF_INET) {
        const struct sockaddr_in *in = (const struct sockaddr_in *)address;

        wide[10] = wide[11] = 0xff;
        memcpy(wide + 12, &in->sin_addr, 4);
        memcpy(wide + 16, &in->sin_port, 2);
        return 1;
    }
    if (family == AF_INET6) {
        const struct sockaddr_in6 *in = (const struct sockaddr_in6 *)address;

        memcpy(wide, &in->sin6_addr, 16);
        memcpy(wide + 16, &in->sin6_port, 2);
        return 1;
    }
    return 0;
}

int ckpt_socket_same_address(const uint8_t *a, const uint8_t *b)
{
    uint8_t wide_a[18], wide_b[18];

    return widen(a, wide_a) && widen(b, wide_b) &&
           memcmp(wide_a, wide_b, sizeof wide_a) == 0;
}

void ckpt_socket_name(const uint8_t *address, char *text, size_t size)
{
    uint8_t wide[18];
    unsigned port;

    if (!widen(address, wide)) {
        ckpt_text_copy(text, size, "an address of another kind");
        return;
    }
    port = (unsigned)wide[16] << 8 | wide[17];
    if (wide[10] == 0xff && wide[11] == 0xff) {
        ckpt_text_format(text, size, "%u.%u.%u.%u:%u", wide[12], wide[13],
                         wide[14], wide[15], port);
    } else {
        uint64_t half[2];

        memcpy(half, wide, sizeof half);
        ckpt_text_format(text, size, "[%x:%x]:%u",
                         (unsigned long)__builtin_bswap64(half[0]),
                         (unsigned long)__builtin_bswap64(half[1]), port);
    }
}

static int address_of(long call, int fd, uint8_t address[128])
{
    uint32_t size = 128;

    memset(address, 0, 128);
    return ckpt_syscall3(call, fd, (long)address, (long)&size) == 0;
}

/* Finds the peer of a connection to another process. */
static uint64_t find_by_kernel(const struct ckpt_socket *socket)
{
    struct {
        struct nlmsghdr header;
        struct inet_diag_req_v2 body;
    } request = {
        .header = {.nlmsg_len = sizeof request,
                   .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                   .nlmsg_flags = NLM_F_REQUEST},
        .body = {.sdiag_family = AF_INET6,
                 .sdiag_protocol = IPPROTO_TCP,
                 .idiag_states = ~0u,
                 .id = {.idiag_cookie = {~0u, ~0u}}},
    };
    char answer[1024] __attribute__((aligned(8)));
    struct inet_diag_msg found;
    uint8_t local[18], remote[18];

    if (!widen(socket->local, local) || !widen(socket->remote, remote)) {
        return 0;
    }
    memcpy(request.body.id.idiag_src, remote, 16);
    memcpy(&request.body.id.idiag_sport, remote + 16, 2);
    memcpy(request.body.id.idiag_dst, local, 16);
    memcpy(&request.body.id.idiag_dport, local + 16, 2);
    if (ask(&request, sizeof request, answer, sizeof answer, sizeof found) <
        0) {
        return 0;
    }
    memcpy(&found, answer + NLMSG_HDRLEN, sizeof found);
    return found.idiag_state == TCP_LISTEN ? 0 : found.idiag_inode;
}

uint64_t ckpt_socket_inet_peer(const struct ckpt_file_save *save,
                               const struct ckpt_socket *socket)
{
    _Alignas(8) uint8_t local[128], remote[128];
    struct stat status;

    for (size_t i = 0; i < save->descriptor_count; i++) {
        int fd = save->descriptors[i];

        if (ckpt_sys_fstat(fd, &status) == 0 && S_ISSOCK(status.st_mode) &&
            address_of(SYS_getsockname, fd, local) &&
            address_of(SYS_getpeername, fd, remote) &&
            ckpt_socket_same_address(local, socket->remote) &&
            ckpt_socket_same_address(remote, socket->local)) {
            return status.st_ino;
        }
    }
    return find_by_kernel(socket);
}

uint16_t ckpt_socket_port(const uint8_t *address)
{
    uint16_t port; /* sin_port and sin6_port have the same offset */

    memcpy(&port, address + offsetof(struct sockaddr_in, sin_port),
           sizeof port);
    return port;
}
