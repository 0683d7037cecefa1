/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * agent_client.hpp - one question to a node agent, and its answer.
 */
#pragma once

#include "agent/control.hpp"
#include "common/error.hpp"

#include <filesystem>
#include <functional>
#include <optional>

namespace ckpt::cli
{

/* The connection ended before there was an answer. */
struct AgentDied : Error {
    AgentDied() : Error("the agent has died before it answered") {}
};

/*
 * Asks the agent that listens at `socket`. Returns its last reply, or nothing
 * if nobody listens there.
 * progress: called for each progress reply, and again every 100 ms.
 * silence_ms: how long the agent may say nothing; -1: for ever.
 * Throws AgentDied, or Error if the agent is not ours or keeps silent.
 */
std::optional<control::Reply>
ask_agent(const std::filesystem::path &socket, const control::Request &request,
          int silence_ms,
          const std::function<void(const control::Progress &)> &progress = {});

} // namespace ckpt::cli
