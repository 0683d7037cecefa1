/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * agent_client.hpp - one question to a node agent, and its answer.
 */
#pragma once

#include "agent/control.hpp"

#include <filesystem>
#include <functional>
#include <optional>

namespace ckpt::cli
{

/*
 * Asks the agent that listens at `socket`. Returns its last reply, or nothing
 * if nobody listens there.
 * progress: called for each progress reply, and again every 100 ms.
 * silence_ms: how long the agent may say nothing; -1: for ever.
 * Throws Error if the agent is not ours, dies, or keeps silent.
 */
std::optional<control::Reply>
ask_agent(const std::filesystem::path &socket, const control::Request &request,
          int silence_ms,
          const std::function<void(const control::Progress &)> &progress = {});

} // namespace ckpt::cli
