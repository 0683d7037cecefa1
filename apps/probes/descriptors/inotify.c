/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * inotify.c - a directory and a file watched by inotify, by a relative path and
 * by a path through a symbolic link, with watches that ended before and in
 * between.
 */
#include "probes/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/stat.h>

static int inotify;

static void make_file(const char *name)
{
    int fd = open(name, O_CREAT | O_WRONLY, 0600);

    CHECK(fd >= 0 && close(fd) == 0);
}

/* Reads the only event and checks it. */
static void expect(int watch, unsigned mask, const char *name)
{
    char buffer[4096] __attribute__((aligned(8)));
    const struct inotify_event *event = (const struct inotify_event *)buffer;
    long size = read(inotify, buffer, sizeof buffer);

    CHECK(size == (long)(sizeof *event + event->len));
    CHECK(event->wd == watch && event->mask == mask);
    CHECK(strcmp(event->len == 0 ? "" : event->name, name) == 0);
    CHECK(read(inotify, buffer, sizeof buffer) < 0 && errno == EAGAIN);
}

/* Makes watches 2 (a directory) and 4 (a file); 1, 3 and 5 have ended. */
static void watch_things(const char *directory)
{
    inotify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    CHECK(inotify >= 0 && mkdir("seen", 0700) == 0);
    CHECK(symlink("seen", "link") == 0);
    make_file("seen/file");
    CHECK(inotify_add_watch(inotify, directory, IN_CREATE) == 1);
    CHECK(inotify_add_watch(inotify, "link", IN_CREATE) == 2);
    CHECK(inotify_add_watch(inotify, "seen", IN_DELETE | IN_MASK_ADD) == 2);
    CHECK(inotify_rm_watch(inotify, 1) == 0);
    expect(1, IN_IGNORED, "");
    CHECK(inotify_add_watch(inotify, "/", IN_CREATE) == 3);
    CHECK(inotify_add_watch(inotify, "link/file", IN_ATTRIB | IN_ONESHOT) == 4);
    CHECK(inotify_rm_watch(inotify, 3) == 0);
    expect(3, IN_IGNORED, "");
    CHECK(inotify_add_watch(inotify, "/", IN_CREATE) == 5);
    CHECK(inotify_rm_watch(inotify, 5) == 0);
    expect(5, IN_IGNORED, "");
}

static void expect_events(int epoll)
{
    struct epoll_event event;
    char buffer[64] __attribute__((aligned(8)));

    CHECK(epoll_wait(epoll, &event, 1, 0) == 0);
    make_file("seen/new");
    CHECK(epoll_wait(epoll, &event, 1, -1) == 1 && event.data.u64 == 7);
    expect(2, IN_CREATE, "new");
    CHECK(unlink("seen/new") == 0);
    expect(2, IN_DELETE, "new");
    CHECK(chmod("seen/file", 0400) == 0); /* once; then the watch ends */
    CHECK(read(inotify, buffer, sizeof buffer) ==
          2 * sizeof(struct inotify_event));
    CHECK(((struct inotify_event *)buffer)->wd == 4);
    CHECK(inotify_add_watch(inotify, "seen/file", IN_ATTRIB) == 6);
    CHECK(chmod("seen/file", 0600) == 0);
    expect(6, IN_ATTRIB, "");
}

int main(int argc, char **argv)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.u64 = 7};
    char directory[] = "inotify.XXXXXX";
    int epoll = epoll_create1(0);

    probe_begin(argc, argv, 2);
    CHECK(mkdtemp(directory) != NULL && chdir(directory) == 0);
    CHECK(epoll >= 0);
    MPI_Barrier(MPI_COMM_WORLD); /* all directories there are made */
    watch_things("../");
    CHECK(epoll_ctl(epoll, EPOLL_CTL_ADD, inotify, &event) == 0);
    probe_gate();
    CHECK((fcntl(inotify, F_GETFL) & O_NONBLOCK) != 0);
    expect_events(epoll);
    CHECK(unlink("seen/file") == 0 && unlink("link") == 0);
    CHECK(rmdir("seen") == 0 && chdir("..") == 0 && rmdir(directory) == 0);
    return probe_end();
}
