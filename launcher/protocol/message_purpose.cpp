/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * message_purpose.cpp - purposes of the messages of a checkpoint.
 */
#include "config.h"
#include "protocol/message_purpose.hpp"

namespace ckpt
{

namespace
{

/* Plank's 4 n are the first row: stop, all is received, save, saved. The
 * counts replace his acknowledgements. */
const std::vector<MessagePurpose> stopping = {
    {"stop and save",
     {CKPT_MSG_STOP, CKPT_MSG_DRAINED, CKPT_MSG_SAVE, CKPT_MSG_READY},
     4},
    {"counts", {CKPT_MSG_STOPPED, CKPT_MSG_DRAIN}, 2},
    {"alignment", {CKPT_MSG_REQUEST, CKPT_MSG_REPORT, CKPT_MSG_RUN, CKPT_MSG_WHERE}, 2},
    {"going on", {CKPT_MSG_RESUME}, 1},
};

/* The end is Plank's m_S, to the coordinator and back. */
const std::vector<MessagePurpose> running = {
    {"alignment", {CKPT_MSG_REQUEST, CKPT_MSG_REPORT, CKPT_MSG_RUN, CKPT_MSG_WHERE}, 2},
    {"cut", {CKPT_MSG_CUT, CKPT_MSG_READY}, 2},
    {"going on", {CKPT_MSG_RESUME}, 1},
    {"all is logged", {CKPT_MSG_COUNTS, CKPT_MSG_COMPLETE, CKPT_MSG_PROGRESS}, 0},
    {"end", {CKPT_MSG_CLOSE, CKPT_MSG_LOGGED}, 2},
};

} // namespace

const std::vector<MessagePurpose> &message_purposes(const std::string &protocol)
{
    return protocol == "sns" ? stopping : running;
}

std::map<std::string, std::uint64_t>
count_by_purpose(const std::string &protocol,
                 const std::map<std::uint16_t, std::uint64_t> &by_type)
{
    std::map<std::string, std::uint64_t> sums;

    for (const MessagePurpose &purpose : message_purposes(protocol)) {
        std::uint64_t &sum = sums[purpose.name];
        for (ckpt_message_type type : purpose.types) {
            auto found = by_type.find(static_cast<std::uint16_t>(type));
            sum += found == by_type.end() ? 0 : found->second;
        }
    }
    return sums;
}

} // namespace ckpt
