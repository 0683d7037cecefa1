/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * inside.c - answer the agent from the handler of the checkpoint signal.
 */
#include "cut/service/inside.h"

#include "base/invariant.h"
#include "cut/collectives/collective.h"
#include "cut/image/file_content.h"
#include "cut/messages/channel_recording.h"
#include "cut/messages/rank_cut.h"
#include "cut/messages/report.h"
#include "cut/messages/synchronous_send.h"
#include "cut/participant.h"
#include "cut/service/answer.h"
#include "cut/service/ending.h"
#include "cut/service/world.h"
#include "handles/kinds.h"
#include "link/agent_link.h"
#include "link/shell_order.h"
#include "runtime/callback.h"
#include "task/threads.h"

#include <errno.h>

static uint64_t inside_flags(int in_callback)
{
    uint64_t flags = 0;

    if (ckpt_state == CKPT_STATE_COLLECTIVE) {
        flags |= CKPT_INSIDE_CLOCKED;
        if (ckpt_collective.redo && !in_callback && ckpt_recipes_complete() &&
            ckpt_synchronous_pending == 0 && !ckpt_rank_cut_open &&
            !(ckpt_checkpoint.moving && ckpt_recording_is_due())) {
            flags |= CKPT_INSIDE_REDO;
        }
    }
    return flags;
}

static uint64_t inside_slot(void)
{
    return ckpt_state == CKPT_STATE_COLLECTIVE
               ? ckpt_collective.communicator->slot
               : UINT32_MAX;
}

static void save_inside(uint64_t flags)
{
    if ((flags & CKPT_INSIDE_REDO) == 0 ||
        ckpt_save_as(&ckpt_collective.again) == -EAGAIN) {
        /* Not now: the agent aligns again and repeats the order. */
        ckpt_report_place(CKPT_MSG_REPORT, CKPT_PLACE_INSIDE, inside_slot(),
                          flags, 0);
    }
}

static void stop_inside(uint64_t flags)
{
    struct ckpt_failure failure = {0};

    /* If the rank may be saved here, no file operation is half done. */
    if ((flags & CKPT_INSIDE_REDO) != 0 &&
        ckpt_file_content_flush(&failure) != 0) {
        ckpt_report_refusal(&failure);
    }
    ckpt_publish_counters();
    ckpt_checkpoint.inside_told = 1;
    ckpt_report_place(CKPT_MSG_STOPPED, CKPT_PLACE_INSIDE, inside_slot(), flags,
                      0);
}

static int can_be_cut_inside(struct ckpt_failure *failure)
{
    return ckpt_cut_refused(failure) == 0 && ckpt_file_content_flush(failure) == 0;
}

/* Cuts the rank as if it had not entered the collective, or notes the cut for when
 * it comes out. */
static void cut_inside(const struct ckpt_message *message, uint64_t flags)
{
    struct ckpt_failure failure = {0};
    int good;

    if ((flags & CKPT_INSIDE_REDO) == 0) {
        ckpt_checkpoint.cut_due = 1;
        ckpt_checkpoint.cut = *message;
        return;
    }
    if (ckpt_is_cut(message)) {
        return;
    }
    good = can_be_cut_inside(&failure);
    good = ckpt_rank_cut_cut(message, 1, &failure) == 0 && good;
    if (good && ckpt_save_as(&ckpt_collective.again) == -EAGAIN) {
        (void)ckpt_refuse(&failure, CKPT_REFUSAL_LIBRARY_BUSY, -EAGAIN, "the lower half is busy");
        good = 0;
    }
    if (!good) {
        ckpt_report_refusal(&failure);
        ckpt_checkpoint_leave();
    }
}

void ckpt_obey_inside(const struct ckpt_message *message, uint64_t flags)
{
    switch (message->type) {
    case CKPT_MSG_REQUEST:
        ckpt_answer_request(message);
        ckpt_checkpoint.inside_told = 1;
        ckpt_report_place(CKPT_MSG_REPORT, CKPT_PLACE_INSIDE, inside_slot(),
                          flags, 0);
        break;
    case CKPT_MSG_STOP:
        stop_inside(flags);
        break;
    case CKPT_MSG_SAVE:
        save_inside(flags);
        break;
    case CKPT_MSG_RESUME:
        ckpt_checkpoint_over(message);
        break;
    case CKPT_MSG_CUT:
        cut_inside(message, flags);
        break;
    case CKPT_MSG_COUNTS:
        ckpt_rank_cut_counts();
        break;
    case CKPT_MSG_SWEPT:
        ckpt_rank_cut_swept(message->as.swept.messages);
        break;
    case CKPT_MSG_CLOSE:
        ckpt_rank_cut_close(1);
        break;
    case CKPT_MSG_HELD:
    case CKPT_MSG_ANSWER:
        ckpt_participants_told(message);
        break;
    case CKPT_MSG_WHERE: /* the agent reads clocks in the rank page itself */
        if (ckpt_checkpoint.armed && (flags & CKPT_INSIDE_CLOCKED) == 0) {
            ckpt_checkpoint.inside_told = 1;
            ckpt_report_place(CKPT_MSG_REPORT, CKPT_PLACE_INSIDE, inside_slot(),
                              flags, 0);
        }
        break;
    case CKPT_MSG_DRAIN: /* sent before the agent got our report */
        ckpt_report_place(CKPT_MSG_REPORT, CKPT_PLACE_INSIDE, inside_slot(),
                          flags, 0);
        break;
    case CKPT_MSG_CHANGE_WORLD:
        ckpt_world_refuse();
        break;
    default:
        break; /* RUN: the rank is running already */
    }
}

static void serve_inside(int in_callback)
{
    struct ckpt_message message;
    int got = 1;

    ckpt_pending = 1; /* the wrapper looks again at the end of the call */
    while (got == 1 && ckpt_agent_connected()) {
        ckpt_participants_tell();
        got = ckpt_agent_receive(&message, 0);
        if (got == 1 && (message.type == CKPT_MSG_REQUEST ||
                         message.type == CKPT_MSG_CUT)) { /* for inside_flags() */
            ckpt_checkpoint.moving =
                message.type == CKPT_MSG_CUT || message.as.request.runs_on != 0;
        }
        if (got == 1) {
            /* Compute the flags each time: the targets may have changed. */
            ckpt_obey_inside(&message, inside_flags(in_callback));
        }
    }
    /* A lost agent is detected, and replaced, outside. */
}

static int inside_collective(void)
{
    const struct ckpt_clock *clock = ckpt_collective.communicator->clock;

    CKPT_INVARIANT(clock->entered - clock->left <= 1); /* nonblocking ones count at once */
    return clock->entered != clock->left;
}

void ckpt_notify(int in_lower)
{
    ckpt_shell_look();
    if (ckpt_multiple) {
        return; /* the service thread polls its connection anyway */
    }
    switch (ckpt_state) {
    case CKPT_STATE_IDLE:
        ckpt_service();
        break;
    case CKPT_STATE_SERVICE:
        ckpt_checkpoint.signalled = 1;
        break;
    case CKPT_STATE_COLLECTIVE:
        if (inside_collective() && (in_lower || ckpt_in_callback())) {
            serve_inside(!in_lower);
        } else { /* entering or leaving: the wrapper looks */
            ckpt_pending = 1;
        }
        break;
    case CKPT_STATE_CRITICAL:
        if (in_lower) {
            serve_inside(0);
        } else {
            ckpt_pending = 1;
        }
        break;
    default: /* WAITING: the loop in ckpt-host sees this and returns */
        ckpt_pending = 1;
        break;
    }
    if (!in_lower) {
        ckpt_notify_inside();
    }
}

void ckpt_collective_again(void)
{
    ckpt_threads_leave_handler();
}
