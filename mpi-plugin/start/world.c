/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * world.c - from a process without a lower half to a rank that goes on.
 */
#include "start/world.h"

#include "base/invariant.h"
#include "base/text.h"
#include "cut/collectives/collective.h"
#include "cut/collectives/nonblocking.h"
#include "cut/image/process_image.h"
#include "handles/kinds.h"
#include "runtime/crossing.h"
#include "start/load.h"
#include "sys/syscall.h"
#include "task/busy.h"
#include "task/threads.h"

#include <errno.h>
#include <unistd.h>

void ckpt_world_give_up(const char *what, const struct ckpt_failure *failure)
{
    static char line[600];
    const size_t length = ckpt_text_format(line, sizeof(line), "ckpt: %s: %s [%s]\n", what,
                                           failure->text, ckpt_refusal_name(failure->identity));

    (void)ckpt_sys_write(STDERR_FILENO, line, length);
    ckpt_sys_exit_group(1);
}

/* Checks that the new MPI_COMM_WORLD has the old one's size and order. */
static int same_world(struct ckpt_failure *failure)
{
    int code, rank, size;

    CKPT_CALL(code, Comm_rank, CKPT_LOWER(MPI_COMM_WORLD), &rank);
    CKPT_CALL(code, Comm_size, CKPT_LOWER(MPI_COMM_WORLD), &size);
    if (code != MPI_SUCCESS || rank != MPI_COMM_WORLD->rank ||
        size != MPI_COMM_WORLD->size) {
        return ckpt_refuse(failure, CKPT_REFUSAL_OTHER_PLACEMENT, -EINVAL,
                           "this is rank %d of %d in the new launch, but the image "
                           "is of rank %d of %d",
                           rank, size, MPI_COMM_WORLD->rank, MPI_COMM_WORLD->size);
    }
    return 0;
}

/* Waits until every rank has put back what it shares with others, before any rank
 * uses it. */
static int await_others(struct ckpt_failure *failure)
{
    int code;

    CKPT_CALL(code, Barrier, CKPT_LOWER(MPI_COMM_WORLD));
    return code == MPI_SUCCESS ? 0
                               : ckpt_refuse(failure, CKPT_REFUSAL_MPI_ERROR, -EIO,
                                             "the ranks cannot come together "
                                             "(MPI error %d)",
                                             code);
}

int ckpt_world_load(char *const environment[], uint64_t vdso, struct ckpt_failure *failure)
{
    int error = ckpt_load(environment, vdso, failure);

    if (error == 0) {
        error = ckpt_load_start(failure);
    }
    if (error == 0) {
        error = same_world(failure);
    }
    return error == 0 ? await_others(failure) : error;
}

void ckpt_world_go_on(int is_in_handler, const char *what)
{
    struct ckpt_failure failure = {0};
    struct ckpt_context *goal = ckpt_process_image_goal();

    CKPT_INVARIANT(goal != NULL && !ckpt_threads_are_frozen());
    if (ckpt_nonblocking_begin_again(&failure) != 0 || ckpt_unsound_refuse(&failure) != 0) {
        ckpt_world_give_up(what, &failure);
    }
    if (goal == &ckpt_collective.again) { /* enter the collective again, outside any handler */
        ckpt_busy_clear(CKPT_BUSY_ANSWERING);
        ckpt_state = CKPT_STATE_IDLE;
    } else {
        if (is_in_handler) {
            ckpt_busy_set(CKPT_BUSY_ANSWERING);
        }
        ckpt_state = CKPT_STATE_SERVICE;
    }
    ckpt_context_resume(goal);
}
