/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * world.c - obey the agent's order to change worlds.
 */
#include "cut/service/world.h"

#include "base/arena.h"
#include "base/invariant.h"
#include "cut/messages/report.h"
#include "link/agent_link.h"
#include "runtime/state.h"
#include "runtime/uncovered.h"
#include "sys/syscall.h"
#include "task/threads.h"

#include <errno.h>
#include <sys/stat.h>

#define SETTINGS_MOST (1024 * 1024) /* bytes; docs/protocol.md */

static const struct ckpt_world_calls *calls;

void ckpt_world_calls_set(const struct ckpt_world_calls *the_calls)
{
    CKPT_INVARIANT(calls == NULL && the_calls->change != NULL && the_calls->go_on != NULL);
    calls = the_calls;
}

/* Says why this rank, as it is, must not change worlds. */
static int may_change(struct ckpt_failure *failure)
{
    const char *why = ckpt_non_mpi         ? "it has no MPI"
                      : ckpt_rank_cut_open ? "messages that cross its cut are under way"
                      : ckpt_replaying     ? "it is being replayed"
                                           : NULL;

    return why == NULL ? ckpt_unsound_refuse(failure)
                       : ckpt_refuse(failure, CKPT_REFUSAL_NEEDS_STOP, -ENOTSUP,
                                     "the rank cannot change worlds: %s", why);
}

/* Reads the whole file into `settings`. Returns 0 or -errno. */
static int read_settings(int fd, char *settings, size_t size)
{
    size_t done = 0;

    while (done < size) {
        const long got = ckpt_sys_pread(fd, settings + done, size - done, (int64_t)done);

        if (got == 0) {
            return -ESTALE;
        }
        if (got < 0 && got != -EINTR) {
            return (int)got;
        }
        done += got > 0 ? (size_t)got : 0;
    }
    return 0;
}

static int change(int environment, struct ckpt_failure *failure)
{
    struct stat status;
    char *settings;
    size_t size;
    int error = environment < 0 ? -EBADF : (int)ckpt_sys_fstat(environment, &status);

    if (error != 0 || status.st_size <= 0 || status.st_size > SETTINGS_MOST) {
        return ckpt_refuse(failure, CKPT_REFUSAL_INTERNAL_ERROR, -EPROTO,
                           "the order to change worlds has no environment (error %d)", -error);
    }
    size = (size_t)status.st_size;
    settings = ckpt_memory_alloc(size);
    if (settings == NULL) {
        return ckpt_fail(failure, -ENOMEM, "no memory for %l bytes", (long)size);
    }
    error = read_settings(environment, settings, size);
    error = error != 0 ? ckpt_fail(failure, error, "the environment cannot be read: error %d",
                                   -error)
                       : calls->change(settings, size, failure);
    ckpt_memory_free(settings, size);
    return error;
}

int ckpt_world_obey(int environment)
{
    struct ckpt_message ready = {.type = CKPT_MSG_WORLD_READY, .epoch = ckpt_checkpoint.epoch};
    struct ckpt_failure failure = {0};
    int error = may_change(&failure);

    CKPT_INVARIANT(ckpt_threads_are_frozen());
    if (error == 0) {
        error = change(environment, &failure);
    }
    if (environment >= 0) {
        (void)ckpt_sys_close(environment);
    }
    if (error != 0) {
        ckpt_report_refusal(&failure);
        return 0;
    }
    (void)ckpt_agent_send(&ready, -1);
    return 1;
}

void ckpt_world_refuse(void)
{
    struct ckpt_failure failure = {0};

    (void)ckpt_refuse(&failure, CKPT_REFUSAL_NEEDS_STOP, -EBUSY,
                      "a rank that runs cannot change worlds");
    ckpt_report_refusal(&failure);
}

void ckpt_world_leave(void)
{
    CKPT_INVARIANT(!ckpt_threads_are_frozen());
    calls->go_on();
    __builtin_unreachable();
}
