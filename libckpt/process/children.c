/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * children.c - finds processes that the program has started.
 */
#include "process/children.h"

#include "base/directory.h"
#include "base/invariant.h"
#include "base/text.h"
#include "memory/maps.h"
#include "sys/syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#define COMMAND_SIZE 200

/* Returns 0 if the process has no child; usually this one call is enough. */
static int may_have_children(void)
{
    siginfo_t info;

    return ckpt_syscall6(SYS_waitid, P_ALL, 0, (long)&info,
                         WEXITED | WNOHANG | WNOWAIT | __WALL, 0,
                         0) != -ECHILD;
}

/* Reads the beginning of a file of /proc/PID, with blanks for NULs and newlines. */
static long read_text(int pid, const char *name, char text[COMMAND_SIZE])
{
    char path[64];
    long size;
    int fd;

    ckpt_text_format(path, sizeof(path), "/proc/%d/%s", pid, name);
    fd = (int)ckpt_sys_open(path, O_RDONLY | O_CLOEXEC, 0);
    size = fd < 0 ? fd : ckpt_sys_read(fd, text, COMMAND_SIZE - 1);
    if (fd >= 0) {
        ckpt_sys_close(fd);
    }
    size = size > 0 ? size : 0;
    while (size > 0 && (text[size - 1] == '\0' || text[size - 1] == '\n')) {
        size--;
    }
    CKPT_INVARIANT(size < COMMAND_SIZE);
    text[size] = '\0';
    for (long i = 0; i < size; i++) {
        text[i] = text[i] == '\0' || text[i] == '\n' ? ' ' : text[i];
    }
    return size;
}

static int refuse(int pid, struct ckpt_failure *failure)
{
    char command[COMMAND_SIZE];

    if (read_text(pid, "cmdline", command) > 0) {
        return ckpt_refuse(failure, CKPT_REFUSAL_LIVING_CHILD, -ENOTSUP,
                           "process %d (%s), which the program has started, is "
                           "still there",
                           pid, command);
    }
    (void)read_text(pid, "comm", command); /* a process that has ended has no command line */
    return ckpt_refuse(failure, CKPT_REFUSAL_ENDED_CHILD, -ENOTSUP,
                       "process %d (%s), which the program has started, has ended "
                       "and has not been waited for",
                       pid, command);
}

/* Checks a list of pids separated by blanks. */
static int look_at(const char *list, int (*is_lower)(int pid),
                   struct ckpt_failure *failure)
{
    uint64_t pid;

    while ((list = ckpt_text_decimal(list, &pid)) != NULL) {
        if (!is_lower((int)pid)) {
            return refuse((int)pid, failure);
        }
        list += *list == ' ';
    }
    return 0;
}

struct look {
    struct ckpt_arena *arena;
    int (*is_lower)(int pid);
    struct ckpt_failure *failure;
};

/* A process is the child of the thread that started it. */
static int look_at_thread(const struct ckpt_directory_entry *thread,
                          void *argument)
{
    const struct look *look = argument;
    char path[64], *list;
    size_t size;
    int error;

    if (thread->name[0] == '.') {
        return 0;
    }
    ckpt_text_format(path, sizeof(path), "/proc/self/task/%s/children",
                     thread->name);
    error = ckpt_proc_read(look->arena, path, &list, &size, look->failure);
    return error != 0 ? error : look_at(list, look->is_lower, look->failure);
}

int ckpt_children_refuse(struct ckpt_arena *arena, int (*is_lower)(int pid),
                         struct ckpt_failure *failure)
{
    struct look look = {arena, is_lower, failure};
    int error;

    if (!may_have_children()) {
        return 0;
    }
    failure->text[0] = '\0';
    error = ckpt_directory_each("/proc/self/task", look_at_thread, &look);
    if (error != 0 && failure->text[0] == '\0') {
        (void)ckpt_fail(failure, error, "cannot list /proc/self/task");
    }
    return error;
}
