/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ending.c - how this rank's part in a checkpoint ends.
 */
#include "cut/service/ending.h"

#include "cut/collectives/deferred_completion.h"
#include "cut/image/file_content.h"
#include "cut/messages/synchronous_send.h"
#include "cut/participant.h"
#include "cut/service/attach.h"
#include "files/files.h"
#include "link/agent_link.h"
#include "runtime/state.h"
#include "sys/syscall.h"

#include <time.h>
#include <unistd.h>

#define AGENTS_LIMIT   10 /* agents that may be lost within AGENTS_SECONDS */
#define AGENTS_SECONDS 10

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
    if (ckpt_checkpoint.armed && ckpt_checkpoint.moving && !ckpt_rank_cut_open) {
        ckpt_checkpoint.in_doubt = 1;
        forget_orders();
    } else {
        ckpt_checkpoint_leave();
    }
}

void ckpt_checkpoint_over(const struct ckpt_message *message)
{
    ckpt_participants_told(message);
    if (message->as.end.outcome == CKPT_LEFT_OPEN) {
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
    struct ckpt_failure failure = {0};
    uint64_t restarted_from;

    ckpt_agent_disconnect();
    leave_open();
    ckpt_participants_forget(CKPT_REFUSAL_AGENT_LOST, "the agent was lost");
    if (!may_have_another() || ckpt_attach(0, &restarted_from, &failure) != 0) {
        ckpt_checkpoint_leave(); /* no agent will report the result */
    }
}
