/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * protocol.cpp - the name of a protocol.
 */
#include "protocol/protocol.hpp"

namespace ckpt
{

const char *protocol_name(Protocol protocol)
{
    for (const auto &[name, value] : protocol_names) {
        if (value == protocol) {
            return name.c_str();
        }
    }
    return "";
}

} // namespace ckpt
