/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * report.c - messages to the agent about the checkpoint under way.
 */
#include "cut/messages/report.h"

#include "base/text.h"
#include "cut/messages/rank_cut.h"
#include "cut/messages/synchronous_send.h"
#include "link/agent_link.h"
#include "runtime/thread_context.h"

void ckpt_report_gate(const struct ckpt_clock *clock, uint64_t slot)
{
    struct ckpt_message message = {.type = CKPT_MSG_REPORT,
                                   .epoch = ckpt_checkpoint.epoch};

    message.as.report = (struct ckpt_msg_report){
        .place = CKPT_PLACE_GATE, .slot = slot, .of_thread = 1, .entered = clock->entered};
    (void)ckpt_agent_send(&message, -1);
}

void ckpt_report_place(uint32_t type, enum ckpt_place place, uint64_t slot,
                       uint64_t flags, int holding)
{
    struct ckpt_message message = {.type = type,
                                   .epoch = ckpt_checkpoint.epoch};
    struct ckpt_msg_report *report = &message.as.report;

    report->place = place;
    report->slot = slot;
    report->inside = flags;
    report->holds = (uint64_t)holding;
    if (ckpt_checkpoint.moving && !ckpt_rank_cut_open) {
        report->needs = ckpt_rank_cut_needs();
        report->traffic = ckpt_rank_cut_has_sent() ? CKPT_REPORT_SENT : 0;
        report->traffic |= ckpt_synchronous_used ? CKPT_REPORT_SYNCHRONOUS : 0;
    }
    (void)ckpt_agent_send(&message, -1); /* a lost agent shows at receive */
}

void ckpt_report_taken(void)
{
    if (ckpt_checkpoint.taken == ckpt_thread_context_times_taken()) {
        return;
    }
    ckpt_checkpoint.taken = ckpt_thread_context_times_taken();
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

    message.as.refused.identity = failure->identity != CKPT_REFUSAL_NONE
                                      ? failure->identity
                                      : CKPT_REFUSAL_INTERNAL_ERROR;
    ckpt_rank_cut_describe_cut(&message.as.refused.cut);
    ckpt_text_copy(message.text, sizeof(message.text), failure->text);
    (void)ckpt_agent_send(&message, -1);
}
