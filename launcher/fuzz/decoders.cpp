/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * decoders.cpp - combines the decoders of all kinds into one table.
 */
#include "config.h"
#include "fuzz/decoders.hpp"

#include "common/error.hpp"

#include <nlohmann/json.hpp>

#include <iterator>
#include <stdexcept>

namespace ckpt::fuzz
{

std::vector<Decoder> all_decoders()
{
    std::vector<Decoder> all;

    for (const auto kind : {frame_decoders, command_decoders, datagram_decoders, text_decoders,
                            record_decoders, journal_decoders, image_decoders,
                            process_decoders}) {
        std::vector<Decoder> some = kind();
        std::move(some.begin(), some.end(), std::back_inserter(all));
    }
    return all;
}

bool is_taken(const Decoder &decoder, const std::string &bytes)
{
    try {
        decoder.decode(bytes);
        return true;
    } catch (const Error &) {
    } catch (const nlohmann::json::exception &) {
    }
    return false;
}

void require(bool is_right, const char *what)
{
    if (!is_right) {
        throw std::logic_error(what);
    }
}

} // namespace ckpt::fuzz
