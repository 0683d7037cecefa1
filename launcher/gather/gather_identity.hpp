/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gather_identity.hpp - the identity that processes use with each other when they gather
 * pieces.
 */
#pragma once

#include "agent/base/peer_identity.hpp"

#include <string>

namespace ckpt::gather
{

/* The same for all launches, because each launch has its own key. */
inline PeerIdentity gathers_as(const std::string &host)
{
    return {"ckpt gather", host, 0};
}

} // namespace ckpt::gather
