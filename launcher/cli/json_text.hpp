/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * json_text.hpp - JSON for standard output.
 */
#pragma once

#include <nlohmann/json.hpp>

#include <string>

namespace ckpt::cli
{

/* Indented, with a newline at the end. Names of files and threads need not be
 * UTF-8: what is not becomes U+FFFD. */
template <typename Json> std::string json_text(const Json &json)
{
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace ckpt::cli
