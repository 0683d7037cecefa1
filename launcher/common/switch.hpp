/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * switch.hpp - options that are on, off, or decided by measurements.
 */
#pragma once

#include "common/error.hpp"

#include <string_view>

namespace ckpt
{

enum class Switch {
    off,
    on,
    automatic
};

/* Converts "auto", "on" or "off"; throws Error on any other text. */
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
