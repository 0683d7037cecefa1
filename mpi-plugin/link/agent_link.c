/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * agent_link.c - find or start the node agent, and exchange messages with it.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "link/agent_link.h"

#include "base/invariant.h"
#include "base/text.h"
#include "link/launch_name.h"
#include "link/shell_order.h"
#include "runtime/runtime.h"
#include "sys/descriptor.h"
#include "sys/syscall.h"
#include "sys/unix_socket.h"
#include "process/subreaper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define READY 3 /* the agent's descriptor on which it reports that it listens */

static int link_fd = -1;
static int given = -1; /* a connection that the agent has passed */

/* Names of this launch's files in the run directory. */
struct names {
    char namespace[256];
    char lock[108];
    char socket[108];
    char control[108];
};

static void hash_text(char digits[17], unsigned long value)
{
    for (int i = 15; i >= 0; i--, value >>= 4) {
        digits[i] = "0123456789abcdef"[value & 15];
    }
    digits[16] = '\0';
}

static int run_directory(char *path, size_t size, struct ckpt_failure *failure)
{
    const char *given = ckpt_runtime_getenv("CKPT_RUN_DIR");
    const char *base = ckpt_runtime_getenv("XDG_RUNTIME_DIR");
    unsigned uid = (unsigned)ckpt_syscall3(SYS_geteuid, 0, 0, 0);
    struct stat status;

    if (given != NULL && *given != '\0') {
        ckpt_text_copy(path, size, given);
    } else {
        ckpt_text_format(path, size, "%s/ckpt-%u",
                         base != NULL && *base != '\0' ? base : "/tmp", uid);
    }
    (void)ckpt_syscall3(SYS_mkdir, (long)path, 0700, 0);
    if (ckpt_sys_stat(path, &status) != 0 || !S_ISDIR(status.st_mode) ||
        status.st_uid != uid || (status.st_mode & 077) != 0) {
        return ckpt_refuse(failure, CKPT_REFUSAL_UNUSABLE_DIRECTORY, -EACCES,
                           "%s is not a directory of mode 0700 of this user", path);
    }
    return 0;
}

static int make_names(struct names *names, struct ckpt_failure *failure)
{
    char directory[80], digits[17];
    int error = run_directory(directory, sizeof(directory), failure);

    if (error == 0) {
        ckpt_text_copy(names->namespace, sizeof(names->namespace),
                       ckpt_launch_name());
        /* docs/protocol.md, section 1 */
        hash_text(digits, ckpt_text_hash(names->namespace));
        ckpt_text_format(names->lock, sizeof(names->lock), "%s/%s.lock",
                         directory, digits);
        ckpt_text_format(names->socket, sizeof(names->socket), "%s/%s.sock",
                         directory, digits);
        ckpt_text_format(names->control, sizeof(names->control), "%s/%s.ctl",
                         directory, digits);
    }
    return error;
}

/* Starts a program from any context, by way of two processes that share our
 * memory. The second one is orphaned, so the application never sees a child of
 * ours. */

struct spawn {
    char path[4096];
    const char *argument[4];
    const char *environment[8192];
    int ready; /* write end of the readiness pipe */
    long signal_mask;
    char outer_stack[16384] __attribute__((aligned(16)));
    char inner_stack[16384] __attribute__((aligned(16)));
};
static struct spawn spawn;

static int run_program(void *unused)
{
    (void)unused;
    if (spawn.ready == READY) { /* dup2 onto itself would keep close-on-exec */
        (void)ckpt_sys_fcntl(READY, F_SETFD, 0);
    } else {
        (void)ckpt_syscall3(SYS_dup2, spawn.ready, READY, 0);
    }
    (void)ckpt_syscall4(SYS_rt_sigprocmask, SIG_SETMASK,
                        (long)&spawn.signal_mask, 0, 8);
    (void)ckpt_syscall3(SYS_execve, (long)spawn.path, (long)spawn.argument,
                        (long)spawn.environment);
    ckpt_sys_exit_group(127);
    return 0;
}

static int run_orphan(void *unused)
{
    (void)unused;
    (void)clone(run_program, spawn.inner_stack + sizeof(spawn.inner_stack),
                CLONE_VM | CLONE_VFORK, NULL);
    ckpt_sys_exit_group(0);
    return 0;
}

static void prepare_spawn(const char *namespace)
{
    char *const *from = ckpt_runtime_environment();
    size_t count = 0;

    ckpt_runtime_tool(spawn.path, sizeof(spawn.path), "ckptd");
    spawn.argument[0] = "ckptd";
    spawn.argument[1] = "--namespace";
    spawn.argument[2] = namespace;
    for (; *from != NULL && count + 1 < 8192; from++) {
        if (!ckpt_text_starts(*from, "LD_PRELOAD=")) {
            spawn.environment[count++] = *from;
        }
    }
    CKPT_INVARIANT(count < sizeof(spawn.environment) / sizeof(spawn.environment[0]));
    spawn.environment[count] = NULL;
}

static int start_agent(const char *namespace, struct ckpt_failure *failure)
{
    const long all = -1;
    int pipe[2], child, is_subreaper;
    char byte;
    long got;

    prepare_spawn(namespace);
    got = ckpt_syscall3(SYS_pipe2, (long)pipe, O_CLOEXEC, 0);
    if (got != 0) {
        return ckpt_fail(failure, (int)got, "no pipe for the agent");
    }
    spawn.ready = pipe[1];
    (void)ckpt_syscall4(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all,
                        (long)&spawn.signal_mask, 8);
    is_subreaper = ckpt_subreaper_suspend();
    child = clone(run_orphan, spawn.outer_stack + sizeof(spawn.outer_stack),
                  CLONE_VM | CLONE_VFORK, NULL);
    if (child > 0) { /* reap it; signals are blocked, so no EINTR */
        (void)ckpt_syscall4(SYS_wait4, child, 0, __WALL, 0);
    }
    ckpt_subreaper_resume(is_subreaper);
    (void)ckpt_syscall4(SYS_rt_sigprocmask, SIG_SETMASK,
                        (long)&spawn.signal_mask, 0, 8);
    ckpt_sys_close(pipe[1]);
    do {
        got = ckpt_sys_read(pipe[0], &byte, 1);
    } while (got == -EINTR);
    ckpt_sys_close(pipe[0]);
    return got == 1 ? 0
                    : ckpt_refuse(failure, CKPT_REFUSAL_AGENT_LOST, -ECHILD,
                                  "the agent %s does not start", spawn.path);
}

static int try_connect(const char *path)
{
    const int fd = ckpt_unix_connect(path, SOCK_SEQPACKET);

    return fd < 0 ? fd : ckpt_descriptor_raise(fd);
}

int ckpt_agent_connect(struct ckpt_failure *failure)
{
    struct names names;
    long lock, error = make_names(&names, failure);

    if (error != 0) {
        return (int)error;
    }
    lock = ckpt_sys_open(names.lock, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (lock < 0) {
        return ckpt_fail(failure, (int)lock, "cannot open %s", names.lock);
    }
    do {
        error = ckpt_syscall3(SYS_flock, lock, LOCK_EX, 0);
    } while (error == -EINTR);
    link_fd = try_connect(names.socket);
    if (link_fd < 0) {
        error = start_agent(names.namespace, failure);
        if (error == 0) {
            link_fd = try_connect(names.socket);
        }
    }
    ckpt_sys_close((int)lock);
    if (error == 0 && link_fd < 0) {
        error = ckpt_fail(failure, link_fd, "cannot connect to %s (error %d)",
                          names.socket, -link_fd);
    }
    if (error != 0) {
        link_fd = -1;
    }
    return (int)error;
}

void ckpt_agent_give(int fd)
{
    CKPT_INVARIANT(fd >= 0 && given < 0);
    given = ckpt_descriptor_raise(fd);
}

int ckpt_agent_take_given(void)
{
    if (given < 0) {
        return 0;
    }
    link_fd = given;
    given = -1;
    return 1;
}

int ckpt_agent_control_socket(char *path, size_t size,
                              struct ckpt_failure *failure)
{
    struct names names;
    const int error = make_names(&names, failure);

    if (error == 0) {
        ckpt_text_copy(path, size, names.control);
    }
    return error;
}

int ckpt_agent_socket(char *path, size_t size, struct ckpt_failure *failure)
{
    struct names names;
    const int error = make_names(&names, failure);

    if (error == 0) {
        ckpt_text_copy(path, size, names.socket);
    }
    return error;
}

void ckpt_agent_disconnect(void)
{
    if (link_fd >= 0) {
        ckpt_sys_close(link_fd);
        link_fd = -1;
    }
}

int ckpt_agent_connected(void)
{
    return link_fd >= 0;
}

int ckpt_agent_descriptor(void)
{
    return link_fd;
}

void ckpt_agent_signal(int signal, int tid)
{
    struct f_owner_ex owner = {F_OWNER_TID, tid};

    (void)ckpt_sys_fcntl(link_fd, F_SETSIG, signal);
    (void)ckpt_sys_fcntl(link_fd, F_SETOWN_EX, (long)&owner);
    (void)ckpt_sys_fcntl(link_fd, F_SETFL, O_RDWR | O_ASYNC);
}

/* Completes a message. A checkpoint in which the rank says something impossible must fail: the
 * message is replaced by a refusal that names it. */
static void complete(struct ckpt_message *message)
{
    const uint32_t type = message->type;
    const uint64_t epoch = message->epoch;
    const char *wrong;

    if (ckpt_message_encode(message, CKPT_FROM_RANK, &wrong) != 0) {
        *message = (struct ckpt_message){
            .type = CKPT_MSG_REFUSED,
            .epoch = epoch,
            .as.refused = {.identity = CKPT_REFUSAL_INTERNAL_ERROR}};
        ckpt_text_format(message->text, sizeof(message->text),
                         "its message %u has an invalid '%s'", type, wrong);
        (void)ckpt_message_encode(message, CKPT_FROM_RANK, &wrong); /* this one is valid */
    }
}

int ckpt_agent_send(struct ckpt_message *message, int fd)
{
    struct iovec vector = {message, sizeof(*message)};
    char control[CMSG_SPACE(sizeof(int))] = {0};
    struct msghdr header = {.msg_iov = &vector, .msg_iovlen = 1};
    long result;

    complete(message);
    CKPT_INVARIANT(message->text[sizeof(message->text) - 1] == '\0');
    if (fd >= 0) {
        struct cmsghdr *part;

        header.msg_control = control;
        header.msg_controllen = sizeof(control);
        part = CMSG_FIRSTHDR(&header);
        part->cmsg_level = SOL_SOCKET;
        part->cmsg_type = SCM_RIGHTS;
        part->cmsg_len = CMSG_LEN(sizeof(int));
        *(int *)CMSG_DATA(part) = fd;
    }
    do {
        result = ckpt_syscall3(SYS_sendmsg, link_fd, (long)&header, MSG_NOSIGNAL);
    } while (result == -EINTR);
    return result == (long)sizeof(*message) ? 0 : -EPIPE;
}

/* Receives one message. control: room for a descriptor, or NULL. */
static int receive_any(struct ckpt_message *message, int flags, void *control, size_t control_size)
{
    const char *wrong;
    struct iovec vector = {message, sizeof(*message)};
    struct msghdr header = {.msg_iov = &vector, .msg_iovlen = 1};
    long result;

    do {
        header.msg_control = control;
        header.msg_controllen = control_size;
        result = ckpt_syscall3(SYS_recvmsg, link_fd, (long)&header, flags);
    } while (result == -EINTR);
    if (result == -EAGAIN) {
        return 0;
    }
    if (result <= 0) {
        return -EPIPE;
    }
    result = ckpt_message_decode(message, (size_t)result, CKPT_FROM_AGENT, &wrong);
    return result == 0 ? 1 : -EPROTO;
}

/* The same, but obeys an order to become a shell at once, wherever it is received. */
static int receive(struct ckpt_message *message, int flags, void *control, size_t control_size)
{
    int got = receive_any(message, flags, control, control_size);

    while (got == 1 && message->type == CKPT_MSG_BECOME_SHELL) {
        ckpt_shell_obey(message); /* it has been refused */
        got = receive_any(message, flags, control, control_size);
    }
    return got;
}

int ckpt_agent_holds(uint32_t type)
{
    const int off = -1;
    struct ckpt_message message;
    long got = 0;
    int holds = 0;

    for (int offset = 0; got >= 0 && !holds; offset += (int)got) {
        got = ckpt_syscall6(SYS_setsockopt, link_fd, SOL_SOCKET, SO_PEEK_OFF, (long)&offset,
                            sizeof(offset), 0);
        if (got == 0) {
            got = ckpt_syscall6(SYS_recvfrom, link_fd, (long)&message, sizeof(message),
                                MSG_PEEK | MSG_DONTWAIT, 0, 0);
        }
        got = got == 0 ? -EPIPE : got; /* no packet is empty */
        holds = got == (long)sizeof(message) && message.type == type;
    }
    (void)ckpt_syscall6(SYS_setsockopt, link_fd, SOL_SOCKET, SO_PEEK_OFF, (long)&off, sizeof(off),
                        0);
    return holds;
}

int ckpt_agent_receive(struct ckpt_message *message, int wait)
{
    return receive(message, wait ? 0 : MSG_DONTWAIT, NULL, 0);
}

int ckpt_agent_receive_with(struct ckpt_message *message, int *fd)
{
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(sizeof(int))];
    } control = {.space = {0}};
    const int got = receive(message, MSG_CMSG_CLOEXEC, &control, sizeof(control));

    *fd = -1;
    if (control.header.cmsg_level == SOL_SOCKET && control.header.cmsg_type == SCM_RIGHTS &&
        control.header.cmsg_len == CMSG_LEN(sizeof(int))) {
        *fd = *(int *)CMSG_DATA(&control.header);
    }
    return got;
}

int ckpt_agent_poll(int ms)
{
    struct pollfd entry = {.fd = link_fd, .events = POLLIN};

    return ckpt_sys_poll(&entry, 1, ms) != 0;
}
