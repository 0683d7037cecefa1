/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * supervisor_file.hpp - how the agents of a launch find the `ckpt run` that has made it.
 *
 * A file of mode 0600 where all nodes see the checkpoints: only the user can read the key in
 * it, and if checkpoints are encrypted (image/image_key.hpp) only who has their key. And an agent that was cut off learns from it that another launch has begun.
 */
#pragma once

#include "agent/peer_address.hpp"
#include "agent/peer_identity.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace ckpt
{

/* Names the file to agents. */
inline constexpr const char *supervisor_variable = "CKPT_SUPERVISOR";
/* The number of their launch; those of a job grow. */
inline constexpr const char *incarnation_variable = "CKPT_INCARNATION";

struct SupervisorFile {
    std::uint64_t incarnation = 0;
    PeerAddress address;

    /* Throws Error. */
    void write(const std::filesystem::path &path) const;
    /* Nothing if it is not there, not ours alone, not made with our key, or not complete. */
    static std::optional<SupervisorFile> read(const std::filesystem::path &path);
};

/* As what both sides of such a connection introduce themselves. */
inline PeerIdentity supervised_as(const std::string &host, std::uint64_t incarnation)
{
    return {"ckpt run", host, incarnation};
}

} // namespace ckpt
