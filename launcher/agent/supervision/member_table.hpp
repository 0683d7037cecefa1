/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * member_table.hpp - the members of a launch, in frames from `ckpt run` to its
 * agents.
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

/* The addresses of one member. The reader throws nlohmann::json::exception. */
nlohmann::json to_frame(const membership::Table::Entry &member);
membership::Table::Entry member_from(const nlohmann::json &json);

/* All members, the key, and the reader's own index. The reader returns nothing if the key is
 * invalid. */
nlohmann::json to_frame(const membership::Table &table);
std::optional<membership::Table> table_from(const nlohmann::json &json);

/* Options of all members. A node that is cut off has ended its ranks `fencing_time` after the
 * others have last received from it. */
membership::Protocol::Options membership_options();
inline constexpr std::chrono::milliseconds fencing_time{5500};

/* Returns the entry of this process. port: of its UDP socket. */
membership::Table::Entry member_here(const std::string &host, std::uint16_t port);

} // namespace ckpt
