/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shell.c - ckpt-shell: what a rank becomes when another process is the rank (docs/protocol.md,
 * section 5). The launcher waits for the end of this process; it waits for the agent's word.
 *
 * A program without libc, so that it takes a few pages. link/shell_program.h has its arguments.
 */
#include "link/shell_program.h"

#include "base/invariant.h"
#include "base/text.h"
#include "ckpt/messages.h"
#include "ckpt/refusals.h"
#include "shell/inherited.h"
#include "sys/syscall.h"
#include "sys/unix_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define PAGE       4096u
#define LOOK_MS    1000 /* period at which a shell without an agent looks for one */
#define PIDFD_OPEN 434  /* older headers lack the names */
#define PIDFD_SEND 424  /* pidfd_send_signal(2) */
#define UNKNOWN    1    /* exit code */
#define WRONG      2    /* exit code: the arguments are wrong */

static struct {
    uint64_t rank;
    const char *socket; /* of the agent */
    int agent;          /* connection, or -1 */
    int parent;         /* pidfd; -1: the parent is in another namespace */
    int successor;      /* pidfd; -1: has ended */
    int signals;        /* signalfd of all that are blocked, or -1 */
} shell;

static uint64_t number(const char *text)
{
    uint64_t value;
    const char *end = ckpt_text_decimal(text, &value);

    if (end == NULL || *end != '\0' || value > INT_MAX) {
        ckpt_sys_exit_group(WRONG);
    }
    return value;
}

static int open_process(int pid)
{
    return (int)ckpt_syscall3(PIDFD_OPEN, pid, 0, 0);
}

/* Bytes of memory in use, 0 without /proc. */
static uint64_t resident(void)
{
    char text[128];
    const int fd = (int)ckpt_sys_open("/proc/self/statm", O_RDONLY | O_CLOEXEC, 0);
    const long size = fd < 0 ? -1 : ckpt_sys_read(fd, text, sizeof(text) - 1);
    uint64_t pages = 0;
    const char *at;

    if (fd >= 0) {
        (void)ckpt_sys_close(fd);
    }
    if (size <= 0) {
        return 0;
    }
    text[size] = '\0';
    at = ckpt_text_decimal(text, &pages); /* all pages; then those in use */
    at = at == NULL || *at != ' ' ? NULL : ckpt_text_decimal(at + 1, &pages);
    return at == NULL ? 0 : pages * PAGE;
}

static void lose_agent(void)
{
    if (shell.agent >= 0) {
        (void)ckpt_sys_close(shell.agent);
    }
    shell.agent = -1;
}

static void tell(struct ckpt_message *message)
{
    const char *wrong;
    const int error = ckpt_message_encode(message, CKPT_FROM_RANK, &wrong);
    long sent;

    CKPT_INVARIANT(error == 0);
    do {
        sent = ckpt_syscall6(SYS_sendto, shell.agent, (long)message, sizeof(*message),
                             MSG_NOSIGNAL, 0, 0);
    } while (sent == -EINTR);
    if (sent != (long)sizeof(*message)) {
        lose_agent();
    }
}

/* Lets the agent take descriptors from this process (pidfd_getfd(2)), also where ptrace is
 * restricted (Yama). */
static void open_to_agent(void)
{
    struct ucred peer = {0, 0, 0};
    socklen_t size = sizeof(peer);

    if (ckpt_syscall6(SYS_getsockopt, shell.agent, SOL_SOCKET, SO_PEERCRED, (long)&peer,
                      (long)&size, 0) == 0) {
        (void)ckpt_sys_prctl(PR_SET_PTRACER, (unsigned long)peer.pid, 0, 0, 0);
    }
}

/* Says that this is a shell. */
static void introduce(uint64_t epoch)
{
    struct ckpt_message message = {
        .type = CKPT_MSG_SHELL,
        .epoch = epoch,
        .as.shell = {shell.rank, (uint64_t)ckpt_sys_getpid(), resident()}};

    open_to_agent();
    tell(&message);
}

/* Says that something of the rank may be left. The agent ends this process. */
static void refuse(uint64_t epoch, int error)
{
    struct ckpt_message message = {.type = CKPT_MSG_REFUSED,
                                   .epoch = epoch,
                                   .as.refused = {.identity = CKPT_REFUSAL_SYSTEM_ERROR}};

    (void)ckpt_text_format(message.text, sizeof(message.text),
                           "the process of rank %l does not become a shell: it cannot give up "
                           "what it has (error %d)",
                           (long)shell.rank, -error);
    tell(&message);
}

static void follow(uint64_t successor)
{
    if (shell.successor >= 0) {
        (void)ckpt_sys_close(shell.successor);
    }
    shell.successor = open_process((int)successor);
    CKPT_INVARIANT(shell.successor >= 0 || shell.successor == -ESRCH);
}

/* Obeys the agent's next message, or notices that it has gone. */
static void receive(void)
{
    struct ckpt_message message;
    const char *wrong;
    const long size = ckpt_syscall6(SYS_recvfrom, shell.agent, (long)&message, sizeof(message),
                                    MSG_DONTWAIT, 0, 0);

    if (size == -EINTR || size == -EAGAIN) {
        return;
    }
    if (size <= 0 ||
        ckpt_message_decode(&message, (size_t)size, CKPT_FROM_AGENT, &wrong) != 0) {
        lose_agent();
    } else if (message.type == CKPT_MSG_END_SHELL) {
        ckpt_sys_exit_group((int)message.as.end_shell.code);
    } else if (message.type == CKPT_MSG_BECOME_SHELL) {
        follow(message.as.become_shell.successor);
        introduce(message.epoch);
    } /* others were for the rank, or are of a newer agent */
}

/* Passes on what the launcher forwards to its processes, such as SIGUSR1. What threads send each
 * other, as the agent does, is not for another process. */
static void pass_on_signals(void)
{
    struct signalfd_siginfo signal;

    while (ckpt_sys_read(shell.signals, &signal, sizeof(signal)) == (long)sizeof(signal)) {
        if (shell.successor >= 0 && (signal.ssi_code == SI_USER || signal.ssi_code == SI_QUEUE)) {
            (void)ckpt_syscall6(PIDFD_SEND, shell.successor, (long)signal.ssi_signo, 0, 0, 0, 0);
        }
    }
}

/* Neither an agent nor the successor is left: nobody will know how the rank ended. */
static __attribute__((noreturn)) void give_up(void)
{
    char text[160];
    const size_t length =
        ckpt_text_format(text, sizeof(text),
                         "ckpt: rank %l: the process that took its place has ended, and so has "
                         "its agent: its exit code is unknown\n",
                         (long)shell.rank);

    (void)ckpt_sys_write(STDERR_FILENO, text, length);
    ckpt_sys_exit_group(UNKNOWN);
}

static void look_for_agent(void)
{
    const int fd = ckpt_unix_connect(shell.socket, SOCK_SEQPACKET);

    CKPT_INVARIANT(shell.agent < 0);
    if (fd >= 0) {
        shell.agent = fd;
        introduce(0);
    }
}

/* Waits until something happens. The successor matters only without an agent. */
static __attribute__((noreturn)) void serve(void)
{
    for (;;) {
        const int has_agent = shell.agent >= 0;
        struct pollfd entries[3] = {
            {.fd = shell.parent, .events = POLLIN},
            {.fd = has_agent ? shell.agent : shell.successor, .events = POLLIN},
            {.fd = shell.signals, .events = POLLIN}};
        const long ready = ckpt_sys_poll(entries, 3, has_agent ? -1 : LOOK_MS);

        if (ready > 0 && entries[2].revents != 0) {
            pass_on_signals();
        }
        if (ready > 0 && entries[0].revents != 0) { /* nobody waits for this process any more */
            ckpt_sys_exit_group(0);
        } else if (has_agent) {
            if (ready > 0 && entries[1].revents != 0) {
                receive();
            }
            if (shell.agent < 0) {
                look_for_agent();
            }
        } else if (shell.successor < 0 || (ready > 0 && entries[1].revents != 0)) {
            give_up();
        } else {
            look_for_agent();
        }
    }
}

/* Takes the arguments: those from CKPT_SHELL_AGENT on are descriptors that stay open. Returns 0; or
 * -errno if something of the rank may be left. */
static int begin(long count, const char *const *argument)
{
    int kept[CKPT_SHELL_ARGUMENTS];
    unsigned kept_count = 0;
    int error;

    if (count < CKPT_SHELL_KEPT || count > CKPT_SHELL_ARGUMENTS) {
        ckpt_sys_exit_group(WRONG);
    }
    for (long i = CKPT_SHELL_AGENT; i < count; i++) {
        kept[kept_count++] = (int)number(argument[i]);
    }
    error = ckpt_inherited_close(kept, kept_count);
    if (error == 0) {
        error = ckpt_inherited_give_up();
    }
    shell.signals = error == 0 ? (int)ckpt_inherited_signals() : -1;
    shell.rank = number(argument[CKPT_SHELL_RANK]);
    shell.socket = argument[CKPT_SHELL_SOCKET];
    shell.agent = (int)number(argument[CKPT_SHELL_AGENT]);
    (void)ckpt_sys_fcntl(shell.agent, F_SETFL, O_RDWR); /* without O_ASYNC, for a thread */
    shell.parent = open_process((int)ckpt_syscall3(SYS_getppid, 0, 0, 0));
    shell.successor = open_process((int)number(argument[CKPT_SHELL_SUCCESSOR]));
    return error;
}

/* stack: as the kernel makes it: the number of arguments, then the arguments. */
__attribute__((noreturn, used)) void ckpt_shell_main(const long *stack)
{
    const char *const *argument = (const char *const *)(stack + 1);
    const int error = begin(stack[0], argument);
    uint64_t epoch;

    if (ckpt_text_decimal(argument[CKPT_SHELL_EPOCH], &epoch) == NULL) {
        ckpt_sys_exit_group(WRONG);
    }
    if (error == 0) {
        introduce(epoch);
    } else {
        refuse(epoch, error);
    }
    serve();
}

__asm__(".globl _start\n"
        ".type _start, @function\n"
        "_start:\n\t"
        "xor %ebp, %ebp\n\t"
        "mov %rsp, %rdi\n\t"
        "and $-16, %rsp\n\t"
        "call ckpt_shell_main\n\t"
        "ud2\n\t"
        ".size _start, .-_start");
