/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * answer.c - stop, drain, save and resume a rank that is outside the lower half.
 */
#include "cut/service/answer.h"

#include "base/invariant.h"
#include "base/text.h"
#include "cut/collectives/deferred_completion.h"
#include "cut/collectives/nonblocking.h"
#include "cut/image/file_content.h"
#include "cut/image/file_journal.h"
#include "cut/image/process_image.h"
#include "cut/messages/drain.h"
#include "cut/messages/rank_cut.h"
#include "cut/messages/report.h"
#include "cut/messages/synchronous_send.h"
#include "cut/participant.h"
#include "cut/service/ending.h"
#include "cut/service/inside.h"
#include "cut/service/world.h"
#include "files/files.h"
#include "handles/kinds.h"
#include "handles/message_log.h"
#include "link/agent_link.h"
#include "link/rank_page.h"
#include "runtime/crossing.h"
#include "runtime/runtime.h"
#include "runtime/thread_context.h"
#include "runtime/uncovered.h"
#include "sys/syscall.h"
#include "process/frozen_copy.h"
#include "task/threads.h"

#include <errno.h>

#define FREEZE_TIMEOUT_MS 10000
#define HELP_TURNS        50 /* in milliseconds */
#define SURPLUS_LIMIT     50

/* Number of drains of this checkpoint that received more messages than the peers had counted. */
static int surplus;

static uint64_t taken_before; /* ckpt_thread_context_times_taken() when the order arrived */

/* Returns 1 if other threads have run since the present order arrived, so that the rank does not
 * stand still. Tells the agent if it does not know yet. */
static int is_broken_off(void)
{
    if (taken_before == ckpt_thread_context_times_taken()) {
        return 0;
    }
    ckpt_report_taken();
    return 1;
}

/* Returns non-zero if the agent has gone, or has sent another order, during the drain. */
static int given_up(void)
{
    struct ckpt_message message;
    int got = ckpt_agent_receive(&message, 0);

    if (got < 0) {
        ckpt_agent_lost();
    } else if (got == 1) {
        ckpt_obey(&message);
    }
    return got != 0;
}

/* Returns 0, with the reason, if an object of this rank forbids a checkpoint now. */
static int savable(struct ckpt_failure *failure)
{
    struct ckpt_handle *handle = ckpt_first_unsavable();
    char site[200];

    if (ckpt_rank_cut_open && !ckpt_rank_cut_is_closing()) { /* no message will end it */
        (void)ckpt_refuse(failure, CKPT_REFUSAL_OPEN_CUT, -EBUSY,
                          "an earlier checkpoint lost its agent in the middle");
        return 0;
    }
    if (ckpt_replaying) {
        (void)ckpt_refuse(failure, CKPT_REFUSAL_BEING_REPLAYED, -EBUSY,
                          "rank %d is being replayed: ask again in a moment",
                          (int)ckpt_rank_page()->rank);
        return 0;
    }
    if (ckpt_unsound_refuse(failure) != 0) {
        return 0;
    }
    if (handle == NULL) {
        return 1;
    }
    ckpt_site_name(handle->site, site, sizeof(site));
    (void)ckpt_refuse(failure, CKPT_REFUSAL_UNSAVABLE_OBJECT, -ENOTSUP,
                      "rank %d holds an object of %s, made at %s, which cannot be "
                      "saved yet",
                      (int)ckpt_rank_page()->rank, handle->creator, site);
    return 0;
}

void ckpt_answer_request(const struct ckpt_message *message)
{
    const struct ckpt_participant *forbidding = ckpt_participant_forbidding();
    struct ckpt_failure failure = {0};

    ckpt_file_journal_told(message);
    ckpt_checkpoint.epoch = message->epoch;
    ckpt_checkpoint.armed = 1;
    ckpt_checkpoint.moving = message->as.request.runs_on != 0;
    ckpt_checkpoint.in_doubt = 0;
    surplus = 0;
    if (!savable(&failure)) {
        ckpt_report_refusal(&failure);
    } else if (forbidding != NULL) {
        forbidding->refuse();
    }
}

void ckpt_publish_counters(void)
{
    struct ckpt_rank_page *page = ckpt_rank_page();

    ckpt_communicators_count(ckpt_page_peers(page), (int)page->rank_count);
}

/* Obeys STOP outside the lower half. */
static void answer_stop(const struct ckpt_message *stop)
{
    ckpt_checkpoint.moving = 0;
    ckpt_deferred_confirm();
    ckpt_synchronous_hold(ckpt_checkpoint.epoch);
    if (is_broken_off()) {
        ckpt_obey_inside(stop, 0); /* maybe not all synchronous sends are held */
        return;
    }
    ckpt_publish_counters();
    ckpt_checkpoint.hold = 1;
    ckpt_report_place(CKPT_MSG_STOPPED, CKPT_PLACE_FREE, 0, 0, 1);
}

static void drain(void)
{
    struct ckpt_message message = {.type = CKPT_MSG_DRAINED,
                                   .epoch = ckpt_checkpoint.epoch};
    struct ckpt_failure failure = {0};
    int error = ckpt_non_mpi ? 0 : ckpt_drain(ckpt_rank_page(), given_up, &failure);

    if (error == 0) {
        error = ckpt_recipes_record(&failure);
    }
    if (error == 0) {
        error = ckpt_file_content_flush(&failure);
    }
    if (is_broken_off() || error == -ECANCELED) {
        return;
    }
    if (error == -EPROTO && surplus++ < SURPLUS_LIMIT) {
        ckpt_report_place(CKPT_MSG_REPORT, CKPT_PLACE_FREE, 0, 0, 1);
        return; /* the sender reports, or will report, that it had to run on */
    }
    if (error != 0) {
        ckpt_report_refusal(&failure);
        return;
    }
    ckpt_synchronous_match(ckpt_checkpoint.epoch, NULL);
    ckpt_log_totals(&message.as.total.messages, &message.as.total.bytes);
    (void)ckpt_agent_send(&message, -1);
}

/* Tells the agent where the process is described, and whether its memory is shared. */
static int describe(struct ckpt_context *context, struct ckpt_failure *failure)
{
    struct ckpt_message message = {.type = CKPT_MSG_READY,
                                   .epoch = ckpt_checkpoint.epoch};
    struct ckpt_msg_ready *ready = &message.as.ready;
    struct ckpt_snapshot *snapshot;
    int error = ckpt_file_journal_mark(failure);

    if (error == 0) {
        CKPT_INVARIANT(ckpt_threads_are_frozen());
        error = ckpt_process_image(context, &snapshot, failure);
    }

    if (error != 0) {
        return error;
    }
    ready->snapshot = (uint64_t)(uintptr_t)snapshot;
    ready->flags = ckpt_live(CKPT_WIN) != NULL || ckpt_independent != NULL
                       ? CKPT_READY_SHARED
                       : 0;
    ready->flags |= ckpt_files_lead_out() ? CKPT_READY_LEADS_OUT : 0;
    ckpt_rank_cut_describe_cut(&ready->cut);
    (void)ckpt_agent_send(&message, -1);
    return 0;
}

/* Obeys a second SAVE: now the other ranks stand still, too. */
static void describe_again(struct ckpt_context *context)
{
    struct ckpt_failure failure = {"the lower half is busy", /* describe() returned -EAGAIN */
                                   CKPT_REFUSAL_LIBRARY_BUSY};

    if (describe(context, &failure) != 0) {
        ckpt_report_refusal(&failure);
    }
}

/* Obeys FREEZE: the agent reads a copy of this process and lets the rank go on. */
static void freeze(const struct ckpt_message *order)
{
    struct ckpt_message message = {.type = CKPT_MSG_FROZEN,
                                   .epoch = ckpt_checkpoint.epoch};
    struct ckpt_failure failure = {0};
    struct ckpt_frozen_copy copy = {.pid = 0, .connection = -1};

    CKPT_INVARIANT(ckpt_threads_are_frozen());
    if (ckpt_frozen_copy_make(&copy, (int)order->as.freeze.pid, &failure) != 0 ||
        ckpt_unsound_refuse(&failure) != 0) {
        ckpt_text_copy(message.text, sizeof(message.text), failure.text);
    }
    message.as.frozen.pid = (uint64_t)copy.pid;
    (void)ckpt_agent_send(&message, copy.connection);
    if (copy.connection >= 0) {
        ckpt_sys_close(copy.connection);
    }
    ckpt_runtime_hold_memory();
}

/* Obeys WATCH: gives the agent a userfaultfd that notes which pages are written. The agent has
 * the only descriptor, so the kernel drops the watch when the agent dies. The agent uses the
 * descriptor only after the second message. Otherwise this rank could block in a write to a
 * watched page after the agent died, while it still holds the descriptor itself. */
static void watch(const struct ckpt_message *order)
{
    struct ckpt_message message = {.type = CKPT_MSG_WATCHED,
                                   .epoch = ckpt_checkpoint.epoch};
    long fd = ckpt_syscall3(SYS_userfaultfd, (long)order->as.watch.flags, 0, 0);

    if (fd >= 0) {
        message.as.watched.state = CKPT_WATCHED_OPEN;
        (void)ckpt_agent_send(&message, (int)fd);
        ckpt_sys_close((int)fd);
    }
    message.as.watched.state = fd < 0 ? CKPT_WATCHED_FAILED : CKPT_WATCHED_CLOSED;
    message.as.watched.error = fd < 0 ? (uint64_t)-fd : 0;
    (void)ckpt_agent_send(&message, -1);
}

/* Closes a descriptor that came with a message that needs none. */
static void close_passed(int descriptor)
{
    if (descriptor >= 0) {
        (void)ckpt_sys_close(descriptor);
    }
}

/* Stands still while the agent copies this rank's memory. Returns at RESUME, or at RUN if the
 * ranks have to align again; but not after a change of worlds. */
static void await_resume(struct ckpt_context *context)
{
    struct ckpt_message message;
    int got, descriptor, changed = 0;

    CKPT_INVARIANT(ckpt_threads_are_frozen()); /* the agent reads what does not change */
    do {
        got = ckpt_agent_receive_with(&message, &descriptor);
        if (got == 1 && message.type == CKPT_MSG_CHANGE_WORLD) {
            changed |= ckpt_world_obey(descriptor);
            descriptor = -1;
        } else if (got == 1 && message.type == CKPT_MSG_SAVE) {
            describe_again(context);
        } else if (got == 1 && message.type == CKPT_MSG_FREEZE) {
            freeze(&message);
        } else if (got == 1 && message.type == CKPT_MSG_WATCH) {
            watch(&message);
        } else if (got == 1 && message.type == CKPT_MSG_SWEPT) {
            /* other ranks were already cut and swept */
            ckpt_rank_cut_swept(message.as.swept.messages);
        }
        close_passed(descriptor);
    } while (got == 1 && message.type != CKPT_MSG_RESUME &&
             message.type != CKPT_MSG_RUN);
    CKPT_INVARIANT(got != 0); /* the receive has waited */
    ckpt_threads_thaw();
    ckpt_checkpoint.hold = 0;
    if (got < 0) {
        ckpt_agent_lost();
    } else if (message.type == CKPT_MSG_RESUME) {
        ckpt_checkpoint_over(&message);
    }
    if (changed) {
        ckpt_world_leave();
    }
}

int ckpt_save_as(struct ckpt_context *context)
{
    struct ckpt_failure failure = {0};
    const struct ckpt_participant *forbidding;
    int error;

    CKPT_INVARIANT(!ckpt_threads_are_frozen()); /* not in the middle of another image */
    CKPT_INVARIANT(ckpt_state == CKPT_STATE_SERVICE || ckpt_state == CKPT_STATE_COLLECTIVE);
    error = ckpt_threads_freeze(FREEZE_TIMEOUT_MS, &failure);
    if (error != 0) {
        ckpt_report_refusal(&failure);
        return error;
    }
    forbidding = ckpt_participant_forbidding(); /* no thread can change that any more */
    if (forbidding != NULL) {
        ckpt_threads_thaw();
        forbidding->refuse();
        return -EBUSY;
    }
    ckpt_nonblocking_record();
    error = describe(context, &failure);
    if (error == -EAGAIN) {
        ckpt_threads_thaw();
        return error;
    }
    if (error != 0) {
        ckpt_threads_thaw();
        ckpt_report_refusal(&failure);
        return error;
    }
    await_resume(context);
    return 0;
}

static void save(void)
{
    static struct ckpt_context here;

    if (ckpt_context_capture(&here) != 0) {
        return; /* restarted: see start/resume.c */
    }
    if (ckpt_save_as(&here) == -EAGAIN) {
        struct ckpt_failure failure = {"the lower half is busy", CKPT_REFUSAL_LIBRARY_BUSY};

        ckpt_report_refusal(&failure);
    }
}

int ckpt_is_cut(const struct ckpt_message *message)
{
    struct ckpt_failure failure = {"the rank has been cut before", CKPT_REFUSAL_BEYOND_CUT};

    ckpt_checkpoint.epoch = message->epoch;
    ckpt_checkpoint.in_doubt = 0;
    if (ckpt_rank_cut_last() != message->epoch) {
        return 0;
    }
    ckpt_report_refusal(&failure);
    ckpt_checkpoint_leave();
    return 1;
}

int ckpt_cut_refused(struct ckpt_failure *failure)
{
    const struct ckpt_rank_page *page = ckpt_rank_page();

    if (ckpt_rank_cut_needs() != 0) {
        return ckpt_refuse(failure, CKPT_REFUSAL_NEEDS_STOP, -EAGAIN,
                           "the rank has begun what takes a Sync-and-Stop "
                           "checkpoint");
    }
    if (!CKPT_INVARIANT(page->clock_count <= CKPT_CLOCK_SLOTS)) {
        return ckpt_unsound_refuse(failure);
    }
    for (uint32_t i = 0; i < page->clock_count; i++) {
        const struct ckpt_clock *clock = &page->clock[i];

        CKPT_INVARIANT(clock->left <= clock->entered && clock->settled <= clock->left);
        if (clock->id != 0 && clock->settled > clock->target) {
            return ckpt_refuse(failure, CKPT_REFUSAL_BEYOND_CUT, -EAGAIN,
                               "the rank has left a collective beyond the cut");
        }
    }
    return 0;
}

/* Drains a rank that stands still. The other ranks keep the lower half working until all are cut,
 * so the drain ends. */
static int prepare(struct ckpt_failure *failure)
{
    int error;

    ckpt_deferred_cut();
    error = ckpt_drain_collectives(given_up, failure);
    if (error == 0) {
        error = ckpt_cut_refused(failure);
    }
    if (error == 0) {
        error = ckpt_recipes_record(failure);
    }
    return error == 0 ? ckpt_file_content_flush(failure) : error;
}

/* The rank turns its colour even if its image fails: other ranks rely on it. */
static void cut(const struct ckpt_message *message)
{
    struct ckpt_failure failure = {0};
    int error;

    if (ckpt_is_cut(message)) {
        return;
    }
    error = prepare(&failure);
    if (ckpt_rank_cut_cut(message, 0, &failure) != 0 || error != 0) {
        ckpt_report_refusal(&failure);
        ckpt_checkpoint_leave();
        return;
    }
    CKPT_INVARIANT(ckpt_rank_cut_open && ckpt_rank_cut_last() == message->epoch);
    save();
}

void ckpt_obey(const struct ckpt_message *message)
{
    taken_before = ckpt_thread_context_times_taken();
    switch (message->type) {
    case CKPT_MSG_REQUEST:
        ckpt_answer_request(message);
        ckpt_checkpoint.hold = !ckpt_checkpoint.moving;
        ckpt_report_place(CKPT_MSG_REPORT, CKPT_PLACE_FREE, 0, 0,
                          ckpt_checkpoint.hold);
        break;
    case CKPT_MSG_RUN:
        ckpt_synchronous_release();
        ckpt_deferred_confirm();
        ckpt_checkpoint.hold = 0;
        ckpt_checkpoint.helping = message->as.run.unclocked != 0 ? HELP_TURNS : 0;
        ckpt_checkpoint.waiting_told = 0; /* the agent forgets it at RUN, too */
        ckpt_checkpoint.vain = 0;
        break;
    case CKPT_MSG_STOP:
        answer_stop(message);
        break;
    case CKPT_MSG_DRAIN:
        drain();
        break;
    case CKPT_MSG_SAVE:
        ckpt_synchronous_keep();
        save();
        break;
    case CKPT_MSG_CUT:
        cut(message);
        break;
    case CKPT_MSG_COUNTS:
        ckpt_rank_cut_counts();
        break;
    case CKPT_MSG_SWEPT:
        ckpt_rank_cut_swept(message->as.swept.messages);
        break;
    case CKPT_MSG_CLOSE:
        ckpt_rank_cut_close(0);
        break;
    case CKPT_MSG_RESUME:
        ckpt_checkpoint_over(message);
        break;
    case CKPT_MSG_HELD:
    case CKPT_MSG_ANSWER:
        ckpt_participants_told(message);
        break;
    case CKPT_MSG_CHANGE_WORLD:
        ckpt_world_refuse();
        break;
    default:
        break; /* a newer agent's message, which this version can ignore */
    }
}
