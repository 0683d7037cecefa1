/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * epoll.c - an event loop: pipes and counters watched by epoll, with an event
 * that is ready at the checkpoint and another that comes after it.
 */
#include "probes/probe.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

static void watch(int epoll, int fd, unsigned events, uint64_t data)
{
    struct epoll_event event = {.events = events, .data.u64 = data};

    CHECK(epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0);
}

int main(int argc, char **argv)
{
    const uint64_t large = 0xfedcba9876543210;
    struct epoll_event events[4];
    uint64_t one = 1;
    int epoll, counter, ends[2];

    probe_begin(argc, argv, 2);
    epoll = epoll_create1(EPOLL_CLOEXEC);
    counter = eventfd(1, 0);
    CHECK(epoll >= 0 && counter >= 0 && pipe(ends) == 0);
    watch(epoll, counter, EPOLLIN, 7);
    watch(epoll, ends[0], EPOLLIN | EPOLLONESHOT, large);
    probe_gate();
    CHECK(fcntl(epoll, F_GETFD) == FD_CLOEXEC);
    CHECK(epoll_wait(epoll, events, 4, -1) == 1);
    CHECK(events[0].data.u64 == 7 && events[0].events == EPOLLIN);
    CHECK(read(counter, &one, sizeof one) == sizeof one && one == 1);
    CHECK(epoll_wait(epoll, events, 4, 0) == 0);
    CHECK(write(ends[1], "x", 1) == 1);
    CHECK(epoll_wait(epoll, events, 4, -1) == 1);
    CHECK(events[0].data.u64 == large);
    CHECK(epoll_wait(epoll, events, 4, 0) == 0); /* oneshot */
    CHECK(epoll_ctl(epoll, EPOLL_CTL_DEL, counter, NULL) == 0);
    return probe_end();
}
