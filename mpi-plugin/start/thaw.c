/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * thaw.c - from a frozen copy to a running rank.
 *
 * The copy has no lower half, one thread and its descriptors, as a process that ckpt-restart has
 * restored. What it has inherited and a restored process would not have ends here; then the code
 * of a restart goes on (resume.c).
 */
#include "start/thaw.h"

#include "base/invariant.h"
#include "cut/image/process_image.h"
#include "handles/kinds.h"
#include "independent/keep.h"
#include "link/agent_link.h"
#include "non_mpi/non_mpi.h"
#include "process/attributes.h"
#include "process/descriptor_room.h"
#include "runtime/state.h"
#include "runtime/uncovered.h"
#include "start/resume.h"
#include "task/parking.h"
#include "task/threads.h"

#include <errno.h>

int ckpt_may_thaw(struct ckpt_failure *failure)
{
    const char *why = ckpt_process_image_goal() == NULL || !ckpt_threads_are_frozen()
                          ? "it was not made while the rank was described"
                      : ckpt_rank_cut_open ? "messages that cross its cut are under way"
                      : ckpt_independent != NULL && !ckpt_keep_has_described()
                          ? "the rank takes independent checkpoints, and it is none"
                          : NULL;

    return why == NULL ? ckpt_unsound_refuse(failure)
                       : ckpt_refuse(failure, CKPT_REFUSAL_NEEDS_STOP, -ENOTSUP,
                                     "the copy cannot come to life: %s", why);
}

/* Files are opened by all ranks together, after they have been rolled back. */
int ckpt_may_stand(struct ckpt_failure *failure)
{
    const char *why = ckpt_non_mpi                   ? "the program has not begun MPI"
                      : ckpt_live(CKPT_FILE) != NULL ? "the program has opened MPI files"
                                                     : NULL;

    return why == NULL ? 0
                       : ckpt_refuse(failure, CKPT_REFUSAL_NEEDS_STOP, -ENOTSUP,
                                     "the copy cannot stand by: %s", why);
}

static void resume(void *info)
{
    ckpt_resume(info);
}

void ckpt_thaw(struct ckpt_resume_info *info, int agent)
{
    CKPT_INVARIANT(ckpt_threads_are_frozen());
    ckpt_descriptor_room_leave();
    ckpt_attributes_of_launcher();
    if (agent >= 0) {
        ckpt_agent_give(agent);
    }
    ckpt_context_call(resume, info, ckpt_resume_stack());
    __builtin_unreachable();
}
