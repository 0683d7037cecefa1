/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ask.c - checkpoint requests of this rank. They are numbered, and the answer
 * to a request also answers all requests before it.
 */
#include "user/ask.h"

#include "base/invariant.h"
#include "base/text.h"
#include "ckpt/failure.h"
#include "cut/messages/report.h"
#include "link/agent_link.h"
#include "user/deferral.h"

#define CKPT_INTERFACE_ONLY
#include "user/ckpt.h"

static uint64_t asked, asked_of_all; /* by the application's threads */
static uint64_t told;                /* to the agent */
static uint64_t answered;
static char reason[sizeof(((struct ckpt_message *)0)->text)];

static int is_answered(uint64_t number)
{
    return __atomic_load_n(&answered, __ATOMIC_ACQUIRE) >= number;
}

void ckpt_ask_tell(void)
{
    struct ckpt_message message = {.type = CKPT_MSG_ASK};
    const uint64_t number = __atomic_load_n(&asked, __ATOMIC_ACQUIRE);

    CKPT_INVARIANT(number >= told);
    if (number != told) {
        told = number;
        message.as.ask.number = number;
        message.as.ask.of_all =
            __atomic_load_n(&asked_of_all, __ATOMIC_ACQUIRE) == number ? 1 : 0;
        (void)ckpt_agent_send(&message, -1);
    }
}

/* Writes a reason that was found here, as an agent writes its own. */
static void explain(enum ckpt_refusal identity, const char *text)
{
    ckpt_text_format(reason, sizeof(reason), "%s [%s]", text, ckpt_refusal_name(identity));
}

/* `text` has the name of the reason at its end, or is empty. */
static void answer(uint64_t number, const char *text)
{
    ckpt_text_copy(reason, sizeof(reason), text);
    __atomic_store_n(&answered, number, __ATOMIC_RELEASE);
}

void ckpt_ask_answered(const struct ckpt_message *message)
{
    if (message->as.answer.number == CKPT_ANSWER_TO_ALL) {
        told = __atomic_load_n(&asked, __ATOMIC_ACQUIRE);
        if (!is_answered(told)) {
            answer(told, message->text);
        }
    } else {
        answer(message->as.answer.number, message->text);
    }
}

void ckpt_ask_forget(enum ckpt_refusal identity, const char *text)
{
    told = __atomic_load_n(&asked, __ATOMIC_ACQUIRE);
    if (is_answered(told)) {
        return;
    }
    if (identity == CKPT_REFUSAL_NONE) {
        reason[0] = '\0';
    } else {
        explain(identity, text);
    }
    __atomic_store_n(&answered, told, __ATOMIC_RELEASE);
}

const char *ckpt_ask_reason(void)
{
    return reason;
}

static int refuse(enum ckpt_refusal identity, const char *text)
{
    explain(identity, text);
    return CKPT_REFUSED;
}

struct request {
    struct ckpt_stay stay; /* first */
    unsigned flags;
    uint64_t number; /* 0: not requested yet */
};

static void begin(struct ckpt_stay *stay)
{
    struct request *request = (struct request *)stay;

    request->number = __atomic_add_fetch(&asked, 1, __ATOMIC_ACQ_REL);
    if ((request->flags & CKPT_ALL) != 0) {
        __atomic_store_n(&asked_of_all, request->number, __ATOMIC_RELEASE);
    }
    ckpt_deferral_kick();
}

static int is_done(const struct ckpt_stay *stay)
{
    return is_answered(((const struct request *)stay)->number);
}

/* The request begins when the rank stays at a safe point, so that it is not
 * found elsewhere. */
static int ask_and_wait(struct request *request)
{
    const int answer = ckpt_deferral_stay(&request->stay);

    if (answer == CKPT_RESTARTED) {
        return answer;
    }
    if (request->number == 0) {
        return refuse(CKPT_REFUSAL_AWAITS_SAFE_POINT,
                      "a hook does not want it, or another thread is at a safe point");
    }
    if (!is_done(&request->stay)) {
        return CKPT_ASKED;
    }
    return reason[0] == '\0' ? CKPT_TAKEN : CKPT_REFUSED;
}

int ckpt_ask(unsigned flags)
{
    struct request request = {{begin, is_done}, flags, 0};

    if (!ckpt_checkpoint.open || !ckpt_agent_connected()) {
        return refuse(CKPT_REFUSAL_NO_COORDINATOR,
                      "checkpoints of this process cannot be taken now");
    }
    if ((flags & CKPT_WAIT) != 0 && ckpt_deferral_in_region()) {
        return refuse(CKPT_REFUSAL_NO_CHECKPOINT_REGION,
                      "it was asked for in a no-checkpoint region");
    }
    reason[0] = '\0';
    if ((flags & CKPT_WAIT) != 0) {
        return ask_and_wait(&request);
    }
    begin(&request.stay);
    return CKPT_ASKED;
}
