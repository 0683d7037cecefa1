/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * peer_identity.hpp - as what a program takes part in the conversation of a job's
 * agents.
 */
#pragma once

#include <cstdint>
#include <string>

namespace ckpt
{

struct PeerIdentity {
    std::string launch_namespace;
    std::string host;              /* name of its node */
    std::uint64_t incarnation = 0; /* of the job: launches that `ckpt run` has made */
};

} // namespace ckpt
