/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * report.c - the state of the checkpoint under way, and messages about it.
 */
#include "cut/report.h"

#include "base/invariant.h"
#include "base/text.h"
#include "cut/agent_link.h"
#include "cut/attach.h"
#include "cut/epoch.h"
#include "cut/file_content.h"
#include "cut/synchronous_send.h"
#include "cut/deferred_completion.h"
#include "files/files.h"
#include "sys/syscall.h"
#include "user/ask.h"
#include "user/hold.h"

#include <time.h>
#include <unistd.h>

#define AGENTS_LIMIT   10 /* agents that may be lost within AGENTS_SECONDS */
#define AGENTS_SECONDS 10

struct ckpt_checkpoint ckpt_checkpoint;

/* Forgets the agent's orders, and what the agent knows of this rank. */
static void forget_orders(void)
{
    ckpt_checkpoint.cut_due = 0;
    ckpt_checkpoint.hold = 0;
    ckpt_checkpoint.inside_told = 0;
    ckpt_checkpoint.waiting_told = 0;
    ckpt_checkpoint.vain = 0;
    ckpt_checkpoint.helping = 0;
}

void ckpt_checkpoint_leave(void)
{
    ckpt_synchronous_release();
    ckpt_deferred_confirm();
    ckpt_file_content_release();
    ckpt_files_release();
    ckpt_checkpoint.armed = 0;
    ckpt_checkpoint.moving = 0;
    ckpt_checkpoint.in_doubt = 0;
    forget_orders();
}

/* Leaves a checkpoint whose result for the other ranks is unknown for now. */
static void leave_open(void)
{
    if (ckpt_checkpoint.armed && ckpt_checkpoint.moving && !ckpt_epoch_open) {
        ckpt_checkpoint.in_doubt = 1;
        forget_orders();
    } else {
        ckpt_checkpoint_leave();
    }
}

void ckpt_checkpoint_over(const struct ckpt_message *message)
{
    ckpt_hold_told(message);
    if (message->arg[0] == CKPT_LEFT_OPEN) {
        leave_open();
    } else {
        ckpt_checkpoint_leave();
    }
}

/* Returns 1 if another agent may be started: agents that die at once are useless.
 * Context: also a signal handler, which must not use standard I/O. */
static int may_have_another(void)
{
    static const char text[] =
        "ckpt: one agent after the other dies: no more checkpoints of this rank\n";
    static time_t since;
    static int lost;
    struct timespec now = {0};

    (void)ckpt_sys_clock_gettime(CLOCK_MONOTONIC, &now);
    if (now.tv_sec - since > AGENTS_SECONDS) {
        since = now.tv_sec;
        lost = 0;
    }
    if (++lost <= AGENTS_LIMIT) {
        return 1;
    }
    (void)ckpt_sys_write(STDERR_FILENO, text, sizeof(text) - 1);
    return 0;
}

void ckpt_agent_lost(void)
{
    struct ckpt_failure failure = {""};
    uint64_t restarted_from;

    ckpt_agent_disconnect();
    leave_open();
    ckpt_hold_forget();
    ckpt_ask_forget("the agent was lost");
    if (!may_have_another() || ckpt_attach(0, &restarted_from, &failure) != 0) {
        ckpt_checkpoint_leave(); /* no agent will report the result */
    }
}

void ckpt_report_gate(const struct ckpt_clock *clock, uint64_t slot)
{
    struct ckpt_message message = {.type = CKPT_MSG_REPORT,
                                   .epoch = ckpt_checkpoint.epoch};

    message.arg[0] = CKPT_PLACE_GATE;
    message.arg[1] = slot;
    message.arg[4] = clock->entered;
    (void)ckpt_agent_send(&message, -1);
}

void ckpt_report_place(uint32_t type, enum ckpt_place place, uint64_t slot,
                       uint64_t flags, int holding)
{
    struct ckpt_message message = {.type = type,
                                   .epoch = ckpt_checkpoint.epoch};

    CKPT_INVARIANT(place >= CKPT_PLACE_FREE && place <= CKPT_PLACE_WAIT);
    message.arg[0] = place;
    message.arg[1] = slot;
    message.arg[2] = flags;
    message.arg[3] = (uint64_t)holding;
    if (ckpt_checkpoint.moving && !ckpt_epoch_open) {
        message.arg[5] = ckpt_epoch_needs();
        message.arg[6] = ckpt_epoch_has_sent() ? CKPT_REPORT_SENT : 0;
        message.arg[6] |= ckpt_synchronous_used ? CKPT_REPORT_SYNCHRONOUS : 0;
    }
    (void)ckpt_agent_send(&message, -1); /* a lost agent shows at receive */
}

void ckpt_report_taken(void)
{
    if (ckpt_checkpoint.taken == ckpt_lane_times_taken()) {
        return;
    }
    ckpt_checkpoint.taken = ckpt_lane_times_taken();
    if (ckpt_checkpoint.armed && ckpt_checkpoint.hold) {
        ckpt_checkpoint.hold = 0;
        ckpt_checkpoint.helping = 0;
        ckpt_checkpoint.inside_told = 1;
        ckpt_report_place(CKPT_MSG_REPORT, CKPT_PLACE_INSIDE, UINT32_MAX, 0, 0);
    }
}

void ckpt_report_refusal(const struct ckpt_failure *failure)
{
    struct ckpt_message message = {.type = CKPT_MSG_REFUSED,
                                   .epoch = ckpt_checkpoint.epoch};

    message.arg[2] = ckpt_epoch_open ? ckpt_epoch_channels_used() : 0;
    ckpt_text_copy(message.text, sizeof(message.text), failure->text);
    (void)ckpt_agent_send(&message, -1);
}
