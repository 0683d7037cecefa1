/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * signal_sets.c - reads the signal sets of a thread from /proc.
 */
#include "task/signal_sets.h"

#include "base/invariant.h"
#include "base/text.h"
#include "sys/syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#define WAITING "SigPnd:\t"
#define BLOCKED "SigBlk:\t"

static int open_status(int tid)
{
    char path[64] = "/proc/thread-self/status";

    if (tid != 0) {
        ckpt_text_format(path, sizeof(path), "/proc/self/task/%d/status", tid);
    }
    return (int)ckpt_sys_open(path, O_RDONLY | O_CLOEXEC, 0);
}

static void read_line(const char *line, struct ckpt_signal_sets *sets)
{
    if (ckpt_text_starts(line, WAITING)) {
        ckpt_text_hexadecimal(line + strlen(WAITING), &sets->waiting);
    } else if (ckpt_text_starts(line, BLOCKED)) {
        ckpt_text_hexadecimal(line + strlen(BLOCKED), &sets->blocked);
    }
}

/* Handles the lines in the buffer and keeps the incomplete last one. Returns the size of that
 * rest. Discards a line that does not fit (Groups may be long), since it is not needed. */
static long read_lines(char *text, long size, long capacity, struct ckpt_signal_sets *sets)
{
    char *line = text;
    char *end;

    while ((end = memchr(line, '\n', (size_t)(text + size - line))) != NULL) {
        *end = '\0';
        read_line(line, sets);
        line = end + 1;
    }
    size = text + size - line;
    CKPT_INVARIANT(size >= 0 && size <= capacity);
    memmove(text, line, (size_t)size);
    return size < capacity ? size : 0;
}

int ckpt_signal_sets_read(int tid, struct ckpt_signal_sets *sets)
{
    char text[1024];
    long rest = 0, got;
    const int fd = open_status(tid);

    *sets = (struct ckpt_signal_sets){0, 0};
    if (fd < 0) {
        return fd;
    }
    while ((got = ckpt_sys_read(fd, text + rest, sizeof(text) - (size_t)rest)) > 0) {
        rest = read_lines(text, rest + got, sizeof(text), sets);
    }
    ckpt_sys_close(fd);
    return (int)got;
}

int ckpt_signal_is_held_up(int tid, int signal)
{
    struct ckpt_signal_sets sets;

    return ckpt_signal_sets_read(tid, &sets) == 0 &&
           (sets.waiting & sets.blocked & CKPT_SIGNAL_BIT(signal)) != 0;
}
