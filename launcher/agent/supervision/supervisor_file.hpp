/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * supervisor_file.hpp - tells the agents of a launch where the `ckpt run` is that made the launch.
 *
 * The file has mode 0600, in the directory of checkpoints that all nodes see. So only the user can
 * read the key in it; if checkpoints are encrypted (image/seal/image_key.hpp), only a process that
 * has their key. An agent that was cut off learns from it that another launch has begun.
 */
#pragma once

#include "agent/links/peer_address.hpp"
#include "agent/base/peer_identity.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace ckpt
{

/* Names the file to agents. */
inline constexpr const char *supervisor_variable = "CKPT_SUPERVISOR";
/* Number of the agents' launch. It grows with each launch of a job. */
inline constexpr const char *incarnation_variable = "CKPT_INCARNATION";

struct SupervisorFile {
    std::uint64_t incarnation = 0;
    PeerAddress address;

    /* Throws Error. */
    void write(const std::filesystem::path &path) const;
    /* Returns nothing if the file is missing, is accessible to other users, was made with
     * another key, or is incomplete. */
    static std::optional<SupervisorFile> read(const std::filesystem::path &path);
};

/* Identity that both sides of such a connection use in the handshake. */
inline PeerIdentity supervised_as(const std::string &host, std::uint64_t incarnation)
{
    return {"ckpt run", host, incarnation};
}

} // namespace ckpt
