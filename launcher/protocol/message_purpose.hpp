/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * message_purpose.hpp - purposes of the messages between coordinator and ranks,
 * and their number in each protocol (Plank 1993, chapter 2).
 */
#pragma once

#include "ckpt/wire.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ckpt
{

/* `per_rank`: number of messages per rank that the protocol takes; 0:
 * variable. */
struct MessagePurpose {
    const char *name;
    std::vector<ckpt_message_type> types;
    unsigned per_rank;
};

/* protocol: "sns", or any protocol in which ranks run on. */
const std::vector<MessagePurpose> &
message_purposes(const std::string &protocol);

/* Returns the sums by purpose of counts by type. A checkpoint that began
 * with another protocol gets the purposes of the protocol that it ended
 * with. */
std::map<std::string, std::uint64_t>
count_by_purpose(const std::string &protocol,
                 const std::map<std::uint16_t, std::uint64_t> &by_type);

} // namespace ckpt
