/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * logged_messages.hpp - message logs for tests.
 */
#pragma once

#include "ckpt/wire.h"

#include <cstdint>
#include <string>

namespace ckpt::test
{

/* A record as a rank writes it: padded with zeros to a multiple of 8. */
inline std::string logged_message(std::uint64_t order,
                                  const std::string &content)
{
    ckpt_logged_message header{};
    header.magic = CKPT_LOGGED_MAGIC;
    header.source = static_cast<std::int32_t>(order % 5);
    header.tag = 7;
    header.communicator = 1;
    header.order = order;
    header.size = content.size();
    std::string record(reinterpret_cast<const char *>(&header), sizeof header);
    record += content;
    record.resize((record.size() + 7) / 8 * 8);
    return record;
}

/* A log of `count` messages of 0 to 9,999 bytes. */
inline std::string message_log(std::uint64_t count)
{
    std::string log;
    for (std::uint64_t i = 0; i < count; i++) {
        std::string content(i * 7919 % 10000, static_cast<char>(i));
        log += logged_message(i, content);
    }
    return log;
}

} // namespace ckpt::test
