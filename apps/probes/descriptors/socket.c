/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * socket.c - sockets inside one process: a Unix pair with which an event loop wakes itself, a TCP
 * server with its client, UDP.
 */
#include "probes/probe.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

struct state {
    int pair[2], listener, client, server, udp[2];
    struct sockaddr_in address, udp_address;
};

/* Binds to a fixed port on this host, outside of the kernel's range for automatic ports: another
 * process could otherwise have the port at the restart. */
static int bound(int type, struct sockaddr_in *address)
{
    const int below = 32768; /* /proc/sys/net/ipv4/ip_local_port_range */
    int fd = socket(AF_INET, type, 0), port = 20000 + (int)getpid() % 10000;

    *address = (struct sockaddr_in){.sin_family = AF_INET};
    address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    CHECK(fd >= 0);
    do {
        CHECK(port < below);
        address->sin_port = htons((uint16_t)port++);
    } while (bind(fd, (struct sockaddr *)address, sizeof *address) != 0);
    return fd;
}

static void open_sockets(struct state *s)
{
    const int on = 1;
    struct sockaddr_in own;

    CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, s->pair) == 0);
    CHECK(write(s->pair[0], "pair", 4) == 4);
    s->listener = bound(SOCK_STREAM, &s->address);
    CHECK(listen(s->listener, 5) == 0);
    s->client = bound(SOCK_STREAM, &own);
    CHECK(connect(s->client, (struct sockaddr *)&s->address,
                  sizeof s->address) == 0);
    s->server = accept(s->listener, NULL, NULL);
    CHECK(s->server >= 0);
    CHECK(setsockopt(s->client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) == 0);
    CHECK(write(s->client, "request", 7) == 7);
    s->udp[0] = bound(SOCK_DGRAM, &s->udp_address);
    s->udp[1] = bound(SOCK_DGRAM, &own);
    CHECK(connect(s->udp[1], (struct sockaddr *)&s->udp_address,
                  sizeof s->udp_address) == 0);
    CHECK(send(s->udp[1], "packet", 6, 0) == 6);
}

static void expect(int fd, const char *wanted)
{
    struct pollfd file = {fd, POLLIN, 0};
    char text[64] = "";

    CHECK(poll(&file, 1, 60000) == 1);
    CHECK(recv(fd, text, sizeof text - 1, 0) == (ssize_t)strlen(wanted));
    CHECK(strcmp(text, wanted) == 0);
}

static void check_sockets(struct state *s)
{
    char byte;
    int more, on = 0;
    socklen_t size = sizeof on;

    expect(s->pair[1], "pair");
    CHECK(read(s->pair[1], &byte, 1) < 0); /* does not block */
    CHECK(write(s->pair[1], "back", 4) == 4);
    expect(s->pair[0], "back");
    expect(s->server, "request");
    CHECK(write(s->server, "reply", 5) == 5);
    expect(s->client, "reply");
    CHECK(getsockopt(s->client, IPPROTO_TCP, TCP_NODELAY, &on, &size) == 0);
    CHECK(on != 0);
    more = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(connect(more, (struct sockaddr *)&s->address, sizeof s->address) ==
          0);
    CHECK(accept(s->listener, NULL, NULL) >= 0);
    expect(s->udp[0], "packet");
    CHECK(send(s->udp[1], "more", 4, 0) == 4);
    expect(s->udp[0], "more");
}

int main(int argc, char **argv)
{
    static struct state s;

    probe_begin(argc, argv, 2);
    open_sockets(&s);
    probe_gate();
    check_sockets(&s);
    return probe_end();
}
