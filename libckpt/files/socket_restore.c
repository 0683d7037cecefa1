/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * socket_restore.c - sockets made again: pairs connected to each other, others
 * bound and listening where they were.
 */
#include "files/socket.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* The kernel keeps a port for a minute after a connection to it has ended. */
#define PORT_STEP_NS 100000000L
#define PORT_STEPS 700

/* The payload of *file, checked. 0 or -EINVAL. */
static int open_view(const struct ckpt_file_restore *restore,
                     const struct ckpt_file *file,
                     struct ckpt_socket_view *view)
{
    const char *bytes = (const char *)ckpt_file_saved_bytes(restore, file);
    const struct ckpt_socket *saved = (const struct ckpt_socket *)bytes;
    uint64_t left = file->payload_size;

    if (bytes == NULL || left < sizeof *saved ||
        saved->option_count > (left - sizeof *saved) / sizeof *view->options ||
        saved->local_size > sizeof saved->local ||
        saved->remote_size > sizeof saved->remote) {
        return -EINVAL;
    }
    view->socket = saved;
    view->options = (const struct ckpt_socket_option *)(bytes + sizeof *saved);
    view->packets = (const char *)(view->options + saved->option_count);
    view->end = bytes + left;
    return 0;
}

typedef int (*wanted_t)(const struct ckpt_file *, const struct ckpt_socket *,
                        const struct ckpt_socket *of);

/* Finds a socket of the image that is wanted, and opens its view. */
static const struct ckpt_file *find(const struct ckpt_file_restore *restore,
                                    wanted_t is_wanted,
                                    const struct ckpt_socket *of,
                                    struct ckpt_socket_view *view)
{
    for (size_t i = 0; i < restore->count; i++) {
        const struct ckpt_file *file = &restore->files[i];

        if (file->kind == CKPT_FILE_SOCKET && file->same_as < 0 &&
            open_view(restore, file, view) == 0 &&
            is_wanted(file, view->socket, of)) {
            return file;
        }
    }
    return NULL;
}

static int is_peer(const struct ckpt_file *file, const struct ckpt_socket *saved,
                   const struct ckpt_socket *of)
{
    return file->inode == of->peer && saved->domain != 0;
}

/* sin_port and sin6_port are in the same place. */
static uint16_t port_of(const uint8_t *address)
{
    uint16_t port;

    memcpy(&port, address + offsetof(struct sockaddr_in, sin_port),
           sizeof port);
    return port;
}

/* Listens where `of` was accepted. */
static int is_listener(const struct ckpt_file *file,
                       const struct ckpt_socket *saved,
                       const struct ckpt_socket *of)
{
    (void)file;
    return saved->state == CKPT_SOCKET_LISTENING && saved->domain != AF_UNIX &&
           port_of(saved->local) == port_of(of->local);
}

/* Sent a packet from `of`'s remote address. */
static int is_source(const struct ckpt_file *file,
                     const struct ckpt_socket *saved,
                     const struct ckpt_socket *of)
{
    (void)file;
    return saved->type == of->type && saved->local_size == of->remote_size &&
           memcmp(saved->local, of->remote, of->remote_size) == 0;
}

/* Two Unix sockets that are connected to each other. */
static const struct ckpt_file *find_twin(const struct ckpt_file_restore *restore,
                                         const struct ckpt_file *file,
                                         const struct ckpt_socket *saved,
                                         struct ckpt_socket_view *view)
{
    const struct ckpt_file *twin =
        saved->peer == 0 ? NULL : find(restore, is_peer, saved, view);

    return twin != NULL && view->socket->peer == file->inode ? twin : NULL;
}

static int is_pair(const struct ckpt_file_restore *restore,
                   const struct ckpt_file *file,
                   const struct ckpt_socket *saved)
{
    struct ckpt_socket_view view;

    return saved->state == CKPT_SOCKET_CONNECTED &&
           (saved->type != SOCK_DGRAM ||
            (saved->domain == AF_UNIX &&
             find_twin(restore, file, saved, &view) != NULL));
}

/* A socket that nobody listens on has left its name behind. */
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
    if (fd >= 0 && connect(fd, (const struct sockaddr *)saved->local,
                           saved->local_size) != 0 &&
        errno == ECONNREFUSED) {
        unlink(path);
    }
    close(fd);
}

/* Binds to the saved address; waits while the kernel still keeps the port of
 * connections that have ended. 0 or -errno. */
static int bind_again(int fd, const struct ckpt_socket *saved, int is_patient)
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

static int has_name(const struct ckpt_socket *saved)
{
    return saved->domain == AF_UNIX
               ? saved->local_size > sizeof(sa_family_t)
               : saved->local_size != 0 && port_of(saved->local) != 0;
}

/* A socket that is no end of a pair. The descriptor, or -errno. */
static int make_single(const struct ckpt_socket_view *view)
{
    const struct ckpt_socket *saved = view->socket;
    int fd = socket(saved->domain, saved->type | SOCK_CLOEXEC, saved->protocol);
    int error;

    if (fd < 0) {
        return -errno;
    }
    error = ckpt_socket_options_write(view, fd, 1);
    if (error == 0 && has_name(saved)) {
        error = bind_again(fd, saved, saved->domain != AF_UNIX);
    }
    if (error == 0 && saved->state == CKPT_SOCKET_LISTENING &&
        listen(fd, saved->backlog) != 0) {
        error = -errno;
    }
    if (error == 0 && saved->state == CKPT_SOCKET_CONNECTED &&
        saved->domain != AF_UNIX &&
        connect(fd, (const struct sockaddr *)saved->remote,
                saved->remote_size) != 0) {
        error = -errno;
    }
    if (error != 0) {
        close(fd);
        return error;
    }
    return fd;
}

/* Two Unix sockets, the second for the other end. 0 or -errno. */
static int connect_unix(const struct ckpt_socket *saved, int ends[2])
{
    return socketpair(AF_UNIX, saved->type | SOCK_CLOEXEC, saved->protocol,
                      ends) == 0
               ? 0
               : -errno;
}

/* Listens where `server` was accepted, or anywhere on this host. */
static int listen_for(const struct ckpt_socket *server)
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
    if (bind_again(fd, server, 0) != 0) {
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

/* The listening socket of the program itself, or one for the moment. */
static int find_listener(struct ckpt_file_restore *restore,
                         const struct ckpt_socket *server, int *is_ours_p)
{
    struct ckpt_socket_view view;
    const struct ckpt_file *file = find(restore, is_listener, server, &view);
    struct ckpt_file_made *made;
    int fd;

    *is_ours_p = file == NULL;
    if (file == NULL) {
        return listen_for(server);
    }
    made = ckpt_file_find_made(restore, file);
    if (made == NULL) {
        fd = make_single(&view);
        if (fd < 0) {
            return fd;
        }
        made = ckpt_file_add_made(restore, file, fd, -1);
    }
    return made == NULL ? -EMFILE : made->fds[0];
}

/* Where to reach the listener: on this host. */
static void aim(int listener, const struct ckpt_socket *client,
                struct sockaddr_storage *address, socklen_t *size_p)
{
    struct sockaddr_storage bound = {0};
    socklen_t size = sizeof bound;
    uint16_t port;

    memcpy(address, client->remote, client->remote_size);
    *size_p = client->remote_size;
    getsockname(listener, (struct sockaddr *)&bound, &size);
    port = port_of((const uint8_t *)&bound);
    if (port == port_of(client->remote)) {
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

/* Takes the connection of `client`; others that come are turned away. */
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

/* A TCP connection: ends[0] the server's. The client gets its port back if it
 * is free. 0 or -errno. */
static int connect_tcp(struct ckpt_file_restore *restore,
                       const struct ckpt_socket *server,
                       const struct ckpt_socket *client, int ends[2])
{
    struct sockaddr_storage address = {0};
    socklen_t size;
    int is_ours;
    int listener = find_listener(restore, server, &is_ours);
    int error = 0;

    if (listener < 0) {
        return listener;
    }
    ends[1] = socket(client->domain, SOCK_STREAM | SOCK_CLOEXEC, 0);
    (void)bind_again(ends[1], client, 0);
    aim(listener, client, &address, &size);
    if (connect(ends[1], (struct sockaddr *)&address, size) != 0) {
        error = -errno;
    } else {
        ends[0] = accept_from(listener, ends[1]);
        error = ends[0] < 0 ? ends[0] : 0;
    }
    if (is_ours) {
        close(listener);
    }
    if (error != 0) {
        close(ends[1]);
    }
    return error;
}

/* Whether `a` is the end that was accepted: by a listener that is still there,
 * else either will do, but only an IPv6 socket can take both kinds. */
static int is_server(const struct ckpt_file_restore *restore,
                     const struct ckpt_socket *a, const struct ckpt_socket *b)
{
    struct ckpt_socket_view view;

    if (find(restore, is_listener, a, &view) != NULL) {
        return 1;
    }
    return find(restore, is_listener, b, &view) == NULL &&
           (a->domain == b->domain || a->domain == AF_INET6);
}

/* Puts what one end had received into the other. 0 or -errno. */
static int fill(const struct ckpt_socket_view *view, int other)
{
    const int room = 1 << 24; /* as much as is allowed here */
    socklen_t size = sizeof(int);
    int before = 0;
    int error;

    if (view->socket->packet_count == 0) {
        return 0;
    }
    if (view->socket->domain != AF_UNIX) {
        return ckpt_socket_queue_write(view, other);
    }
    getsockopt(other, SOL_SOCKET, SO_SNDBUF, &before, &size);
    setsockopt(other, SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
    error = ckpt_socket_queue_write(view, other);
    before /= 2;
    setsockopt(other, SOL_SOCKET, SO_SNDBUF, &before, sizeof before);
    return error;
}

/* Makes both ends; for Unix sockets the other may be gone. 0 or -errno. */
static int make_pair(struct ckpt_file_restore *restore,
                     const struct ckpt_file *file,
                     const struct ckpt_socket_view *view)
{
    const struct ckpt_socket *saved = view->socket;
    struct ckpt_socket_view other_view;
    const struct ckpt_file *other =
        saved->peer == 0 ? NULL : find(restore, is_peer, saved, &other_view);
    int ends[2];
    int error;

    if (saved->peer != 0 && other == NULL) {
        return -EINVAL;
    }
    if (saved->domain == AF_UNIX) {
        error = connect_unix(saved, ends);
    } else if (other == NULL) {
        error = -EINVAL;
    } else if (is_server(restore, saved, other_view.socket)) {
        error = connect_tcp(restore, saved, other_view.socket, ends);
    } else {
        int turned[2];

        error = connect_tcp(restore, other_view.socket, saved, turned);
        ends[0] = turned[1];
        ends[1] = turned[0];
    }
    if (error == 0) {
        error = fill(view, ends[1]);
        error = error == 0 && other != NULL ? fill(&other_view, ends[0])
                                            : error;
        if (ckpt_file_add_made(restore, file, ends[0], -1) == NULL) {
            error = -EMFILE;
        }
        if (other == NULL) {
            close(ends[1]);
        } else if (ckpt_file_add_made(restore, other, ends[1], -1) == NULL) {
            error = -EMFILE;
        }
    }
    return error;
}

static int lost(const struct ckpt_file_restore *restore,
                const struct ckpt_file *file, const struct ckpt_socket *saved,
                int error, struct ckpt_failure *failure)
{
    char name[128] = "";

    if (saved->domain == AF_UNIX) {
        memcpy(name, ((const struct sockaddr_un *)saved->local)->sun_path,
               sizeof ((const struct sockaddr_un *)saved->local)->sun_path);
    } else {
        ckpt_socket_name(saved->local, name, sizeof name);
    }
    return ckpt_fail(failure, error,
                     "descriptor %d (%s, address %s) cannot be restored: %s",
                     file->descriptor, restore->strings + file->path, name,
                     strerror(-error));
}

int ckpt_socket_restore(struct ckpt_file_restore *restore,
                        const struct ckpt_file *file,
                        struct ckpt_failure *failure)
{
    const struct ckpt_file_made *made = ckpt_file_find_made(restore, file);
    struct ckpt_socket_view view;
    int error = 0;
    int fd;

    if (open_view(restore, file, &view) != 0) {
        return ckpt_file_lost(restore, file, -EINVAL,
                              "the image lacks its description", failure);
    }
    if (made == NULL && is_pair(restore, file, view.socket)) {
        error = make_pair(restore, file, &view);
        made = error == 0 ? ckpt_file_find_made(restore, file) : NULL;
    }
    if (error == 0 && made == NULL) {
        fd = make_single(&view);
        if (fd >= 0 && view.socket->state == CKPT_SOCKET_LISTENING) {
            /* Connections through it may still have to be made. */
            made = ckpt_file_add_made(restore, file, fd, -1);
            fd = -EMFILE;
        }
    } else {
        fd = error;
    }
    if (made != NULL) {
        fd = fcntl(made->fds[0], F_DUPFD_CLOEXEC, restore->first_free);
        fd = fd < 0 ? -errno : fd;
    }
    return fd < 0 ? lost(restore, file, view.socket, fd, failure) : fd;
}

/* Sends a packet again from where it came. UDP may lose one whose sender is in
 * no process any more; of a Unix socket it comes without the sender's name. */
static int send_again(const struct ckpt_file_restore *restore,
                      const struct ckpt_socket *saved,
                      const struct ckpt_socket_packet *packet)
{
    struct ckpt_socket of = {.type = saved->type,
                             .remote_size = packet->source_size};
    struct ckpt_socket_view view;
    const struct ckpt_file *source;
    int own = -1;
    ssize_t sent;

    memcpy(of.remote, packet->source, packet->source_size);
    source = find(restore, is_source, &of, &view);
    if (source == NULL && saved->domain != AF_UNIX) {
        return 0;
    }
    if (source == NULL) {
        own = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    }
    sent = sendto(source == NULL ? own : source->descriptor, packet + 1,
                  packet->size, MSG_DONTWAIT | MSG_NOSIGNAL,
                  (const struct sockaddr *)saved->local, saved->local_size);
    close(own);
    return sent == (ssize_t)packet->size ? 0 : -EIO;
}

/* What a datagram socket that is no end of a pair had received. */
static int refill(const struct ckpt_file_restore *restore,
                  const struct ckpt_socket_view *view)
{
    const struct ckpt_socket_packet *packet;
    const char *at = view->packets;
    int error = 0;

    for (uint32_t i = 0; i < view->socket->packet_count && error == 0; i++) {
        packet = ckpt_socket_next_packet(view, &at);
        error = packet == NULL
                    ? -EINVAL
                    : send_again(restore, view->socket, packet);
    }
    return error;
}

/* A Unix datagram socket's connection to one that is bound by now. */
static int connect_named(int fd, const struct ckpt_socket *saved)
{
    return saved->state != CKPT_SOCKET_CONNECTED || saved->domain != AF_UNIX ||
                   connect(fd, (const struct sockaddr *)saved->remote,
                           saved->remote_size) == 0
               ? 0
               : -errno;
}

int ckpt_socket_finish(struct ckpt_file_restore *restore,
                       const struct ckpt_file *file,
                       struct ckpt_failure *failure)
{
    const int fd = file->descriptor;
    struct ckpt_socket_view view;
    int error = 0;

    if (file->same_as >= 0) {
        return 0;
    }
    if (open_view(restore, file, &view) != 0) {
        return ckpt_file_lost(restore, file, -EINVAL,
                              "the image lacks its description", failure);
    }
    if (!is_pair(restore, file, view.socket)) {
        error = refill(restore, &view);
        error = error == 0 ? connect_named(fd, view.socket) : error;
    } else if (view.socket->peer != 0 && view.socket->shutdown != 0 &&
               shutdown(fd, (int)view.socket->shutdown - 1) != 0) {
        error = -errno;
    }
    if (error == 0) {
        error = ckpt_socket_options_write(&view, fd, 0);
    }
    if (error == 0 &&
        fcntl(fd, F_SETFL, (int)file->status_flags & O_NONBLOCK) != 0) {
        error = -errno;
    }
    return error == 0 ? 0 : lost(restore, file, view.socket, error, failure);
}
