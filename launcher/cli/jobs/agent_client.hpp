/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * agent_client.hpp - sends one request to a node agent, and receives its
 * replies.
 */
#pragma once

#include "agent/control/control.hpp"
#include "common/error.hpp"

#include <filesystem>
#include <functional>
#include <optional>

namespace ckpt::cli
{

/* The connection ended before the agent replied. */
struct AgentDied : Error {
    AgentDied()
        : Error("the agent has died before it answered") {}
};

/*
 * Sends `request` to the agent that listens at `socket`. Returns its last
 * reply, or nothing if no agent listens there. progress: called for each
 * progress reply, and every 100 ms. silence_ms: maximum time without a reply;
 * -1: no limit. Throws AgentDied, or Error if the agent belongs to another user
 * or exceeds silence_ms.
 */
std::optional<control::Reply>
ask_agent(const std::filesystem::path &socket, const control::Request &request,
          int silence_ms,
          const std::function<void(const control::Progress &)> &progress = {});

} // namespace ckpt::cli
