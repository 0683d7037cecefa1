/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * socket_queue.c - copies data that was sent to a socket and not yet read.
 *
 * MSG_PEEK leaves the data in the socket. A stream's bytes come in one piece.
 * For packets the kernel keeps a peek position (SO_PEEK_OFF).
 */
#include "files/socket.h"

#include "base/invariant.h"
#include "sys/syscall.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define ROOM_TIMEOUT_MS 10000 /* for data that fitted before */

static size_t padded(size_t size)
{
    return (size + 7) & ~(size_t)7;
}

/* Peeks at bytes or a packet. Returns the size, or -errno. */
static long peek(int fd, void *bytes, size_t size,
                 struct ckpt_socket_packet *packet, int *flags_p)
{
    struct iovec vector = {bytes, size};
    struct msghdr message = {
        .msg_name = packet->source,
        .msg_namelen = sizeof packet->source,
        .msg_iov = &vector,
        .msg_iovlen = 1,
    };
    long result;

    memset(packet, 0, sizeof *packet);
    result = ckpt_sys_recvmsg(fd, &message,
                              MSG_PEEK | MSG_DONTWAIT | MSG_TRUNC);
    packet->source_size = message.msg_namelen;
    packet->size = result > 0 ? (uint32_t)result : 0;
    *flags_p = message.msg_flags;
    return result;
}

/* Returns 1 if the message carries ancillary data, which would be lost. */
static int carries_more(const struct ckpt_socket *socket, int flags)
{
    return socket->domain == AF_UNIX && (flags & MSG_CTRUNC) != 0;
}

/* Peeks at `size` bytes of a stream. MSG_TRUNC would discard them in TCP. */
static long peek_stream(int fd, const struct ckpt_socket *socket, char *bytes,
                        size_t size)
{
    struct iovec vector = {bytes, size};
    struct msghdr message = {.msg_iov = &vector, .msg_iovlen = 1};
    long result = ckpt_sys_recvmsg(fd, &message, MSG_PEEK | MSG_DONTWAIT);

    if (result >= 0 && carries_more(socket, message.msg_flags)) {
        return -ENOTSUP;
    }
    return result;
}

static long set_place(int fd, int place)
{
    return ckpt_syscall6(SYS_setsockopt, fd, SOL_SOCKET, SO_PEEK_OFF,
                         (long)&place, sizeof place, 0);
}

/* Makes room for another packet of `size` bytes. Returns 0 or -ENOMEM. */
static int make_room(struct ckpt_socket_queue *queue, size_t size)
{
    size_t wanted = queue->size + sizeof(struct ckpt_socket_packet) +
                    padded(size);
    size_t capacity = queue->capacity * 2 > wanted ? queue->capacity * 2
                                                   : wanted;
    char *bytes;

    CKPT_INVARIANT(queue->size <= queue->capacity && queue->size % 8 == 0);
    if (wanted <= queue->capacity) {
        return 0;
    }
    bytes = (char *)ckpt_memory_alloc(capacity);
    if (bytes == NULL) {
        return -ENOMEM;
    }
    if (queue->size > 0) { /* memcpy() must not get NULL */
        memcpy(bytes, queue->bytes, queue->size);
    }
    ckpt_socket_queue_free(queue);
    queue->bytes = bytes;
    queue->capacity = capacity;
    return 0;
}

void ckpt_socket_queue_free(struct ckpt_socket_queue *queue)
{
    if (queue->capacity != 0) {
        ckpt_memory_free(queue->bytes, queue->capacity);
    }
    queue->bytes = NULL;
    queue->capacity = 0;
}

static void append(struct ckpt_socket_queue *queue,
                   const struct ckpt_socket_packet *packet)
{
    CKPT_INVARIANT(queue->size + sizeof *packet + padded(packet->size) <= queue->capacity);
    memcpy(queue->bytes + queue->size, packet, sizeof *packet);
    queue->size += sizeof *packet + padded(packet->size);
    queue->count++;
}

/* A single pass, since the kernel shows an empty packet only once. */
static int read_packets(int fd, const struct ckpt_socket *socket,
                        struct ckpt_socket_queue *queue)
{
    struct ckpt_socket_packet packet;
    long result = set_place(fd, 0);
    int flags = 0;

    while (result >= 0) {
        result = make_room(queue, CKPT_SOCKET_LONGEST);
        if (result == 0) {
            result = peek(fd, queue->bytes + queue->size + sizeof packet,
                          CKPT_SOCKET_LONGEST, &packet, &flags);
        }
        if (result == 0 && socket->type == SOCK_SEQPACKET) {
            break; /* the end of the connection, not an empty packet */
        }
        if (result > (long)CKPT_SOCKET_LONGEST ||
            (result >= 0 && carries_more(socket, flags))) {
            result = -ENOTSUP;
        }
        if (result >= 0) {
            append(queue, &packet);
        }
    }
    set_place(fd, -1);
    return result < 0 && result != -EAGAIN ? (int)result : 0;
}

static int read_stream(int fd, const struct ckpt_socket *socket,
                       struct ckpt_socket_queue *queue)
{
    struct ckpt_socket_packet packet = {0};
    int size = 0;
    long result = ckpt_sys_ioctl(fd, FIONREAD, &size);

    if (result < 0 || size == 0) {
        return (int)result;
    }
    result = make_room(queue, (size_t)size);
    if (result == 0) {
        result = peek_stream(fd, socket, queue->bytes + sizeof packet,
                             (size_t)size);
    }
    if (result < 0) {
        return (int)result;
    }
    packet.size = (uint32_t)size;
    append(queue, &packet);
    return result == size ? 0 : -ENOTSUP;
}

int ckpt_socket_queue_read(int fd, const struct ckpt_socket *socket,
                           struct ckpt_socket_queue *queue)
{
    *queue = (struct ckpt_socket_queue){0};
    return socket->type == SOCK_STREAM ? read_stream(fd, socket, queue)
                                       : read_packets(fd, socket, queue);
}

const struct ckpt_socket_packet *
ckpt_socket_next_packet(const struct ckpt_socket_view *view, const char **at_p)
{
    const struct ckpt_socket_packet *packet =
        (const struct ckpt_socket_packet *)*at_p;
    const size_t left = (size_t)(view->end - *at_p);

    if (left < sizeof *packet || left - sizeof *packet < packet->size ||
        packet->source_size > sizeof packet->source) {
        return NULL;
    }
    *at_p += sizeof *packet + padded(packet->size);
    if (*at_p > view->end) {
        *at_p = view->end;
    }
    return packet;
}

/* Waits until the peer reports that it has room again. */
static int can_send(int fd)
{
    struct pollfd file = {fd, POLLOUT, 0};

    return poll(&file, 1, ROOM_TIMEOUT_MS) == 1;
}

/* Sends all bytes. The kernel may take a stream's bytes in parts, but a packet
 * only whole. Returns 0 or -errno. */
static int send_all(int fd, const char *bytes, size_t size)
{
    size_t done = 0;

    do {
        ssize_t result =
            send(fd, bytes + done, size - done, MSG_DONTWAIT | MSG_NOSIGNAL);

        if (result < 0 && errno != EINTR &&
            !(errno == EAGAIN && can_send(fd))) {
            return -errno;
        }
        done += result > 0 ? (size_t)result : 0;
    } while (done < size);
    return 0;
}

int ckpt_socket_queue_write(const struct ckpt_socket_view *view, int fd)
{
    const struct ckpt_socket_packet *packet;
    const char *at = view->packets;
    int error = 0;

    for (uint32_t i = 0; i < view->socket->packet_count && error == 0; i++) {
        packet = ckpt_socket_next_packet(view, &at);
        error = packet == NULL ? -EINVAL
                               : send_all(fd, (const char *)(packet + 1),
                                          packet->size);
    }
    return error;
}
