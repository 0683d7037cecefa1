/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rank_cut.cpp - how CUT, CLOSE and their answers change a rank's state.
 */
#include "protocol/rank_cut.hpp"

namespace ckpt
{

void RankCutWatch::hello(const ckpt_message &message)
{
    const ckpt_msg_hello &hello = message.as.hello;

    cut_ = {hello.last_cut, (hello.state & CKPT_STATE_OPEN) != 0,
            (hello.state & CKPT_STATE_IN_DOUBT) != 0};
}

void RankCutWatch::ordered(ckpt_message_type type, std::uint64_t epoch,
                           const ckpt_message_body &body)
{
    switch (type) {
    case CKPT_MSG_REQUEST:
        cut_.in_doubt = body.request.runs_on != 0;
        cut_.asked = 0;
        close_ordered_ = false;
        break;
    case CKPT_MSG_STOP: /* all ranks have to stop */
        cut_.in_doubt = false;
        break;
    case CKPT_MSG_RESUME:
        cut_.in_doubt = cut_.in_doubt && body.end.outcome == CKPT_LEFT_OPEN;
        break;
    case CKPT_MSG_CUT:
        cut_.asked = epoch;
        break;
    case CKPT_MSG_CLOSE:
        close_ordered_ = true;
        break;
    default:
        break;
    }
}

/* A rank changes its colour, and closes its log, even if it refuses to be
 * saved. */
void RankCutWatch::answered(const ckpt_message &message)
{
    const bool refused = message.type == CKPT_MSG_REFUSED;

    if (cut_.asked != 0 && (refused || message.type == CKPT_MSG_READY)) {
        cut_ = {message.epoch, true, false};
    } else if (close_ordered_ && (refused || message.type == CKPT_MSG_LOGGED)) {
        close_ordered_ = false;
        cut_.open = false;
    }
}

} // namespace ckpt
