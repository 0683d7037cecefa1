/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * json_text.hpp - formats JSON for standard output.
 */
#pragma once

#include <nlohmann/json.hpp>

#include <string>

namespace ckpt::cli
{

/* Returns indented text with a newline at its end. Names of files and threads
 * may be invalid UTF-8; invalid bytes become U+FFFD. */
template <typename Json>
std::string json_text(const Json &json)
{
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace ckpt::cli
