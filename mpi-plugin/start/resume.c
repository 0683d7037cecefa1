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
#include "base/text.h"
#include "cut/collectives/collective.h"
#include "cut/collectives/nonblocking.h"
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
#include "link/rank_page.h"
#include "memory/advice.h"
#include "memory/lazy_pages.h"
#include "runtime/state.h"
#include "start/load.h"
#include "start/rebuild.h"
#include "sys/syscall.h"
#include "process/attributes.h"
#include "task/busy.h"
#include "task/credentials.h"
#include "task/deadline.h"
#include "process/descriptor_room.h"
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

static char stack[256 * 1024] __attribute__((aligned(64)));
_Static_assert(sizeof(stack) % 64 == 0, "the top of the stack is aligned, too");

void *ckpt_resume_stack(void)
{
    return stack + sizeof(stack);
}

__attribute__((noreturn)) static void give_up(const struct ckpt_failure *failure)
{
    static char line[600];
    size_t length =
        ckpt_text_format(line, sizeof(line), "ckpt: restart failed: %s [%s]\n",
                         failure->text, ckpt_refusal_name(failure->identity));

    (void)ckpt_sys_write(2, line, length);
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

static int load(const struct ckpt_resume_info *info, struct ckpt_failure *failure)
{
    int error;

    if (ckpt_non_mpi) {
        ckpt_non_mpi_resume(info);
        return 0;
    }
    error = ckpt_load((char *const *)(uintptr_t)info->environment, info->vdso, failure);
    if (error == 0) {
        error = ckpt_load_start(failure);
    }
    if (error == 0) {
        error = same_world(failure);
    }
    return error == 0 ? await_others(failure) : error;
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

static int rebuild(const struct ckpt_resume_info *info,
                   struct ckpt_failure *failure)
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
        error = ckpt_rebuild(failure);
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
    struct ckpt_context *goal = ckpt_process_image_goal();
    const int again = goal == &ckpt_collective.again;

    CKPT_INVARIANT(goal != NULL && info->retained_start < info->retained_end);
    ckpt_resumed = 1;
    ckpt_busy_tell(NULL);         /* the page is not mapped yet */
    ckpt_journal_suspend();       /* its descriptor and its clock do not exist yet */
    ckpt_threads_repair_leader(); /* before the lower half's libc */
    ckpt_process_id_restore();
    ckpt_descriptor_room_gone();
    ckpt_lazy_pages_begin(info->lazy_faults, info->page_server);
    ckpt_files_resume(); /* the streams are the new launcher's */
    ckpt_state = CKPT_STATE_CRITICAL;
    if (load(info, &failure) != 0 || rebuild(info, &failure) != 0) {
        give_up(&failure);
    }
    (void)ckpt_sys_munmap((void *)(uintptr_t)info->retained_start,
                          info->retained_end - info->retained_start);
    ckpt_threads_thaw();
    if (ckpt_nonblocking_begin_again(&failure) != 0 || ckpt_unsound_refuse(&failure) != 0) {
        give_up(&failure);
    }
    if (!again && blocks_signal()) {
        ckpt_busy_set(CKPT_BUSY_ANSWERING);
    }
    if (again) { /* enter the collective again, outside any handler */
        ckpt_state = CKPT_STATE_IDLE;
    } else {
        ckpt_state = CKPT_STATE_SERVICE;
    }
    ckpt_lazy_pages_running();
    ckpt_context_resume(goal);
}
