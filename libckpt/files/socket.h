/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * socket.h - what the parts of the socket kind share.
 *
 * A socket's payload is struct ckpt_socket, then its options, then what is in
 * its queue: a header and the bytes for each packet, each a multiple of 8.
 */
#ifndef CKPT_SOCKET_H
#define CKPT_SOCKET_H

#include "files/file_kind.h"

#include <sys/socket.h>

/* The most that one packet may have. */
#define CKPT_SOCKET_LONGEST ((size_t)1 << 18)

/* A payload, taken apart and checked. */
struct ckpt_socket_view {
    const struct ckpt_socket *socket;
    const struct ckpt_socket_option *options; /* [socket->option_count] */
    const char *packets;                      /* socket->packet_count of them */
    const char *end;
};

/* socket_options.c */

/* The options of `fd` that can be set again, into options[]. Returns their
 * number, at most CKPT_SOCKET_OPTIONS. Context: quiesced. */
#define CKPT_SOCKET_OPTIONS 40
size_t ckpt_socket_options_read(int fd, const struct ckpt_socket *socket,
                                struct ckpt_socket_option *options);

/* Sets those that differ: with `early` the ones that bind() looks at, else all
 * others. 0 or -errno. Context: normal. */
int ckpt_socket_options_write(const struct ckpt_socket_view *view, int fd,
                              int early);

/* socket_peer.c */

/* What the kernel tells of a Unix socket. */
struct ckpt_unix_facts {
    uint64_t peer;     /* inode of the other end; 0: there is none any more */
    uint32_t shutdown; /* SHUT_* + 1 */
    uint32_t backlog;
    uint32_t waiting; /* connections not yet accepted */
};

/* 0 or -errno. Context: quiesced. */
int ckpt_socket_unix_facts(uint64_t inode, struct ckpt_unix_facts *facts);

/* The inode of the socket that is the other end of a TCP connection, in this
 * process or another one of this host; or 0. Context: quiesced. */
uint64_t ckpt_socket_inet_peer(const struct ckpt_file_save *save,
                               const struct ckpt_socket *socket);

/* 1 if both are the same address and port; an IPv4 address in IPv6 is the
 * same as itself. Context: any. */
int ckpt_socket_same_address(const uint8_t *a, const uint8_t *b);

/* The port, in network order. Context: any. */
uint16_t ckpt_socket_port(const uint8_t *address);

/* "127.0.0.1:80", "[address]:80" with hexadecimal digits. Context: any. */
void ckpt_socket_name(const uint8_t *address, char *text, size_t size);

/* socket_queue.c */

/* Packets as they stand in a payload. */
struct ckpt_socket_queue {
    char *bytes;
    size_t size;
    size_t capacity;
    uint32_t count;
};

/* What can be read from `fd`, without taking it out. 0 or -errno; -ENOTSUP:
 * descriptors or credentials are passed. To be freed in any case. Context of
 * both: quiesced. */
int ckpt_socket_queue_read(int fd, const struct ckpt_socket *socket,
                           struct ckpt_socket_queue *queue);
void ckpt_socket_queue_free(struct ckpt_socket_queue *queue);

/* The next packet; NULL at the end or where the payload is wrong. *at_p starts
 * with view->packets. Context: any. */
const struct ckpt_socket_packet *
ckpt_socket_next_packet(const struct ckpt_socket_view *view, const char **at_p);

/* Sends all packets by way of `fd`, the other end. 0 or -errno. Normal. */
int ckpt_socket_queue_write(const struct ckpt_socket_view *view, int fd);

/* socket_connect.c */

/* Binds to the saved address; a patient one waits while the kernel still keeps
 * the port of connections that have ended. 0 or -errno. Context: normal. */
int ckpt_socket_bind(int fd, const struct ckpt_socket *saved, int is_patient);

/* Whether `a` is to be the accepted end, if both could be: only an IPv6 socket
 * can take both kinds. Context: any. */
int ckpt_socket_may_accept(const struct ckpt_socket *a,
                           const struct ckpt_socket *b);

/* Makes a TCP connection: ends[0] the server's, accepted by `listener` or, if
 * that is -1, one for the moment, which a patient one waits for. The client gets
 * its port back if it is free. 0 or -errno. Context: normal. */
int ckpt_socket_connect(const struct ckpt_socket *server,
                        const struct ckpt_socket *client, int listener,
                        int is_patient, int ends[2]);

/* Puts what `end` had received into it, by way of the other end. 0 or -errno.
 * Context: normal. */
int ckpt_socket_fill(const struct ckpt_socket_view *view, int end, int other);

/* socket_restore.c: see struct ckpt_file_ops. */
int ckpt_socket_restore(struct ckpt_file_restore *restore,
                        const struct ckpt_file *file,
                        struct ckpt_failure *failure);
int ckpt_socket_finish(struct ckpt_file_restore *restore,
                       const struct ckpt_file *file,
                       struct ckpt_failure *failure);

#endif
