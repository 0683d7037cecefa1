/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * socket.c - sockets: saved with their options and received data.
 *
 * The save takes nothing out of a socket. Data in transit is known if both ends
 * are stopped. So a socket's description names the other end, which must be in
 * this process or in another rank of the node (launcher/image/memory/connections.hpp).
 */
#include "files/socket.h"

#include "base/invariant.h"
#include "base/text.h"
#include "sys/syscall.h"

#include <errno.h>
#include <asm/ioctls.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/un.h>
#include <time.h>

/* Wait for acknowledgements. A sender knows that data has arrived when it is
 * acknowledged; on one host that takes up to about 40 ms. */
#define ACKNOWLEDGE_STEP_NS 5000000L
#define ACKNOWLEDGE_STEPS   100

static int matches(const struct ckpt_file_probe *probe)
{
    return S_ISSOCK(probe->status.st_mode);
}

static long get_int(int fd, int level, int name)
{
    uint32_t size = sizeof(int);
    int value = 0;
    long result = ckpt_syscall6(SYS_getsockopt, fd, level, name, (long)&value,
                                (long)&size, 0);

    return result < 0 ? result : value;
}

static int refuse(const struct ckpt_file_probe *probe, const char *what,
                  const char *whom, struct ckpt_failure *failure)
{
    return ckpt_refuse(failure, CKPT_REFUSAL_UNSAVABLE_DESCRIPTOR, -ENOTSUP,
                       "descriptor %d (%s) cannot be saved: it is a socket %s%s",
                       probe->fd, probe->path, what, whom);
}

static int describe(const struct ckpt_file_probe *probe,
                    struct ckpt_socket *socket, struct ckpt_failure *failure)
{
    uint32_t size = sizeof socket->local;
    int fd = probe->fd;
    char number[16];

    memset(socket, 0, sizeof *socket);
    socket->domain = (int32_t)get_int(fd, SOL_SOCKET, SO_DOMAIN);
    socket->type = (int32_t)get_int(fd, SOL_SOCKET, SO_TYPE);
    socket->protocol = (int32_t)get_int(fd, SOL_SOCKET, SO_PROTOCOL);
    if (socket->domain != AF_UNIX && socket->domain != AF_INET &&
        socket->domain != AF_INET6) {
        ckpt_text_format(number, sizeof number, "%d", socket->domain);
        return refuse(probe, "of address family ", number, failure);
    }
    if (socket->domain != AF_UNIX &&
        !(socket->type == SOCK_STREAM && socket->protocol == IPPROTO_TCP) &&
        !(socket->type == SOCK_DGRAM && socket->protocol == IPPROTO_UDP)) {
        return refuse(probe, "that is neither TCP nor UDP", "", failure);
    }
    if (get_int(fd, SOL_SOCKET, SO_GET_FILTER) > 0) {
        return refuse(probe, "with a filter", "", failure);
    }
    if (ckpt_syscall3(SYS_getsockname, fd, (long)socket->local, (long)&size) ==
        0) {
        socket->local_size = size;
    }
    size = sizeof socket->remote;
    if (ckpt_syscall3(SYS_getpeername, fd, (long)socket->remote,
                      (long)&size) == 0) {
        socket->remote_size = size;
        socket->state = CKPT_SOCKET_CONNECTED;
    }
    CKPT_INVARIANT(socket->local_size <= sizeof socket->local &&
                   socket->remote_size <= sizeof socket->remote);
    if (get_int(fd, SOL_SOCKET, SO_ACCEPTCONN) > 0) {
        socket->state = CKPT_SOCKET_LISTENING;
    }
    return 0;
}

static int examine_unix(const struct ckpt_file_probe *probe,
                        struct ckpt_socket *socket,
                        struct ckpt_failure *failure)
{
    struct ckpt_unix_facts facts;
    int error = ckpt_socket_unix_facts(probe->status.st_ino, &facts);

    if (error != 0) {
        return ckpt_refuse(failure, CKPT_REFUSAL_MISSING_KERNEL_FEATURE, -ENOTSUP,
                           "descriptor %d (%s) cannot be saved: the kernel does "
                           "not tell about Unix sockets (error %d)",
                           probe->fd, probe->path, -error);
    }
    socket->shutdown = facts.shutdown;
    socket->backlog = (int32_t)facts.backlog;
    socket->peer = facts.peer;
    if (socket->state == CKPT_SOCKET_LISTENING && facts.waiting != 0) {
        return refuse(probe, "with connections that are not yet accepted", "",
                      failure);
    }
    /* A peer not yet accepted has inode 0, too, but its connection is not shut
     * down. */
    if (socket->state == CKPT_SOCKET_CONNECTED && facts.peer == 0 &&
        facts.shutdown != SHUT_RDWR + 1) {
        return refuse(probe, "whose other end is gone or not yet accepted", "",
                      failure);
    }
    return 0;
}

static long unacknowledged(int fd)
{
    const struct timespec step = {0, ACKNOWLEDGE_STEP_NS};
    int bytes = 0;
    long result = 0;

    for (int i = 0; i < ACKNOWLEDGE_STEPS; i++) {
        result = ckpt_sys_ioctl(fd, SIOCOUTQ, &bytes);
        if (result < 0 || bytes == 0) {
            break;
        }
        ckpt_sys_nanosleep(&step, NULL);
    }
    return result < 0 ? result : bytes;
}

static int refuse_distant(const struct ckpt_file_probe *probe,
                          const struct ckpt_socket *socket,
                          struct ckpt_failure *failure)
{
    char address[96], whom[128];

    ckpt_socket_name(socket->remote, address, sizeof address);
    ckpt_text_format(whom, sizeof whom, "%s, which no process here has",
                     address);
    return ckpt_refuse(failure, CKPT_REFUSAL_OUTSIDE_CONNECTION, -ENOTSUP,
                       "descriptor %d (%s) cannot be saved: it is a socket connected to %s",
                       probe->fd, probe->path, whom);
}

static int examine_tcp(const struct ckpt_file_save *save,
                       const struct ckpt_file_probe *probe,
                       struct ckpt_socket *socket, struct ckpt_failure *failure)
{
    struct tcp_info info = {0};
    uint32_t size = sizeof info;

    ckpt_syscall6(SYS_getsockopt, probe->fd, IPPROTO_TCP, TCP_INFO,
                  (long)&info, (long)&size, 0);
    if (info.tcpi_state == TCP_LISTEN) {
        socket->backlog = (int32_t)info.tcpi_sacked; /* backlog, as
                                                        tcp_get_info() stores
                                                        it */
        return info.tcpi_unacked == 0
                   ? 0
                   : refuse(probe, "with connections that are not yet accepted",
                            "", failure);
    }
    if (info.tcpi_state == TCP_CLOSE && info.tcpi_rtt == 0) { /* never connected */
        socket->state = CKPT_SOCKET_UNCONNECTED;
        return 0;
    }
    if (socket->state == CKPT_SOCKET_CONNECTED) {
        socket->peer = ckpt_socket_inet_peer(save, socket);
    }
    if (socket->state == CKPT_SOCKET_CONNECTED && socket->peer == 0) {
        return refuse_distant(probe, socket, failure);
    }
    if (info.tcpi_state != TCP_ESTABLISHED) {
        return refuse(probe, "that is being connected or closed", "", failure);
    }
    return unacknowledged(probe->fd) == 0
               ? 0
               : refuse(probe, "with bytes on the way for which the other end "
                               "has no room",
                        "", failure);
}

/* Puts description, options and queue into the payload. */
static int pack(const struct ckpt_file_probe *probe, struct ckpt_file *file,
                struct ckpt_socket *socket,
                const struct ckpt_socket_queue *queue,
                struct ckpt_failure *failure)
{
    struct ckpt_socket_option options[CKPT_SOCKET_OPTIONS];
    size_t options_size;
    char *at;

    socket->packet_count = queue->count;
    socket->option_count = (uint32_t)ckpt_socket_options_read(
        probe->fd, socket, options);
    CKPT_INVARIANT(socket->option_count <= CKPT_SOCKET_OPTIONS);
    options_size = socket->option_count * sizeof *options;
    at = (char *)ckpt_file_payload(file, sizeof *socket + options_size +
                                             queue->size);
    if (at == NULL) {
        return ckpt_fail(failure, -ENOMEM, "no room for the contents of %s",
                         probe->path);
    }
    memcpy(at, socket, sizeof *socket);
    memcpy(at + sizeof *socket, options, options_size);
    if (queue->size > 0) { /* memcpy() must not get NULL */
        memcpy(at + sizeof *socket + options_size, queue->bytes, queue->size);
    }
    return 0;
}

static int can_receive(const struct ckpt_socket *socket)
{
    return socket->state == CKPT_SOCKET_CONNECTED ||
           (socket->state == CKPT_SOCKET_UNCONNECTED &&
            socket->type == SOCK_DGRAM);
}

static int save_content(const struct ckpt_file_probe *probe,
                        struct ckpt_file *file, struct ckpt_socket *socket,
                        struct ckpt_failure *failure)
{
    struct ckpt_socket_queue queue = {0};
    int error = can_receive(socket)
                    ? ckpt_socket_queue_read(probe->fd, socket, &queue)
                    : 0;

    if (error == 0) {
        error = pack(probe, file, socket, &queue, failure);
    } else if (error == -ENOTSUP) {
        refuse(probe, "in which descriptors or credentials are passed", "",
               failure);
    } else {
        ckpt_fail(failure, error,
                  "cannot look at what descriptor %d (%s) has received: "
                  "error %d",
                  probe->fd, probe->path, -error);
    }
    ckpt_socket_queue_free(&queue);
    return error;
}

static int save(const struct ckpt_file_save *save,
                const struct ckpt_file_probe *probe, struct ckpt_file *file,
                struct ckpt_failure *failure)
{
    struct ckpt_socket socket __attribute__((aligned(8)));
    int error = describe(probe, &socket, failure);

    if (error == 0 && socket.domain == AF_UNIX) {
        error = examine_unix(probe, &socket, failure);
    } else if (error == 0 && socket.type == SOCK_STREAM) {
        error = examine_tcp(save, probe, &socket, failure);
    }
    file->value = socket.peer;
    file->detail = (uint32_t)socket.type;
    return error != 0 ? error : save_content(probe, file, &socket, failure);
}

const struct ckpt_file_ops ckpt_file_socket = {
    .kind = CKPT_FILE_SOCKET,
    .shared = 1,
    .matches = matches,
    .save = save,
    .restore = ckpt_socket_restore,
    .finish = ckpt_socket_finish,
};
