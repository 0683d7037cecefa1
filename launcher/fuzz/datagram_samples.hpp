/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * datagram_samples.hpp - one valid message of the membership of each kind.
 */
#pragma once

#include "membership/datagram.hpp"

#include <vector>

namespace ckpt::fuzz
{

/* view: of the messages that carry one. */
inline std::vector<membership::Message> one_of_each(const membership::View &view)
{
    using namespace membership;
    const Ballot ballot{9, 69};

    return {message::Heartbeat{true},
            message::Question{69},
            message::Answer{4, 3, 1234, true},
            message::Accusation{6, 2, Reason::gone, true},
            message::Hello{},
            message::Prepare{5, ballot},
            message::Promise{5, ballot, {3, 2}, view},
            message::Proposal{ballot, view},
            message::Acceptance{5, ballot},
            message::Denial{5, ballot},
            message::Decision{view},
            message::Link{2, 1, true},
            message::Refusal{41}};
}

} // namespace ckpt::fuzz
