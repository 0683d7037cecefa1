/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * frozen_copy.c - forks without a child: of two new processes the first shares our memory and
 * ends at once, so that the second becomes an orphan.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "process/frozen_copy.h"

#include "base/invariant.h"
#include "ckpt/copy.h"
#include "ckpt/snapshot.h"
#include "memory/advice.h"
#include "sys/syscall.h"
#include "process/apart.h"
#include "process/subreaper.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#define STACK_SIZE CKPT_APART_STACK_SIZE
_Static_assert(STACK_SIZE % 4096 == 0, "the copy releases whole pages around its stack");

static struct {
    int connection; /* the copy's end of the connection */
    int reader;
    long pid; /* of the copy, or -errno */
    char stack[STACK_SIZE] __attribute__((aligned(4096)));
} making;

/* If memory runs out, the kernel should kill the copy, not the program. */
static void volunteer(void)
{
    long fd = ckpt_sys_open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC, 0);

    if (fd >= 0) {
        (void)ckpt_sys_write((int)fd, "1000", 4);
        ckpt_sys_close((int)fd);
    }
}

/* Runs in the copy until the connection is closed. It uses only its stack, so that all other
 * memory can be released. */
static __attribute__((noreturn)) void serve(int connection)
{
    const uint64_t stack = (uint64_t)(uintptr_t)making.stack;
    struct ckpt_range range;
    long got;

    for (;;) {
        got = ckpt_sys_read(connection, &range, sizeof(range));
        if (got == -EINTR) {
            continue;
        }
        if (got != (long)sizeof(range)) {
            ckpt_sys_exit_group(0);
        }
        if (range.end <= stack || range.start >= stack + STACK_SIZE) {
            (void)ckpt_sys_madvise((void *)(uintptr_t)range.start,
                                   range.end - range.start, MADV_DONTNEED);
        }
    }
}

static __attribute__((noreturn)) void be_the_copy(void)
{
    const int connection = making.connection;

    volunteer();
    (void)ckpt_sys_prctl(PR_SET_NAME, (unsigned long)CKPT_COPY_NAME, 0, 0, 0);
    (void)ckpt_sys_prctl(PR_SET_PTRACER, (unsigned long)making.reader, 0, 0, 0);
    serve(connection);
}

/* The copy must never have the program's ends of pipes and sockets: other processes may wait
 * for these ends to close. Programs that look for processes with an open end must not find the
 * copy. */
static long close_all_but(int connection)
{
    long error = ckpt_sys_close_range((unsigned)connection + 1, UINT_MAX, 0);

    if (error == 0 && connection > 0) {
        error = ckpt_sys_close_range(0, (unsigned)connection - 1, 0);
    }
    return error;
}

static int run_orphan(void *unused)
{
    (void)unused;
    making.pid = close_all_but(making.connection);
    if (making.pid == 0) {
        making.pid = ckpt_syscall6(SYS_clone, 0, 0, 0, 0, 0, 0);
    }
    if (making.pid == 0) {
        be_the_copy();
    }
    return 0;
}

static long fork_orphan(void)
{
    const int is_subreaper = ckpt_subreaper_suspend();
    const int error = ckpt_run_apart(run_orphan, NULL, making.stack + STACK_SIZE);

    ckpt_subreaper_resume(is_subreaper);
    return error != 0 ? error : making.pid;
}

int ckpt_frozen_copy_make(struct ckpt_frozen_copy *copy, int reader,
                          struct ckpt_failure *failure)
{
    int ends[2];
    long error, pid;

    if (ckpt_advice_against_copies()) {
        return ckpt_refuse(failure, CKPT_REFUSAL_UNSAVABLE_MEMORY, -ENOTSUP,
                           "the program has memory that a copy of the process would "
                           "not have (MADV_DONTFORK, MADV_WIPEONFORK)");
    }
    error = ckpt_syscall4(SYS_socketpair, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0,
                          (long)ends);
    if (error != 0) {
        return ckpt_fail(failure, (int)error, "no connection to a copy of the process");
    }
    making.connection = ends[1];
    making.reader = reader;
    pid = fork_orphan();
    ckpt_sys_close(ends[1]);
    if (pid < 0) {
        ckpt_sys_close(ends[0]);
        return ckpt_fail(failure, (int)pid, "no copy of the process (error %d)",
                         (int)-pid);
    }
    CKPT_INVARIANT(pid > 0 && pid != ckpt_sys_getpid());
    copy->pid = (int)pid;
    copy->connection = ends[0];
    return 0;
}
