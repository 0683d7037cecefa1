/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * socket_connect.c - makes a TCP connection again, both ends at once, and puts
 * the received data back into either end of a connection.
 */
#include "files/socket.h"

#include "base/invariant.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* Waiting times. The kernel reserves a port for a minute after a connection to
 * it has ended. For a new connection from the same host it reserves the port
 * for about a second. */
#define PORT_STEP_NS  100000000L
#define PORT_STEPS    700
#define CONNECT_STEPS 20

/* Removes the name that a Unix socket has left behind, if no process listens on
 * it. */
static void remove_stale_name(const struct ckpt_socket *saved)
{
    const char *path = ((const struct sockaddr_un *)saved->local)->sun_path;
    struct stat status;
    int fd;

    if (saved->domain != AF_UNIX || path[0] == '\0' ||
        lstat(path, &status) != 0 || !S_ISSOCK(status.st_mode)) {
        return;
    }
    fd = socket(AF_UNIX, saved->type | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (const struct sockaddr *)saved->local, saved->local_size) != 0 &&
        errno == ECONNREFUSED) {
        unlink(path);
    }
    close(fd);
}

int ckpt_socket_bind(int fd, const struct ckpt_socket *saved, int is_patient)
{
    const struct timespec step = {0, PORT_STEP_NS};
    const int on = 1;
    int error = -EADDRINUSE;

    if (saved->domain != AF_UNIX) {
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    }
    remove_stale_name(saved);
    for (int i = 0; error == -EADDRINUSE && i < PORT_STEPS; i++) {
        if (i > 0) {
            nanosleep(&step, NULL);
        }
        error = bind(fd, (const struct sockaddr *)saved->local,
                     saved->local_size) == 0
                    ? 0
                    : -errno;
        if (!is_patient) {
            break;
        }
    }
    return error;
}

/* Listens at the address where `server` was accepted, or at any address of this
 * host. */
static int listen_for(const struct ckpt_socket *server, int is_patient)
{
    struct sockaddr_in6 any6 = {.sin6_family = AF_INET6,
                                .sin6_addr = IN6ADDR_ANY_INIT};
    struct sockaddr_in any4 = {.sin_family = AF_INET};
    const int off = 0;
    int fd = socket(server->domain, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0) {
        return -errno;
    }
    if (server->domain == AF_INET6) {
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    }
    if (ckpt_socket_bind(fd, server, is_patient) != 0) {
        if (server->domain == AF_INET6) {
            bind(fd, (struct sockaddr *)&any6, sizeof any6);
        } else {
            bind(fd, (struct sockaddr *)&any4, sizeof any4);
        }
    }
    if (listen(fd, 1) != 0) {
        close(fd);
        return -errno;
    }
    return fd;
}

/* Computes the address of the listener on this host. */
static void aim(int listener, const struct ckpt_socket *client,
                struct sockaddr_storage *address, socklen_t *size_p)
{
    struct sockaddr_storage bound = {0};
    socklen_t size = sizeof bound;
    uint16_t port;

    CKPT_INVARIANT(client->remote_size <= sizeof *address); /* see the check of the payload */
    memcpy(address, client->remote, client->remote_size);
    *size_p = client->remote_size;
    getsockname(listener, (struct sockaddr *)&bound, &size);
    port = ckpt_socket_port((const uint8_t *)&bound);
    if (port == ckpt_socket_port(client->remote)) {
        return;
    }
    if (address->ss_family == AF_INET6 &&
        !IN6_IS_ADDR_V4MAPPED(&((struct sockaddr_in6 *)address)->sin6_addr)) {
        ((struct sockaddr_in6 *)address)->sin6_addr = in6addr_loopback;
        ((struct sockaddr_in6 *)address)->sin6_port = port;
    } else {
        ((struct sockaddr_in *)address)->sin_addr.s_addr =
            htonl(INADDR_LOOPBACK);
        ((struct sockaddr_in *)address)->sin_family = AF_INET;
        ((struct sockaddr_in *)address)->sin_port = port;
    }
}

/* Accepts the connection of `client` and closes all others. */
static int accept_from(int listener, int client)
{
    struct sockaddr_storage own = {0}, other = {0};
    socklen_t size = sizeof own;
    int fd;

    getsockname(client, (struct sockaddr *)&own, &size);
    for (;;) {
        size = sizeof other;
        fd = accept4(listener, (struct sockaddr *)&other, &size, SOCK_CLOEXEC);
        if (fd < 0 || ckpt_socket_same_address((const uint8_t *)&own,
                                               (const uint8_t *)&other)) {
            return fd < 0 ? -errno : fd;
        }
        close(fd);
    }
}

int ckpt_socket_may_accept(const struct ckpt_socket *a,
                           const struct ckpt_socket *b)
{
    return a->domain == b->domain || a->domain == AF_INET6;
}

/* Returns a socket connected to `listener`, from the client's port, or with
 * `anew` from any port; or -errno. */
static int connect_client(const struct ckpt_socket *client, int listener,
                          int anew)
{
    struct sockaddr_storage address = {0};
    socklen_t size;
    int fd = socket(client->domain, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int error;

    if (fd < 0) {
        return -errno;
    }
    if (!anew) {
        (void)ckpt_socket_bind(fd, client, 0);
    }
    aim(listener, client, &address, &size);
    if (connect(fd, (struct sockaddr *)&address, size) != 0) {
        error = -errno;
        close(fd);
        return error;
    }
    return fd;
}

int ckpt_socket_connect(const struct ckpt_socket *server,
                        const struct ckpt_socket *client, int listener,
                        int is_patient, int ends[2])
{
    const struct timespec step = {0, PORT_STEP_NS};
    const int made = listener < 0 ? listen_for(server, is_patient)
                                  : listener;

    if (made < 0) {
        return made;
    }
    ends[1] = connect_client(client, made, 0);
    for (int i = 0; ends[1] == -EADDRNOTAVAIL && i < CONNECT_STEPS; i++) {
        nanosleep(&step, NULL);
        ends[1] = connect_client(client, made, i + 1 == CONNECT_STEPS);
    }
    ends[0] = ends[1] < 0 ? ends[1] : accept_from(made, ends[1]);
    if (listener < 0) {
        close(made);
    }
    if (ends[0] < 0 && ends[1] >= 0) {
        close(ends[1]);
    }
    return ends[0] < 0 ? ends[0] : 0;
}

/* Bytes of all packets, as far as the payload is valid. */
static size_t total_size(const struct ckpt_socket_view *view)
{
    const struct ckpt_socket_packet *packet;
    const char *at = view->packets;
    size_t size = 0;

    for (uint32_t i = 0; i < view->socket->packet_count; i++) {
        packet = ckpt_socket_next_packet(view, &at);
        size += packet == NULL ? 0 : packet->size;
    }
    return size;
}

/* A TCP socket receives as many bytes as SO_RCVLOWAT requests. Unlike SO_RCVBUF
 * this does not stop the kernel from adapting the buffer later. */
static int fill_tcp(const struct ckpt_socket_view *view, int end, int other)
{
    const size_t size = total_size(view);
    const int wanted = size > (1u << 30) ? 1 << 30 : (int)size;
    const int usual = 1;
    int error;

    setsockopt(end, SOL_SOCKET, SO_RCVLOWAT, &wanted, sizeof wanted);
    error = ckpt_socket_queue_write(view, other);
    setsockopt(end, SOL_SOCKET, SO_RCVLOWAT, &usual, sizeof usual);
    return error;
}

static int fill_unix(const struct ckpt_socket_view *view, int other)
{
    const int room = 1 << 24; /* the kernel limits this to the allowed size */
    socklen_t size = sizeof(int);
    int before = 0;
    int error;

    getsockopt(other, SOL_SOCKET, SO_SNDBUF, &before, &size);
    setsockopt(other, SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
    error = ckpt_socket_queue_write(view, other);
    before /= 2;
    setsockopt(other, SOL_SOCKET, SO_SNDBUF, &before, sizeof before);
    return error;
}

int ckpt_socket_fill(const struct ckpt_socket_view *view, int end, int other)
{
    if (view->socket->packet_count == 0) {
        return 0;
    }
    return view->socket->domain == AF_UNIX ? fill_unix(view, other)
                                           : fill_tcp(view, end, other);
}
