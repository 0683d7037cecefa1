/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * deferral.c - decide whether this rank can be saved now, and tell the agent.
 */
#include "user/deferral.h"

#include "base/text.h"
#include "cut/messages/rank_cut.h"
#include "cut/messages/report.h"
#include "cut/service/attach.h"
#include "cut/service/service.h"
#include "link/agent_link.h"
#include "sys/syscall.h"
#include "task/program_clock.h"
#include "user/deferral_state.h"

#define CKPT_INTERFACE_ONLY
#include "user/ckpt.h"

#include <signal.h>

#define VAIN_MS 100 /* a longer wait may be for a rank that stays */

struct ckpt_deferral ckpt_deferral;
static int stuck_told;
static int64_t vain_since; /* ms; 0: the rank does not wait */

int64_t ckpt_deferral_now_ms(void)
{
    return ckpt_clock_now() / 1000000;
}

int ckpt_deferral_must_be_at_safe_point(void)
{
    return GET(ckpt_deferral.only_at_safe_points) != 0 || GET(ckpt_deferral.hooks) != 0;
}

int ckpt_deferral_is_on(void)
{
    return GET(ckpt_deferral.regions) != 0 ||
           (ckpt_deferral_must_be_at_safe_point() && GET(ckpt_deferral.staying) == 0);
}

int ckpt_deferral_is_wanted(void)
{
    return GET(ckpt_deferral.stop_at) != 0;
}

int ckpt_deferral_matters(void)
{
    return GET(ckpt_deferral.stop_at) != 0 && ckpt_deferral_is_on();
}

uint64_t ckpt_deferral_restarts(void)
{
    return GET(ckpt_deferral.restarts);
}

/* ---- To and from the agent ---------------------------------------------------- */

/* Writes the reason into a REFUSED. */
static void explain(struct ckpt_message *message)
{
    const char *why = "it has not come to a safe point";

    message->as.refused.identity = CKPT_REFUSAL_AWAITS_SAFE_POINT;
    if (GET(ckpt_deferral.regions) != 0) {
        message->as.refused.identity = CKPT_REFUSAL_NO_CHECKPOINT_REGION;
        why = "it is in a no-checkpoint region";
    } else if (GET(ckpt_deferral.hooks) != 0) {
        why = "it has hooks to run, at its next safe point";
    }
    ckpt_text_copy(message->text, sizeof(message->text), why);
}

/* Returns the last safe point passed. It does not count one where a thread stays, even
 * while another thread is in a region. */
static uint64_t reached(void)
{
    const uint64_t stays = GET(ckpt_deferral.stays_at);

    return stays != 0 ? stays - 1 : GET(ckpt_deferral.places);
}

void ckpt_deferral_refuse(void)
{
    struct ckpt_message message = {.type = CKPT_MSG_REFUSED,
                                   .epoch = ckpt_checkpoint.epoch};

    SET(ckpt_deferral.refused, 1);
    message.as.refused.for_now = 1;
    message.as.refused.safe_points = reached();
    ckpt_rank_cut_describe_cut(&message.as.refused.cut);
    explain(&message);
    (void)ckpt_agent_send(&message, -1);
    if (!ckpt_deferral_is_on() && SWAP(ckpt_deferral.refused, 0)) { /* since the check */
        SET(ckpt_deferral.can_be_saved, 1);
    }
}

void ckpt_deferral_told(const struct ckpt_message *message)
{
    if (message->type == CKPT_MSG_HELD) {
        SET(ckpt_deferral.stop_at, message->as.held.safe_point);
        stuck_told = 0;
        vain_since = 0;
    } else if (message->as.end.outcome == CKPT_CAPTURED) {
        ADD(ckpt_deferral.captured, 1);
        SET(ckpt_deferral.stop_at, 0);
        SET(ckpt_deferral.refused, 0);
    }
}

void ckpt_deferral_tell(void)
{
    struct ckpt_message message = {.type = CKPT_MSG_ALLOWED};

    if (SWAP(ckpt_deferral.can_be_saved, 0)) {
        message.as.allowed.safe_points = GET(ckpt_deferral.places);
        (void)ckpt_agent_send(&message, -1);
    }
}

void ckpt_deferral_forget(void)
{
    SET(ckpt_deferral.stop_at, 0);
    SET(ckpt_deferral.refused, 0);
    SET(ckpt_deferral.can_be_saved, 0);
    vain_since = 0;
}

void ckpt_deferral_restarted(void)
{
    ckpt_deferral_forget();
    ADD(ckpt_deferral.restarts, 1);
}

/* Makes the MPI thread, or the service thread, serve: the signal interrupts it
 * anywhere. It is not sent by tgkill(2), because task/threads.c takes such a signal as
 * the order to park. */
void ckpt_deferral_kick(void)
{
    siginfo_t info = {.si_code = SI_QUEUE};

    if (!ckpt_checkpoint.open || !ckpt_agent_connected()) {
        return;
    }
    info.si_signo = ckpt_checkpoint_signal();
    info.si_pid = (pid_t)ckpt_sys_getpid();
    (void)ckpt_syscall4(SYS_rt_tgsigqueueinfo, info.si_pid, ckpt_attached_thread(),
                        info.si_signo, (long)&info);
}

void ckpt_deferral_tell_if_over(void)
{
    if (!ckpt_deferral_is_on() && SWAP(ckpt_deferral.refused, 0)) {
        SET(ckpt_deferral.can_be_saved, 1);
        ckpt_deferral_kick();
    }
}

/* ---- Waiting for ranks that stay ------------------------------------------------- */

void ckpt_deferral_poll_failed(void)
{
    struct ckpt_message message = {.type = CKPT_MSG_HOLD_BLOCKED};

    if (!ckpt_deferral_matters() || stuck_told) {
        return;
    }
    if (vain_since == 0) {
        vain_since = ckpt_deferral_now_ms();
    } else if (ckpt_deferral_now_ms() - vain_since >= VAIN_MS) {
        stuck_told = 1;
        message.as.allowed.safe_points = GET(ckpt_deferral.places);
        (void)ckpt_agent_send(&message, -1);
    }
}

void ckpt_deferral_wait_over(void)
{
    vain_since = 0;
}
