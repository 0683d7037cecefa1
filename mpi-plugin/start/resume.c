/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * resume.c - from restored memory to a running rank.
 *
 * The code that MPI_Init uses loads the lower half. Then this code replays the
 * recipes, posts receives again and makes the threads again. At last the leader
 * goes on where it described itself.
 */
#include "start/resume.h"

#include "non_mpi/non_mpi.h"
#include "base/invariant.h"
#include "ckpt/copy.h"
#include "cut/image/file_content.h"
#include "cut/image/file_journal.h"
#include "cut/image/process_image.h"
#include "cut/image/system_v.h"
#include "cut/messages/rank_cut.h"
#include "cut/service/attach.h"
#include "cut/service/service.h"
#include "files/files.h"
#include "handles/kinds.h"
#include "handles/message_log.h"
#include "independent/capture.h"
#include "independent/keep.h"
#include "independent/page.h"
#include "journal/journal.h"
#include "link/agent_link.h"
#include "link/rank_page.h"
#include "lower/discard.h"
#include "memory/advice.h"
#include "memory/lazy_pages.h"
#include "runtime/crossing.h"
#include "runtime/runtime.h"
#include "runtime/state.h"
#include "start/rebuild.h"
#include "start/world.h"
#include "sys/syscall.h"
#include "process/attributes.h"
#include "process/copy_standby.h"
#include "task/busy.h"
#include "task/credentials.h"
#include "task/deadline.h"
#include "process/descriptor_room.h"
#include "process/memory_holder.h"
#include "task/interrupted.h"
#include "task/memory_policy.h"
#include "task/pending.h"
#include "task/process_id.h"
#include "task/program_clock.h"
#include "task/signals.h"
#include "task/thread_attributes.h"
#include "task/threads.h"
#include "task/timers.h"

#include <errno.h>
#include <sys/mman.h>

#define NANOSECONDS 1000000000u /* in a second */
#define FAILED      "restart failed"

static char leader_name[16]; /* of the program's leader, while a copy stands */
static char stack[256 * 1024] __attribute__((aligned(64)));
_Static_assert(sizeof(stack) % 64 == 0, "the top of the stack is aligned, too");

void *ckpt_resume_stack(void)
{
    return stack + sizeof(stack);
}

static int load(const struct ckpt_resume_info *info, struct ckpt_failure *failure)
{
    if (ckpt_non_mpi) {
        ckpt_non_mpi_resume(info);
        return 0;
    }
    return ckpt_world_load((char *const *)(uintptr_t)info->environment, info->vdso, failure);
}

/* Makes pending signals pending again, and starts timers. */
static int start_signals(struct ckpt_failure *failure)
{
    int error = ckpt_pending_restore(failure);

    if (error == 0) {
        error = ckpt_timers_restore(failure);
    }
    return error != 0 ? error : ckpt_files_start_timers(failure);
}

/* A copy that stands has done all that needs no descriptor of the program. It waits here until it
 * is the rank. */
static void stand_by(struct ckpt_resume_info *info)
{
    if (ckpt_copy_stands()) {
        ckpt_agent_give(ckpt_copy_stand_by(info));
        ckpt_files_resume();
        ckpt_threads_rename_leader(leader_name, NULL);
    }
}

static int rebuild(struct ckpt_resume_info *info, struct ckpt_failure *failure)
{
    int error = ckpt_non_mpi ? ckpt_rank_page_open(0, 1)
                             : ckpt_rank_page_open(MPI_COMM_WORLD->rank,
                                                   MPI_COMM_WORLD->size);

    if (error != 0) {
        return ckpt_fail(failure, error, "no memory for the rank page");
    }
    ckpt_busy_set(CKPT_BUSY_FREEZING); /* until the thaw */
    ckpt_signals_restore();            /* before the agent may send one */
    ckpt_process_image_settle();
    ckpt_rank_cut_restarted((const void *)(uintptr_t)info->message_log,
                            info->message_log_size);
    error = ckpt_system_v_rejoin(
        (int64_t)(info->restart_started / NANOSECONDS), failure);
    if (error == 0 && !ckpt_non_mpi) {
        error = ckpt_rebuild(ckpt_file_content_restore, failure);
    }
    if (error == 0) {
        stand_by(info);
    }
    if (error == 0 && ckpt_independent_restarted() != MPI_SUCCESS) {
        error = ckpt_fail(failure, -ENOMEM,
                          "no memory that the ranks share for independent "
                          "checkpoints");
    }
    ckpt_keep_restarted();
    ckpt_capture_restarted();
    if (error == 0) {
        error = ckpt_service_reopen(failure);
    }
    if (error == 0) {
        error = ckpt_file_journal_resume(failure);
    }
    if (error == 0) {
        error = ckpt_files_lock(failure);
    }
    if (error == 0) { /* late: the time until now does not count */
        error = ckpt_clock_start(info->vdso, failure);
    }
    if (error == 0) {
        ckpt_deadlines_restarted();
        ckpt_interrupted_threads_restarted();
        ckpt_thread_attributes_restore();
        ckpt_memory_policy_restore();
        ckpt_attributes_raise();
        error = ckpt_credentials_restore(failure); /* inherited by new threads */
    }
    if (error == 0) {
        error = ckpt_threads_recreate(failure);
    }
    if (error == 0) {
        error = ckpt_files_open_late(failure);
    }
    if (error == 0) {
        error = start_signals(failure);
    }
    if (error == 0) { /* last: limits apply to our own code, too */
        ckpt_attributes_restore();
        ckpt_advice_restore();
    }
    return error;
}

/* Returns 1 if the thread goes on in the handler of the checkpoint signal. */
static int blocks_signal(void)
{
    uint64_t mask = 0;

    (void)ckpt_sys_sigprocmask(SIG_SETMASK, NULL, &mask);
    return (mask & CKPT_SIGNAL_BIT(ckpt_checkpoint_signal())) != 0;
}

void ckpt_resume(struct ckpt_resume_info *info)
{
    struct ckpt_failure failure = {0};

    CKPT_INVARIANT(info->retained_start < info->retained_end);
    ckpt_resumed = 1;
    ckpt_busy_tell(NULL);     /* the page is not mapped yet */
    ckpt_journal_suspend();   /* its descriptor and its clock do not exist yet */
    if (ckpt_copy_stands()) { /* ckpt-launch must not take it for a rank yet */
        ckpt_threads_rename_leader(CKPT_COPY_NAME, leader_name);
    }
    ckpt_threads_repair_leader(); /* before the lower half's libc */
    ckpt_process_id_restore();
    ckpt_descriptor_room_gone();
    ckpt_memory_holder_gone();
    ckpt_lazy_pages_begin(info->lazy_faults, info->page_server);
    ckpt_discard_restarted();
    ckpt_files_resume(); /* the streams are the new launcher's */
    ckpt_state = CKPT_STATE_CRITICAL;
    if (load(info, &failure) != 0 || rebuild(info, &failure) != 0) {
        ckpt_world_give_up(FAILED, &failure);
    }
    (void)ckpt_sys_munmap((void *)(uintptr_t)info->retained_start,
                          info->retained_end - info->retained_start);
    ckpt_threads_thaw();
    if (!ckpt_non_mpi) {
        ckpt_runtime_hold_memory();
    }
    ckpt_lazy_pages_running();
    ckpt_world_go_on(blocks_signal(), FAILED);
}
