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
#include "process/copy_orders.h"
#include "process/subreaper.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
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

static const struct ckpt_frozen_copy_calls *calls;

void ckpt_frozen_copy_calls_set(const struct ckpt_frozen_copy_calls *the_calls)
{
    CKPT_INVARIANT(calls == NULL && the_calls->may_live != NULL && the_calls->may_stand != NULL &&
                   the_calls->live != NULL);
    calls = the_calls;
}

/* If memory runs out, the kernel should kill the copy, not the program. */
static void volunteer(struct ckpt_copy_state *state)
{
    long fd = ckpt_sys_open("/proc/self/oom_score_adj", O_RDWR | O_CLOEXEC, 0);

    state->oom_score_size = 0;
    if (fd >= 0) {
        state->oom_score_size =
            ckpt_sys_pread((int)fd, state->oom_score, sizeof(state->oom_score), 0);
        (void)ckpt_sys_write((int)fd, "1000", 4);
        ckpt_sys_close((int)fd);
    }
}

/* ---- Below serve(): only the stack, and no function of another file or of libc ------ */

void ckpt_copy_receive(int connection, struct ckpt_copy_packet *packet)
{
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(CKPT_COPY_DESCRIPTORS_MOST * sizeof(int))];
    } control;
    struct iovec vector = {&packet->as, sizeof(packet->as)};
    struct msghdr header = {.msg_iov = &vector,
                            .msg_iovlen = 1,
                            .msg_control = &control,
                            .msg_controllen = sizeof(control)};
    const int *passed = (const int *)CMSG_DATA(&control.header);

    packet->size = ckpt_syscall3(SYS_recvmsg, connection, (long)&header, MSG_CMSG_CLOEXEC);
    packet->descriptor_count = 0;
    if (packet->size > 0 && header.msg_controllen >= sizeof(struct cmsghdr) &&
        control.header.cmsg_level == SOL_SOCKET && control.header.cmsg_type == SCM_RIGHTS) {
        packet->descriptor_count =
            (uint32_t)((control.header.cmsg_len - CMSG_LEN(0)) / sizeof(int));
    }
    for (uint32_t i = 0; i < packet->descriptor_count; i++) {
        packet->descriptors[i] = *(const volatile int *)&passed[i]; /* no memcpy */
    }
}

/* Gives back the pages of a range, except those of the stack. */
static void release(const struct ckpt_range *range)
{
    const uint64_t stack = (uint64_t)(uintptr_t)making.stack;

    if (range->end <= stack || range->start >= stack + STACK_SIZE) {
        (void)ckpt_sys_madvise((void *)(uintptr_t)range->start, range->end - range->start,
                               MADV_DONTNEED);
    }
}

/* Answers an order that came too late. */
static void refuse_to_live(int connection, const struct ckpt_copy_packet *packet)
{
    const struct ckpt_copy_order answer = {.magic = CKPT_COPY_ORDER_MAGIC,
                                           .version = CKPT_COPY_ORDER_VERSION,
                                           .type = CKPT_COPY_RELEASED,
                                           .serial = packet->as.given.order.serial};

    for (uint32_t i = 0; i < packet->descriptor_count; i++) {
        (void)ckpt_sys_close(packet->descriptors[i]);
    }
    (void)ckpt_sys_write(connection, &answer, sizeof(answer));
}

/* Names the process that may read this one, where ptrace is restricted (Yama). */
static void admit(long reader)
{
    (void)ckpt_sys_prctl(PR_SET_PTRACER, (unsigned long)reader, 0, 0, 0);
}

/* Makes a copy of this copy, whose parent is that of this one. It serves the connection that comes
 * with the order. */
static void make_twin(struct ckpt_copy_state *state, const struct ckpt_copy_packet *packet)
{
    const int connection = packet->descriptors[0];
    struct ckpt_copy_order answer = packet->as.given.order;
    const long pid = ckpt_syscall6(SYS_clone, CLONE_PARENT, 0, 0, 0, 0, 0);

    if (pid == 0) {
        (void)ckpt_sys_close(state->connection);
        state->connection = connection;
        admit((long)packet->as.given.order.value);
        return;
    }
    (void)ckpt_sys_close(connection);
    answer.type = CKPT_COPY_DONE;
    answer.count = 0;
    answer.value = (uint64_t)pid;
    (void)ckpt_sys_write(state->connection, &answer, sizeof(answer));
}

static int is_twin_order(const struct ckpt_copy_packet *packet)
{
    const struct ckpt_copy_order *order = &packet->as.given.order;

    return packet->size == (long)sizeof(*order) && order->magic == CKPT_COPY_ORDER_MAGIC &&
           order->version == CKPT_COPY_ORDER_VERSION && order->type == CKPT_COPY_TWIN &&
           packet->descriptor_count == 1;
}

/* Runs in the copy until the connection is closed, or the copy comes to life. */
static __attribute__((noreturn)) void serve(struct ckpt_copy_state *state,
                                            const struct ckpt_frozen_copy_calls *program)
{
    struct ckpt_copy_packet packet;

    for (;;) {
        ckpt_copy_receive(state->connection, &packet);
        if (packet.size == -EINTR) {
            continue;
        }
        if (packet.size == (long)sizeof(packet.as.released)) {
            state->is_released = 1;
            release(&packet.as.released);
        } else if (packet.size < (long)sizeof(packet.as.given.order)) {
            ckpt_sys_exit_group(0);
        } else if (state->is_released) {
            refuse_to_live(state->connection, &packet);
        } else if (is_twin_order(&packet)) {
            make_twin(state, &packet);
        } else {
            ckpt_copy_obey(state, &packet, program);
        }
    }
}

static __attribute__((noreturn)) void be_the_copy(void)
{
    struct ckpt_copy_state state;

    state.connection = making.connection;
    state.is_released = 0;
    state.has_room = 0;
    state.snapshot = 0;
    state.stands = 0;
    state.agent = -1;
    volunteer(&state);
    (void)ckpt_sys_prctl(PR_SET_NAME, (unsigned long)CKPT_COPY_NAME, 0, 0, 0);
    admit(making.reader);
    serve(&state, calls);
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
