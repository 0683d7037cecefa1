/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * change_world.c - a living rank throws its lower half away and loads another one.
 *
 * A restart does the same in a new process (resume.c). There it must bring back memory, threads,
 * files, signals and clocks; here they are. What both do is in world.c and rebuild.c.
 */
#include "start/change_world.h"

#include "base/arena.h"
#include "base/invariant.h"
#include "cut/image/process_image.h"
#include "cut/image/system_v.h"
#include "cut/service/attach.h"
#include "independent/keep.h"
#include "independent/page.h"
#include "link/rank_page.h"
#include "lower/discard.h"
#include "lower/launch_environment.h"
#include "runtime/crossing.h"
#include "runtime/runtime.h"
#include "start/rebuild.h"
#include "start/resume.h"
#include "start/world.h"
#include "task/parking.h"
#include "task/threads.h"

#include <errno.h>

#define FAILED "the rank has left its MPI library and cannot load another one"

/* What the part on another stack needs. */
struct change {
    struct ckpt_launch_environment *environment;
    struct ckpt_failure *failure;
    int error;
};

/* The content of MPI files is there: all ranks have stood still since they described it. */
static int keep_files(struct ckpt_failure *failure)
{
    (void)failure;
    return 0;
}

/* Windows and logs are there; the page belongs to the world. A rank that comes back from its
 * independent checkpoint makes the same calls (resume.c). */
static int renew_independent(struct ckpt_failure *failure)
{
    if (ckpt_independent_in_new_world() != MPI_SUCCESS) {
        return ckpt_fail(failure, -ENOMEM, "no memory that the ranks share for independent "
                                           "checkpoints");
    }
    ckpt_keep_restarted(); /* the former copy has the former windows */
    return 0;
}

/* Makes all of the new world that lies in this process and in the agent's page. */
static int renew(struct change *change)
{
    int error = ckpt_discard(&ckpt_lower, change->failure);

    if (error != 0) {
        return error;
    }
    ckpt_thread_contexts_forget(0);
    error = ckpt_world_load(change->environment->entries, ckpt_runtime_vdso(), change->failure);
    if (error == 0) {
        ckpt_rank_page_renew();
        error = ckpt_system_v_attend(change->failure);
    }
    if (error == 0) {
        error = ckpt_rebuild(keep_files, change->failure);
    }
    if (error == 0) {
        error = renew_independent(change->failure);
    }
    return error == 0 ? ckpt_attach_in_new_world(change->failure) : error;
}

/* Runs on the stack of a restart: MPI_Init needs more than a signal handler's. */
static void run(void *argument)
{
    struct change *change = argument;
    const int state = ckpt_state;

    change->error = ckpt_discard_prepare(&ckpt_lower, change->failure);
    if (change->error != 0) {
        return;
    }
    ckpt_state = CKPT_STATE_CRITICAL;
    if (renew(change) != 0 || ckpt_unsound_refuse(change->failure) != 0) {
        ckpt_world_give_up(FAILED, change->failure);
    }
    ckpt_state = state;
}

int ckpt_change_world(const char *settings, size_t size, struct ckpt_failure *failure)
{
    struct change change = {.failure = failure};

    CKPT_INVARIANT(ckpt_threads_are_frozen() && ckpt_process_image_goal() != NULL);
    change.environment = ckpt_memory_alloc(sizeof(*change.environment));
    if (change.environment == NULL) {
        return ckpt_fail(failure, -ENOMEM, "no memory for the environment of the new launch");
    }
    change.error = ckpt_launch_environment_make(ckpt_runtime_environment(), settings, size,
                                                change.environment, failure);
    if (change.error == 0) {
        ckpt_context_call(run, &change, ckpt_resume_stack());
    }
    ckpt_memory_free(change.environment, sizeof(*change.environment));
    return change.error;
}

void ckpt_change_world_go_on(void)
{
    ckpt_world_go_on(0, FAILED);
}
