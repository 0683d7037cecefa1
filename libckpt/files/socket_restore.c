/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * socket_restore.c - recreates sockets: pairs connected to each other or given by the caller,
 * others bound and listening at their old addresses.
 */
#include "files/socket.h"

#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

/* Opens the payload of *file and checks it. Returns 0 or -EINVAL. */
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

/* Returns the first socket of the image for which is_wanted() is true, and opens its view; or
 * NULL. */
static const struct ckpt_file *find(const struct ckpt_file_restore *restore,
                                    wanted_t is_wanted,
                                    const struct ckpt_socket *of,
                                    struct ckpt_socket_view *view)
{
    for (size_t i = 0; i < restore->saved.count; i++) {
        const struct ckpt_file *file = &restore->saved.files[i];

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

/* Returns 1 if the socket listens at the port where `of` was accepted. */
static int is_listener(const struct ckpt_file *file,
                       const struct ckpt_socket *saved,
                       const struct ckpt_socket *of)
{
    (void)file;
    return ckpt_files_listens(saved, of);
}

/* Returns 1 if the socket is bound to `of`'s remote address, from which a packet came. */
static int is_source(const struct ckpt_file *file,
                     const struct ckpt_socket *saved,
                     const struct ckpt_socket *of)
{
    (void)file;
    return saved->type == of->type && saved->local_size == of->remote_size &&
           memcmp(saved->local, of->remote, of->remote_size) == 0;
}

/* Returns the Unix socket to which this one is connected, if that is connected to this one; or
 * NULL. */
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
           (saved->type != SOCK_DGRAM || file->sharers > 1 ||
            (saved->domain == AF_UNIX &&
             find_twin(restore, file, saved, &view) != NULL));
}

static int has_name(const struct ckpt_socket *saved)
{
    return saved->domain == AF_UNIX
               ? saved->local_size > sizeof(sa_family_t)
               : saved->local_size != 0 && ckpt_socket_port(saved->local) != 0;
}

/* Makes a socket that is not an end of a pair. Returns the descriptor, or -errno. */
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
        error = ckpt_socket_bind(fd, saved, saved->domain != AF_UNIX);
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

/* Makes two connected Unix sockets, the second for the other end. Returns 0 or -errno. */
static int connect_unix(const struct ckpt_socket *saved, int ends[2])
{
    return socketpair(AF_UNIX, saved->type | SOCK_CLOEXEC, saved->protocol,
                      ends) == 0
               ? 0
               : -errno;
}

/* Returns the program's own listening socket; -1 if the program has none, or another -errno. */
static int find_listener(struct ckpt_file_restore *restore,
                         const struct ckpt_socket *server)
{
    struct ckpt_socket_view view;
    const struct ckpt_file *file = find(restore, is_listener, server, &view);
    struct ckpt_file_made *made;
    int fd;

    if (file == NULL) {
        return -1;
    }
    made = ckpt_file_find_made(restore, file);
    if (made == NULL) {
        fd = make_single(&view);
        if (fd < 0) {
            return fd == -1 ? -EACCES : fd;
        }
        made = ckpt_file_add_made(restore, file, fd, -1);
    }
    return made == NULL ? -EMFILE : made->fds[0];
}

/* Makes a TCP connection; ends[0] is the server's end. Returns 0 or -errno. */
static int connect_tcp(struct ckpt_file_restore *restore,
                       const struct ckpt_socket *server,
                       const struct ckpt_socket *client, int ends[2])
{
    int listener = find_listener(restore, server);

    return listener < -1 ? listener
                         : ckpt_socket_connect(server, client, listener, 0, ends);
}

/* Returns 1 if `a` is the accepted end. If the program still has a listener at the port of one
 * end, that end is; otherwise either can be. */
static int is_server(const struct ckpt_file_restore *restore,
                     const struct ckpt_socket *a, const struct ckpt_socket *b)
{
    struct ckpt_socket_view view;

    if (find(restore, is_listener, a, &view) != NULL) {
        return 1;
    }
    return find(restore, is_listener, b, &view) == NULL &&
           ckpt_socket_may_accept(a, b);
}

/* Makes both ends; the other end of a Unix socket may no longer exist. Returns 0 or -errno. */
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
        error = ckpt_socket_fill(view, ends[0], ends[1]);
        error = error == 0 && other != NULL
                    ? ckpt_socket_fill(&other_view, ends[1], ends[0])
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
               sizeof((const struct sockaddr_un *)saved->local)->sun_path);
    } else {
        ckpt_socket_name(saved->local, name, sizeof name);
    }
    return ckpt_refuse(failure, CKPT_REFUSAL_CHANGED_FILE, error,
                       "descriptor %d (%s, address %s) cannot be restored: %s",
                       file->descriptor, restore->saved.strings + file->path,
                       name, strerror(-error));
}

/* Returns the given end of a connection between several processes, or -1. */
static int given_end(const struct ckpt_file_restore *restore, uint64_t inode)
{
    char path[64];

    ckpt_text_format(path, sizeof path, "socket:[%l]", (long)inode);
    return ckpt_file_given(restore, inode, path);
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
    if (made == NULL && file->sharers > 1) {
        fd = dup(given_end(restore, file->inode));
        made = fd < 0 ? NULL : ckpt_file_add_made(restore, file, fd, -1);
        error = made == NULL ? -EBADF : 0;
    } else if (made == NULL && is_pair(restore, file, view.socket)) {
        error = make_pair(restore, file, &view);
        made = error == 0 ? ckpt_file_find_made(restore, file) : NULL;
    }
    if (error == 0 && made == NULL) {
        fd = make_single(&view);
        if (fd >= 0 && view.socket->state == CKPT_SOCKET_LISTENING) {
            /* A later descriptor may need a connection through this listener. */
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

/* Sends a packet again from its source. Drops a UDP packet whose sender is no longer in the
 * process. For a Unix socket whose sender is missing, the packet comes without the sender's
 * name. */
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

/* Sends the packets again that a datagram socket outside a pair had received. */
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

/* Connects a Unix datagram socket to a socket that is bound by now. */
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

int ckpt_socket_fill_given(const struct ckpt_file_restore *restore,
                           const struct ckpt_file *file)
{
    int end = given_end(restore, file->inode);
    int other = given_end(restore, file->value);
    struct ckpt_socket_view view;
    int error = end < 0 || other < 0 ? -EBADF : open_view(restore, file, &view);

    return error == 0 ? ckpt_socket_fill(&view, end, other) : error;
}

int ckpt_files_listens(const struct ckpt_socket *listener,
                       const struct ckpt_socket *socket)
{
    return listener->state == CKPT_SOCKET_LISTENING &&
           listener->domain != AF_UNIX && socket->domain != AF_UNIX &&
           ckpt_socket_port(listener->local) == ckpt_socket_port(socket->local);
}

int ckpt_files_connect(const struct ckpt_socket *a, const struct ckpt_socket *b,
                       uint32_t listening, int ends[2])
{
    int turned[2];
    int error;

    if (a->domain == AF_UNIX) {
        return connect_unix(a, ends);
    }
    if ((listening & CKPT_FIRST_LISTENS) != 0 ||
        (listening == 0 && ckpt_socket_may_accept(a, b))) {
        return ckpt_socket_connect(a, b, -1, listening != 0, ends);
    }
    error = ckpt_socket_connect(b, a, -1, listening != 0, turned);
    ends[0] = turned[1];
    ends[1] = turned[0];
    return error;
}
