/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * participant.c - requests of the program about checkpoints, for cut/.
 */
#include "user/participant.h"

#include "user/ask.h"
#include "user/excluded.h"
#include "user/deferral.h"

static void tell(void)
{
    ckpt_deferral_tell();
    ckpt_ask_tell();
}

static void told(const struct ckpt_message *message)
{
    if (message->type == CKPT_MSG_ANSWER) {
        ckpt_ask_answered(message);
    } else {
        ckpt_deferral_told(message);
    }
}

static void forget(enum ckpt_refusal identity, const char *reason)
{
    ckpt_deferral_forget();
    ckpt_ask_forget(identity, reason);
}

/* An empty reason: the requests were answered by a checkpoint, the one restarted from. */
static void restarted(void)
{
    ckpt_deferral_restarted();
    ckpt_ask_forget(CKPT_REFUSAL_NONE, "");
}

const struct ckpt_participant ckpt_user_participant = {
    .forbids = ckpt_deferral_is_on,
    .refuse = ckpt_deferral_refuse,
    .tell = tell,
    .told = told,
    .needs_turns = ckpt_deferral_matters,
    .poll_failed = ckpt_deferral_poll_failed,
    .wait_over = ckpt_deferral_wait_over,
    .forget = forget,
    .restarted = restarted,
    .excluded = ckpt_excluded_text,
};
