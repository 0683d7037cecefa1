/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * discard.c - take a lower half out of a living process.
 *
 * What a lower half can have besides memory, threads and descriptors: no timers and no signal
 * handlers (host_signals.c); children (refused here); files in /dev/shm (host_files.c). Session
 * directories belong to the launcher, which removes them. Attributes that it has set by prctl(2)
 * are those that the next one sets.
 */
#include "lower/discard.h"

#include "base/directory.h"
#include "base/invariant.h"
#include "base/text.h"
#include "lower/halt.h"
#include "lower/loader.h"
#include "sys/syscall.h"
#include "sys/thread_pointer.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#define RANGES_MAX 8192
#define HALT_MS    2000
#define END_MS     2000

static struct ckpt_range ranges[RANGES_MAX];
static int range_count; /* 0: not prepared */
static int kept = -1;   /* the launcher's channel of the first world */

/* Asks before any thread is halted: a halted thread may hold the dynamic linker's lock. Memory
 * that a thread maps after that stays mapped. */
static int list_ranges(struct ckpt_lower *table, struct ckpt_failure *failure)
{
    const uintptr_t upper = ckpt_thread_pointer_load();
    int count;

    ckpt_thread_pointer_set(table->thread_pointer);
    count = table->ranges(ranges, RANGES_MAX);
    ckpt_thread_pointer_set(upper);
    if (count <= 0) {
        return ckpt_refuse(failure, CKPT_REFUSAL_TOO_MANY_OBJECTS, count < 0 ? count : -ENOENT,
                           "the memory of the MPI library cannot be listed");
    }
    CKPT_INVARIANT(count <= RANGES_MAX);
    range_count = count + ckpt_lower_loader_ranges(ranges + count, RANGES_MAX - count);
    return 0;
}

/* The next lower half could not know that a child is not the application's. */
static int refuse_children(struct ckpt_failure *failure)
{
    siginfo_t info;
    const long error = ckpt_syscall6(SYS_waitid, P_ALL, 0, (long)&info,
                                     WEXITED | WNOHANG | WNOWAIT | __WALL, 0, 0);

    return error == -ECHILD ? 0
                            : ckpt_refuse(failure, CKPT_REFUSAL_LIVING_CHILD, -EBUSY,
                                          "the MPI library has a child process");
}

int ckpt_discard_prepare(struct ckpt_lower *table, struct ckpt_failure *failure)
{
    int error;

    CKPT_INVARIANT(table->thread_pointer != 0 && range_count == 0);
    error = refuse_children(failure);
    if (error == 0) {
        error = list_ranges(table, failure);
    }
    if (error == 0) {
        error = ckpt_halt(table, HALT_MS, failure);
    }
    if (error != 0) {
        range_count = 0;
    }
    return error;
}

void ckpt_discard_cancel(void)
{
    CKPT_INVARIANT(range_count > 0);
    range_count = 0;
    ckpt_halt_over();
}

static int close_if_lower(const struct ckpt_directory_entry *entry, void *argument)
{
    const struct ckpt_lower *table = argument;
    uint64_t fd;

    if (ckpt_text_decimal(entry->name, &fd) == NULL || (int)fd == entry->descriptor ||
        (int)fd == kept || !table->owns_descriptor((int)fd)) {
        return 0;
    }
    (void)ckpt_sys_close((int)fd); /* an error of the file is of no interest any more */
    return 0;
}

static int unmap_ranges(struct ckpt_failure *failure)
{
    for (; range_count > 0; range_count--) {
        const struct ckpt_range *range = &ranges[range_count - 1];
        const long error = ckpt_sys_munmap((void *)range->start, range->end - range->start);

        CKPT_INVARIANT(range->start < range->end);
        if (error != 0) {
            return ckpt_fail(failure, (int)error, "memory of the MPI library cannot be unmapped");
        }
    }
    return 0;
}

int ckpt_discard(struct ckpt_lower *table, struct ckpt_failure *failure)
{
    int error;

    CKPT_INVARIANT(range_count > 0); /* prepared */
    error = ckpt_halt_end(END_MS, failure);
    if (error != 0) {
        return error;
    }
    table->remove_files();
    kept = kept < 0 ? table->launcher_channel : kept;
    error = ckpt_directory_each("/proc/self/fd", close_if_lower, table);
    if (error != 0) {
        return ckpt_fail(failure, error, "the MPI library's descriptors cannot be listed");
    }
    error = unmap_ranges(failure);
    ckpt_lower_loader_forget();
    memset(table, 0, sizeof(*table));
    return error;
}

int ckpt_discard_kept(int fd)
{
    return fd >= 0 && fd == kept;
}

void ckpt_discard_restarted(void)
{
    kept = -1;
}
