/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * service.c - when this rank answers the agent: at the end of a wrapper, or in
 * the handler of the checkpoint signal (cut/service/inside.c).
 */
#include "cut/service/service.h"
#include "cut/service/service_thread.h"
#include "base/invariant.h"
#include "cut/collectives/collective.h"
#include "cut/collectives/deferred_completion.h"
#include "cut/image/process_image.h"
#include "cut/messages/rank_cut.h"
#include "cut/messages/log_file.h"
#include "cut/messages/report.h"
#include "cut/messages/synchronous_send.h"
#include "cut/participant.h"
#include "cut/service/answer.h"
#include "cut/service/attach.h"
#include "cut/service/ending.h"
#include "cut/service/forked.h"
#include "cut/service/inside.h"
#include "handles/communicator.h"
#include "handles/message_log.h"
#include "journal/journal.h"
#include "link/agent_link.h"
#include "link/rank_page.h"
#include "runtime/callback.h"
#include "runtime/crossing.h"
#include "runtime/runtime.h"
#include "sys/syscall.h"
#include "task/signals.h"
#include "task/threads.h"

#include <stdio.h>

#define TURN_MS 1 /* period of the service thread in a checkpoint */

/* A rank that was inside has come out. It tells the agent before it goes on, and
 * holds because the agent may want it to stop. It publishes its counters again, as
 * its threads may have sent messages since the last time. */
static void tell_outside(void)
{
    if (ckpt_checkpoint.armed && ckpt_checkpoint.inside_told &&
        !ckpt_checkpoint.cut_due &&
        ckpt_thread_contexts_open_count() == 0) {
        ckpt_checkpoint.inside_told = 0;
        ckpt_checkpoint.hold = 1;
        ckpt_publish_counters();
        ckpt_report_place(CKPT_MSG_REPORT, CKPT_PLACE_FREE, 0, 0, 1);
    }
}

/*
 * Receives the next message. Returns 1, 0 if there is none, or -errno. A rank that
 * holds waits for a message, and progresses its lower half meanwhile: another rank
 * may need the rest of this rank's messages in order to stop.
 */
static int next_message(struct ckpt_message *message)
{
    int got = ckpt_agent_receive(message, 0);

    CKPT_INVARIANT(ckpt_checkpoint.helping >= 0);
    while (got == 0 && (ckpt_checkpoint.hold || ckpt_checkpoint.helping > 0)) {
        if (!ckpt_agent_poll(1)) {
            ckpt_log_progress();
            ckpt_report_taken();
        }
        ckpt_checkpoint.helping -= ckpt_checkpoint.helping > 0 ? 1 : 0;
        got = ckpt_agent_receive(message, 0);
    }
    return got;
}

/* Obeys a CUT that came while the rank was inside a call. */
static void obey_due_cut(void)
{
    struct ckpt_message message = ckpt_checkpoint.cut;

    if (ckpt_checkpoint.cut_due) {
        CKPT_INVARIANT(message.type == CKPT_MSG_CUT);
        ckpt_checkpoint.cut_due = 0;
        ckpt_obey(&message);
    }
}

static void serve_messages(void)
{
    struct ckpt_message message;
    int got = 1;

    while (got == 1) {
        ckpt_participants_tell();
        tell_outside();
        obey_due_cut();
        ckpt_deferred_report();
        if (!ckpt_agent_connected()) {
            ckpt_checkpoint_leave();
            return;
        }
        got = next_message(&message);
        if (got < 0) {
            ckpt_agent_lost();
        } else if (got == 1 && ckpt_thread_contexts_open_count() != 0) {
            ckpt_obey_inside(&message, 0); /* another thread is inside */
        } else if (got == 1) {
            ckpt_obey(&message);
        }
    }
}

void ckpt_service_notice(void)
{
    if (ckpt_checkpoint.open && !ckpt_multiple &&
        ckpt_state != CKPT_STATE_SERVICE) {
        ckpt_threads_notify_again();
    }
}

/* A call that the application makes inside another call cannot serve. If the outer
 * call is a collective the handler can: send the signal again. */
static void serve_around(void)
{
    if (ckpt_state == CKPT_STATE_COLLECTIVE) {
        ckpt_notice();
    }
}

/* The service thread is in an operation of the application, which may wait for this
 * thread. This thread may wait for other ranks, which wait for the agent to hear
 * from this rank. So this thread reports the rank as inside until the operation is
 * over. */
static void serve_for_service_thread(void)
{
    struct ckpt_message message;
    int got = 1;

    ckpt_begin();
    ckpt_report_taken();
    while (got == 1 && ckpt_thread_context_is_taken() && ckpt_agent_connected()) {
        got = ckpt_agent_receive(&message, 0);
        if (got == 1) {
            ckpt_obey_inside(&message, 0);
        }
    }
    ckpt_end_quietly();
}

/* A program without MPI has no call to begin or end. Returns 0 if another thread is in
 * one. */
static int begin_service(void)
{
    if (ckpt_non_mpi) {
        ckpt_state = CKPT_STATE_SERVICE;
        return 1;
    }
    return ckpt_begin_service();
}

static void end_service(void)
{
    if (ckpt_non_mpi) {
        ckpt_state = CKPT_STATE_IDLE;
    } else {
        ckpt_end_quietly();
    }
}

void ckpt_service_serve(void)
{
    if (ckpt_multiple) { /* cut/service/service_thread.c answers */
        if (__builtin_expect(ckpt_thread_context_is_taken(), 0)) {
            serve_for_service_thread();
        }
        return;
    }
    if (ckpt_in_callback()) {
        serve_around();
        return;
    }
    if (!ckpt_checkpoint.open || ckpt_state == CKPT_STATE_SERVICE) {
        ckpt_checkpoint.signalled = 1;
        return;
    }
    do {
        if (!begin_service()) {
            return;
        }
        CKPT_INVARIANT(ckpt_state == CKPT_STATE_SERVICE);
        do {
            ckpt_checkpoint.signalled = 0;
            ckpt_pending = 0;
            if (ckpt_rank_cut_is_closing()) { /* before the next checkpoint begins */
                ckpt_rank_cut_turn();
            }
            serve_messages();
            if (ckpt_rank_cut_open) {
                ckpt_rank_cut_turn();
            }
        } while (ckpt_checkpoint.signalled);
        if (!ckpt_checkpoint.armed) {
            ckpt_synchronous_answer();
        }
        ckpt_pending =
            ckpt_checkpoint.armed || ckpt_rank_cut_open || ckpt_participants_need_turns();
        end_service();
        /* A signal before this point has set signalled; from now on the handler
         * serves. */
    } while (ckpt_checkpoint.signalled);
}

void ckpt_service_progress(void)
{
    if (ckpt_checkpoint.open && !ckpt_non_mpi) {
        ckpt_begin();
        ckpt_log_progress();
        ckpt_end();
    }
}

static int is_lower_thread(int tid)
{
    return ckpt_lower.owns_thread(tid);
}

/* Makes the process ready to be saved. A program that began without MPI calls this
 * again in MPI_Init. */
static int open_once(void)
{
    static int opened, error;

    if (!opened) {
        opened = 1;
        error = ckpt_threads_open(ckpt_checkpoint_signal(), ckpt_notify,
                                  is_lower_thread);
        if (error == 0) {
            error = ckpt_process_image_open();
        }
        ckpt_forked_open();
    }
    return error;
}

/* A spawned process cannot be saved yet, and is not a job: its launcher runs its
 * parent's. */
static int is_spawned(void)
{
    MPI_Comm parent = CKPT_LOWER(MPI_COMM_NULL);
    int code = MPI_SUCCESS;

    if (!ckpt_non_mpi) {
        CKPT_CALL(code, Comm_get_parent, &parent);
    }
    return code == MPI_SUCCESS && parent != CKPT_LOWER(MPI_COMM_NULL);
}

void ckpt_service_open(void)
{
    struct ckpt_failure failure = {0};
    const int error = open_once();

    if (is_spawned()) {
        return;
    }

    if (error != 0) {
        (void)ckpt_fail(&failure, error, "error %d of this process", -error);
    }
    if (ckpt_multiple) {
        ckpt_service_thread_start(error == 0, &failure);
    } else if (ckpt_service_attach(error == 0, &failure)) {
        ckpt_service(); /* messages that came before the signal was requested */
    }
}

int ckpt_service_attach(int able, const struct ckpt_failure *reason)
{
    struct ckpt_failure failure = *reason;

    CKPT_INVARIANT(!ckpt_checkpoint.open); /* one connection at a time */
    if (ckpt_attach(1, &ckpt_checkpoint.epoch, &failure) != 0 || !able) {
        fprintf(stderr, "ckpt: no checkpoints for this rank: %s [%s]\n",
                failure.text, ckpt_refusal_name(failure.identity));
        return 0;
    }
    ckpt_checkpoint.open = 1;
    return 1;
}

int ckpt_service_turn(void)
{
    CKPT_INVARIANT(ckpt_thread_context_own->serving); /* only the service thread keeps the lock */
    ckpt_begin();
    if (ckpt_checkpoint.open) {
        ckpt_state = CKPT_STATE_SERVICE;
        serve_messages();
        if (ckpt_checkpoint.armed) {
            ckpt_log_progress(); /* maybe no thread is in MPI just now */
        } else {
            ckpt_synchronous_answer();
        }
        ckpt_report_taken();
    }
    ckpt_end_quietly();
    return !ckpt_checkpoint.open ? -2 : ckpt_checkpoint.armed ? TURN_MS
                                                              : -1;
}

int ckpt_service_reopen(struct ckpt_failure *failure)
{
    ckpt_pending = ckpt_multiple;
    if (!ckpt_non_mpi) {
        ckpt_pending |= ckpt_synchronous_restarted(ckpt_checkpoint.epoch);
    }
    ckpt_service_thread_restarted();
    ckpt_checkpoint_leave();
    ckpt_participants_restarted();
    return ckpt_attach(1, &ckpt_checkpoint.epoch, failure);
}

/* Waits for the end of a checkpoint that does not stop the ranks: it must not lose
 * this rank. */
static void finish_epoch(void)
{
    while (ckpt_agent_connected() &&
           (ckpt_checkpoint.moving || ckpt_rank_cut_open)) {
        (void)ckpt_agent_poll(1);
        ckpt_service();
    }
}

void ckpt_service_close(void)
{
    struct ckpt_message message = {.type = CKPT_MSG_FINALIZED};

    if (!ckpt_checkpoint.open) {
        return;
    }
    ckpt_service(); /* an answer may be due */
    finish_epoch();
    ckpt_guard();
    ckpt_checkpoint.open = 0;
    if (ckpt_agent_connected()) {
        (void)ckpt_agent_send(&message, -1);
    }
    ckpt_unguard();
    if (ckpt_multiple) {
        ckpt_service_thread_end();
    }
}

void ckpt_service_forget(void)
{
    ckpt_checkpoint.open = 0;
    ckpt_checkpoint.armed = 0;
    ckpt_pending = ckpt_multiple;
}

int ckpt_service_is_free(void)
{
    return ckpt_checkpoint.open && !ckpt_checkpoint.armed && !ckpt_rank_cut_open &&
           ckpt_agent_connected();
}
