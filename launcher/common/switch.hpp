/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * switch.hpp - options that are on, off, or decided by what is measured.
 */
#pragma once

#include "common/error.hpp"

#include <string_view>

namespace ckpt
{

enum class Switch { off, on, automatic };

/* "auto", "on" or "off"; throws Error on anything else. */
inline Switch switch_from(std::string_view text)
{
    if (text == "auto") {
        return Switch::automatic;
    }
    if (text != "on" && text != "off") {
        fail("'{}' is none of auto, on, off", text);
    }
    return text == "on" ? Switch::on : Switch::off;
}

} // namespace ckpt
