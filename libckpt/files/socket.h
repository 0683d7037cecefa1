/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * socket.h - interfaces between the parts of the socket kind.
 *
 * A socket's payload is struct ckpt_socket, then its options, then the packets in its queue.
 * Each packet is a header and its bytes, padded to a multiple of 8.
 */
#ifndef CKPT_SOCKET_H
#define CKPT_SOCKET_H

#include "files/file_kind.h"

#include <sys/socket.h>

/* Maximum bytes of one packet. */
#define CKPT_SOCKET_LONGEST ((size_t)1 << 18)

/* A payload, parsed and checked. */
struct ckpt_socket_view {
    const struct ckpt_socket *socket;
    const struct ckpt_socket_option *options; /* [socket->option_count] */
    const char *packets;                      /* socket->packet_count packets */
    const char *end;
};

/* socket_options.c */

/* Reads the options of `fd` that can be set again into options[]. Returns their number, at most
 * CKPT_SOCKET_OPTIONS. Context: quiesced. */
#define CKPT_SOCKET_OPTIONS 40
size_t ckpt_socket_options_read(int fd, const struct ckpt_socket *socket,
                                struct ckpt_socket_option *options);

/* Sets the options that differ. early: only those that bind() uses; otherwise all others.
 * Returns 0 or -errno. Context: normal. */
int ckpt_socket_options_write(const struct ckpt_socket_view *view, int fd,
                              int early);

/* socket_peer.c */

/* A Unix socket, as the kernel reports it. */
struct ckpt_unix_facts {
    uint64_t peer;     /* inode of the other end; 0: the peer no longer exists */
    uint32_t shutdown; /* SHUT_* + 1 */
    uint32_t backlog;
    uint32_t waiting; /* connections not yet accepted */
};

/* Queries the kernel. Returns 0 or -errno. Context: quiesced. */
int ckpt_socket_unix_facts(uint64_t inode, struct ckpt_unix_facts *facts);

/* Returns the inode of the socket at the other end of a TCP connection, in this process or
 * another one on this host; or 0. Context: quiesced. */
uint64_t ckpt_socket_inet_peer(const struct ckpt_file_save *save,
                               const struct ckpt_socket *socket);

/* Returns 1 if both are the same address and port. An IPv4 address equals its IPv4-mapped IPv6
 * form. Context: any. */
int ckpt_socket_same_address(const uint8_t *a, const uint8_t *b);

/* Returns the port, in network byte order. Context: any. */
uint16_t ckpt_socket_port(const uint8_t *address);

/* Formats "127.0.0.1:80", or "[address]:80" with hexadecimal digits. Context: any. */
void ckpt_socket_name(const uint8_t *address, char *text, size_t size);

/* socket_queue.c */

/* Packets in the layout of a payload. */
struct ckpt_socket_queue {
    char *bytes;
    size_t size;
    size_t capacity;
    uint32_t count;
};

/* Copies the readable data of `fd` without consuming it. Returns 0 or -errno; -ENOTSUP:
 * descriptors or credentials are being passed. The caller always frees the queue. Context of
 * both: quiesced. */
int ckpt_socket_queue_read(int fd, const struct ckpt_socket *socket,
                           struct ckpt_socket_queue *queue);
void ckpt_socket_queue_free(struct ckpt_socket_queue *queue);

/* Returns the next packet; NULL at the end or if the payload is malformed. *at_p starts as
 * view->packets. Context: any. */
const struct ckpt_socket_packet *
ckpt_socket_next_packet(const struct ckpt_socket_view *view, const char **at_p);

/* Sends all packets through `fd`, the other end. Returns 0 or -errno. Context: normal. */
int ckpt_socket_queue_write(const struct ckpt_socket_view *view, int fd);

/* socket_connect.c */

/* Binds to the saved address. is_patient: waits while the kernel still reserves the port for
 * connections that have ended. Returns 0 or -errno. Context: normal. */
int ckpt_socket_bind(int fd, const struct ckpt_socket *saved, int is_patient);

/* Returns 1 if `a` can be the accepted end for a client `b`: only an IPv6 socket accepts both
 * address families. Context: any. */
int ckpt_socket_may_accept(const struct ckpt_socket *a,
                           const struct ckpt_socket *b);

/* Makes a TCP connection. ends[0] is the server's end, accepted by `listener`, or by a
 * temporary listener if that is -1. is_patient: waits for the port of the temporary listener.
 * The client gets its port back if that is free. Returns 0 or -errno. Context: normal. */
int ckpt_socket_connect(const struct ckpt_socket *server,
                        const struct ckpt_socket *client, int listener,
                        int is_patient, int ends[2]);

/* Sends the data that `end` had received to it again, through the other end. Returns 0 or
 * -errno. Context: normal. */
int ckpt_socket_fill(const struct ckpt_socket_view *view, int end, int other);

/* socket_restore.c: see struct ckpt_file_ops. */
int ckpt_socket_restore(struct ckpt_file_restore *restore,
                        const struct ckpt_file *file,
                        struct ckpt_failure *failure);
int ckpt_socket_finish(struct ckpt_file_restore *restore,
                       const struct ckpt_file *file,
                       struct ckpt_failure *failure);

#endif
