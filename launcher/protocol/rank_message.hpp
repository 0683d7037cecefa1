/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rank_message.hpp - composes a message between a rank and its agent (ckpt/messages.h).
 */
#pragma once

#include "ckpt/messages.h"
#include "ckpt/refusals.h"

#include <cstdint>
#include <string_view>

namespace ckpt
{

/* body: the fields of the message, such as {.end = {CKPT_GIVEN_UP}}. A text that is too long is
 * cut off. */
inline ckpt_message make_message(std::uint32_t type, std::uint64_t epoch,
                                 const ckpt_message_body &body = {},
                                 std::string_view text = {})
{
    ckpt_message message{};

    message.magic = CKPT_WIRE_MAGIC;
    message.version = CKPT_WIRE_VERSION;
    message.type = type;
    message.epoch = epoch;
    message.as = body;
    text.copy(message.text, sizeof message.text - 1);
    return message;
}

/* Composes the REFUSED of a rank that has not been cut. */
inline ckpt_message make_refusal(std::uint64_t epoch, ckpt_refusal identity, std::string_view why)
{
    ckpt_message_body body{};

    body.refused.identity = identity;
    return make_message(CKPT_MSG_REFUSED, epoch, body, why);
}

} // namespace ckpt
