/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gather_identity.hpp - as what those who gather a checkpoint's pieces speak to each other.
 */
#pragma once

#include "agent/peer_identity.hpp"

#include <string>

namespace ckpt::gather
{

/* One launch: its key is its own. */
inline PeerIdentity gathers_as(const std::string &host)
{
    return {"ckpt gather", host, 0};
}

} // namespace ckpt::gather
