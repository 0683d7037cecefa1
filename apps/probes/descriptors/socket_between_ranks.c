/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * socket_between_ranks.c - TCP and Unix sockets that connect two ranks, with
 * bytes in both directions; meanwhile one rank waits for the other by these
 * sockets.
 */
#define _GNU_SOURCE
#include "probes/probe.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>

#define MUCH 150000

static struct sockaddr_in address;
static int listener, tcp, wake_tcp, stream, wake_unix;
static int packets, datagrams, half, kept[2];
static char *much;

/* Rank 0 listens, and tells rank 1 its address. */
static int listen_in_rank_0(int domain, void *name, socklen_t size)
{
    int fd = -1;

    if (probe_rank == 0) {
        const int room = 4 * MUCH, on = 1; /* accepted sockets inherit them */

        fd = socket(domain, SOCK_STREAM, 0);
        CHECK(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof room) == 0);
        CHECK(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0);
        CHECK(bind(fd, name, size) == 0 && listen(fd, 2) == 0);
        CHECK(getsockname(fd, name, &size) == 0);
    }
    MPI_Bcast(name, (int)size, MPI_BYTE, 0, MPI_COMM_WORLD);
    return fd;
}

/* Returns this rank's end of a connection. */
static int connect_ranks(int from, int domain, const void *name, socklen_t size)
{
    int fd;

    if (probe_rank == 0) {
        fd = accept(from, NULL, NULL);
        CHECK(fd >= 0);
    } else {
        fd = socket(domain, SOCK_STREAM, 0);
        CHECK(connect(fd, name, size) == 0);
    }
    return fd;
}

static void connect_tcp(void)
{
    const int on = 1;

    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    listener = listen_in_rank_0(AF_INET, &address, sizeof address);
    tcp = connect_ranks(listener, AF_INET, &address, sizeof address);
    CHECK(setsockopt(tcp, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) == 0);
    wake_tcp = connect_ranks(listener, AF_INET, &address, sizeof address);
}

static void connect_unix(void)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    int fd;

    strcpy(name.sun_path, "probe.sock");
    if (probe_rank == 0) {
        unlink(name.sun_path);
    }
    fd = listen_in_rank_0(AF_UNIX, &name, sizeof name);
    stream = connect_ranks(fd, AF_UNIX, &name, sizeof name);
    close(fd);
}

/* Rank 0 passes a descriptor to rank 1, which returns it. */
static int pass(int fd)
{
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = {.header = {CMSG_LEN(sizeof fd), SOL_SOCKET, SCM_RIGHTS}};
    char byte = 0;
    struct iovec vector = {&byte, 1};
    struct msghdr message = {.msg_iov = &vector,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof control};

    if (probe_rank == 0) {
        memcpy(CMSG_DATA(&control.header), &fd, sizeof fd);
        CHECK(sendmsg(stream, &message, 0) == 1);
        return fd;
    }
    CHECK(recvmsg(stream, &message, 0) == 1);
    memcpy(&fd, CMSG_DATA(&control.header), sizeof fd);
    return fd;
}

/* Makes a pair with one end in each rank; with `keep` rank 0 keeps both. */
static int share_pair(int type, int keep)
{
    int ends[2] = {-1, -1}, other;

    CHECK(probe_rank == 1 || socketpair(AF_UNIX, type, 0, ends) == 0);
    other = pass(ends[1]);
    MPI_Barrier(MPI_COMM_WORLD);
    if (keep) {
        kept[0] = ends[0];
        kept[1] = other;
    } else if (probe_rank == 0) {
        close(other);
    }
    return probe_rank == 0 ? ends[0] : other;
}

static void make_sockets(void)
{
    connect_tcp();
    connect_unix();
    packets = share_pair(SOCK_SEQPACKET, 0);
    datagrams = share_pair(SOCK_DGRAM, 0);
    half = share_pair(SOCK_STREAM, 0);
    wake_unix = share_pair(SOCK_STREAM, 0);
    (void)share_pair(SOCK_STREAM, 1);
    much = malloc(MUCH);
    for (int i = 0; i < MUCH; i++) {
        much[i] = (char)(i * 7 + i / 256);
    }
}

static void say(int fd, const char *text)
{
    CHECK(send(fd, text, strlen(text), MSG_NOSIGNAL) == (ssize_t)strlen(text));
}

static void hear(int fd, const char *text)
{
    char got[64] = "";

    CHECK(strlen(text) < sizeof got);
    CHECK(recv(fd, got, strlen(text), MSG_WAITALL) == (ssize_t)strlen(text));
    CHECK(strcmp(got, text) == 0);
}

/* The other rank's first bytes, and some that it sends later. */
static void fill_queues(void)
{
    say(stream, probe_rank == 0 ? "from 0" : "from 1");
    say(packets, "one");
    say(packets, "two");
    say(datagrams, "datagram");
    say(half, "testament");
    CHECK(probe_rank == 0 || shutdown(half, SHUT_WR) == 0);
    if (probe_rank == 1) {
        CHECK(send(tcp, much, MUCH, 0) == MUCH);
        say(kept[1], "kept");
    } else {
        say(tcp, "reply");
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void check_queues(void)
{
    char *got = calloc(1, MUCH), byte;
    struct sockaddr_in peer;
    socklen_t size = sizeof peer;
    int on = 0;

    hear(stream, probe_rank == 0 ? "from 1" : "from 0");
    hear(packets, "one");
    hear(packets, "two");
    hear(datagrams, "datagram");
    hear(half, "testament");
    if (probe_rank == 0) {
        CHECK(recv(half, &byte, 1, 0) == 0);
        CHECK(recv(tcp, got, MUCH, MSG_WAITALL) == MUCH);
        CHECK(memcmp(got, much, MUCH) == 0);
        hear(kept[0], "kept");
        say(kept[1], "to myself");
        hear(kept[0], "to myself");
    } else {
        CHECK(send(half, "x", 1, MSG_NOSIGNAL) < 0);
        hear(tcp, "reply");
    }
    CHECK(getpeername(tcp, (struct sockaddr *)&peer, &size) == 0);
    CHECK(peer.sin_addr.s_addr == address.sin_addr.s_addr);
    CHECK(probe_rank == 0 || peer.sin_port == address.sin_port);
    size = sizeof on;
    CHECK(getsockopt(tcp, IPPROTO_TCP, TCP_NODELAY, &on, &size) == 0 && on);
    free(got);
}

static void *wait_in_recv(void *unused)
{
    hear(wake_unix, "go on");
    return unused;
}

/* Rank 1 waits for rank 0, in two threads, by two sockets. */
static void wait_for_each_other(void)
{
    struct epoll_event event = {.events = EPOLLIN};
    int epoll = epoll_create1(0);
    pthread_t thread;

    if (probe_rank == 0) {
        probe_gate();
        say(wake_unix, "go on");
        say(wake_tcp, "go on");
        return;
    }
    CHECK(pthread_create(&thread, NULL, wait_in_recv, NULL) == 0);
    CHECK(epoll_ctl(epoll, EPOLL_CTL_ADD, wake_tcp, &event) == 0);
    CHECK(epoll_wait(epoll, &event, 1, 600000) == 1);
    hear(wake_tcp, "go on");
    CHECK(pthread_join(thread, NULL) == 0);
}

/* The program's own listener still accepts connections. */
static void connect_anew(void)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    if (probe_rank == 0) {
        close(fd);
        fd = accept(listener, NULL, NULL);
        CHECK(fd >= 0);
        say(fd, "at last");
    } else {
        CHECK(connect(fd, (struct sockaddr *)&address, sizeof address) == 0);
        hear(fd, "at last");
    }
}

int main(int argc, char **argv)
{
    probe_begin(argc, argv, 2);
    make_sockets();
    fill_queues();
    wait_for_each_other();
    check_queues();
    connect_anew();
    return probe_end();
}
