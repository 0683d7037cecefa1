/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * message_purpose.hpp - what the messages between coordinator and ranks are
 * for, and how many of them a protocol takes (Plank 1993, chapter 2).
 */
#pragma once

#include "ckpt/wire.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ckpt
{

/* `per_rank`: how many of them the protocol takes for each rank; 0: as many as
 * it happens to need. */
struct MessagePurpose {
    const char *name;
    std::vector<ckpt_message_type> types;
    unsigned per_rank;
};

/* Of "sns", or of the protocols for which ranks do not stand still. */
const std::vector<MessagePurpose> &
message_purposes(const std::string &protocol);

/* Sums by purpose, of counts by type. Those of a checkpoint that began with
 * another protocol have the purposes of the one that it ended with. */
std::map<std::string, std::uint64_t>
count_by_purpose(const std::string &protocol,
                 const std::map<std::uint16_t, std::uint64_t> &by_type);

} // namespace ckpt
