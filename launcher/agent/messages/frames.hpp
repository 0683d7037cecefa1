/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * frames.hpp - conversion between structures and JSON in the frames between
 * agents. The readers throw nlohmann::json::exception, or Refused.
 */
#pragma once

#include "agent/messages/file_system.hpp"
#include "agent/messages/rank_seen.hpp"
#include "image/store/manifest.hpp"

#include "common/refusal.hpp"

#include "ckpt/wire.h"

#include <nlohmann/json.hpp>

#include <vector>

namespace ckpt
{

nlohmann::json to_frame(const std::vector<ckpt_clock> &clocks);
std::vector<ckpt_clock> clocks_from(const nlohmann::json &json);

nlohmann::json to_frame(const ckpt_message &message);
/* Fields have names in the frame. sender: who may send such a message. */
ckpt_message message_from(const nlohmann::json &json, ckpt_sender sender);

nlohmann::json to_frame(const RankSeen &seen);
RankSeen seen_from(const nlohmann::json &json);

nlohmann::json to_frame(const FileSystem &file_system);
FileSystem file_system_from(const nlohmann::json &json);

/* Returns a whole message: the number of the identity as `refusal`, the detail as `reason`. */
nlohmann::json to_frame(const char *type, const Refusal &reason);
/* An agent without identities sends only a reason: it is unnamed. */
Refusal refusal_from(const nlohmann::json &json);

nlohmann::json to_frame(const Piece &piece);
Piece piece_from(const nlohmann::json &json);

} // namespace ckpt
