/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shell_order.c - obey BECOME_SHELL: execute ckpt-shell.
 *
 * execve(2) does at once what would otherwise be many steps, each of which needs the help of a
 * thread: the kernel ends all other threads wherever they are, also those that block all signals
 * or wait inside a library, and removes the memory. The process keeps what the launcher knows of
 * it: its id, its parent, its standard streams and the connections that it is given here.
 */
#include "link/shell_order.h"

#include "base/directory.h"
#include "base/invariant.h"
#include "base/text.h"
#include "link/agent_link.h"
#include "link/rank_page.h"
#include "link/shell_program.h"
#include "lower/discard.h"
#include "lower/launcher_connection.h"
#include "process/descriptor_room.h"
#include "runtime/crossing.h"
#include "runtime/runtime.h"
#include "sys/syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#define NUMBER 24 /* bytes of a decimal number */

/* What ckpt-shell is called with. Static: there may be little stack. */
static struct {
    char path[4096];
    char socket[108]; /* capacity of sun_path */
    char number[CKPT_SHELL_ARGUMENTS][NUMBER];
    const char *argument[CKPT_SHELL_ARGUMENTS + 1];
    unsigned count;
} call;

static void add_number(uint64_t number)
{
    CKPT_INVARIANT(call.count < CKPT_SHELL_ARGUMENTS && number <= INT64_MAX);
    ckpt_text_format(call.number[call.count], NUMBER, "%l", (long)number);
    call.argument[call.count] = call.number[call.count];
    call.count++;
}

/* Leaves the descriptor open in ckpt-shell. */
static int keep(int fd)
{
    if (call.count >= CKPT_SHELL_ARGUMENTS) {
        return -E2BIG;
    }
    add_number((uint64_t)fd);
    return (int)ckpt_sys_fcntl(fd, F_SETFD, 0);
}

/* Some launchers end the job if such a connection breaks. */
static int keep_if_launchers(const struct ckpt_directory_entry *entry, void *environment)
{
    uint64_t number;
    int fd;

    if (ckpt_text_decimal(entry->name, &number) == NULL || number <= STDERR_FILENO) {
        return 0;
    }
    fd = (int)number;
    return fd == ckpt_lower.launcher_channel || ckpt_discard_kept(fd) ||
                   ckpt_launcher_connection(fd, environment)
               ? keep(fd)
               : 0;
}

static int prepare(const struct ckpt_message *order, struct ckpt_failure *failure)
{
    int error = ckpt_agent_socket(call.socket, sizeof(call.socket), failure);

    if (error != 0) {
        return error;
    }
    call.count = 0;
    call.argument[call.count++] = CKPT_SHELL_PROGRAM;
    add_number(ckpt_rank_page()->rank);
    add_number(order->epoch);
    add_number(order->as.become_shell.successor);
    call.argument[call.count++] = call.socket;
    CKPT_INVARIANT(call.count == CKPT_SHELL_AGENT);
    error = keep(ckpt_agent_descriptor());
    if (error == 0) {
        error = ckpt_directory_each("/proc/self/fd", keep_if_launchers,
                                    (void *)ckpt_runtime_environment());
    }
    call.argument[call.count] = NULL;
    return error == 0 ? 0
                      : ckpt_fail(failure, error,
                                  "the launcher's connections cannot be found: error %d", -error);
}

/* Segments that only MPI_Finalize or the agent would remove. Other threads of the lower half still
 * run: a segment that one of them is just making may remain, as if the rank had died. */
static void remove_segments(void)
{
    if (ckpt_lower.remove_files != NULL) {
        ckpt_lower.remove_files();
    }
}

static int execute(struct ckpt_failure *failure)
{
    static const char *const environment[] = {NULL};
    long error;

    ckpt_runtime_tool(call.path, sizeof(call.path), CKPT_SHELL_PROGRAM);
    remove_segments();
    error = ckpt_syscall3(SYS_execve, (long)call.path, (long)call.argument, (long)environment);
    CKPT_INVARIANT(error < 0);
    return ckpt_fail(failure, (int)error, "the process does not become a shell: %s cannot be "
                                          "executed (error %d)",
                     call.path, (int)-error);
}

void ckpt_shell_obey(const struct ckpt_message *order)
{
    struct ckpt_message refusal = {.type = CKPT_MSG_REFUSED, .epoch = order->epoch};
    struct ckpt_failure failure = {0};
    const uint64_t all = ~UINT64_C(0);
    uint64_t mask;
    int error;

    CKPT_INVARIANT(order->type == CKPT_MSG_BECOME_SHELL && ckpt_agent_connected());
    (void)ckpt_sys_sigprocmask(SIG_SETMASK, &all, &mask); /* no signal may meet the new program */
    ckpt_descriptor_room_make();
    error = prepare(order, &failure);
    if (error == 0) {
        error = execute(&failure);
    }
    CKPT_INVARIANT(error < 0);
    refusal.as.refused.identity = failure.identity;
    (void)ckpt_text_copy(refusal.text, sizeof(refusal.text), failure.text);
    (void)ckpt_agent_send(&refusal, -1);
    ckpt_descriptor_room_leave();
    (void)ckpt_sys_sigprocmask(SIG_SETMASK, &mask, NULL);
}

void ckpt_shell_look(void)
{
    struct ckpt_message message;
    int got = 1;

    if (!ckpt_agent_connected() || !ckpt_agent_holds(CKPT_MSG_BECOME_SHELL)) {
        return;
    }
    while (got == 1) { /* the receipt obeys */
        got = ckpt_agent_receive(&message, 0);
    }
}
