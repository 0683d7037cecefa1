/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * peer_identity.hpp - identity of a program towards the other agents of its job.
 */
#pragma once

#include <cstdint>
#include <string>

namespace ckpt
{

struct PeerIdentity {
    std::string launch_namespace;
    std::string host;              /* name of its node */
    std::uint64_t incarnation = 0; /* of the job: number of launches that `ckpt run` has made */
};

} // namespace ckpt
