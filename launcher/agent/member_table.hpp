/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * member_table.hpp - the members of a launch, as `ckpt run` tells its agents.
 */
#pragma once

#include "membership/membership_service.hpp"

#include <nlohmann/json.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace ckpt
{

/* Where a member is found, in a frame. The reader throws nlohmann::json::exception. */
nlohmann::json to_frame(const membership::Table::Entry &member);
membership::Table::Entry member_from(const nlohmann::json &json);

/* All of them, the key, and which of them the reader is. Nothing if the key is none. */
nlohmann::json to_frame(const membership::Table &table);
std::optional<membership::Table> table_from(const nlohmann::json &json);

/* Of all members: a node that is cut off has ended its ranks `fencing_time` after it was
 * last heard of. */
membership::Protocol::Options membership_options();
inline constexpr std::chrono::milliseconds fencing_time{5500};

/* This process, behind a socket of that port. */
membership::Table::Entry member_here(const std::string &host, std::uint16_t port);

} // namespace ckpt
