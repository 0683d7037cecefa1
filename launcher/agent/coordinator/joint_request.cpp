/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * joint_request.cpp - a checkpoint that the programs of all ranks have to ask for.
 */
#include "agent/coordinator/joint_request.hpp"

#include "common/invariant.hpp"

#include <iterator>
#include <utility>

namespace ckpt
{

std::vector<CheckpointRequest> JointRequest::ask(int rank, std::uint64_t number)
{
    CKPT_EXPECT(rank >= 0 && rank < rank_count_);
    numbers_[rank] = number;
    return std::ssize(numbers_) < rank_count_ ? std::vector<CheckpointRequest>() : drop();
}

std::vector<CheckpointRequest> JointRequest::drop()
{
    std::vector<CheckpointRequest> requests;

    for (const auto &[rank, number] : std::exchange(numbers_, {})) {
        requests.push_back({.client = 0, .rank = rank, .number = number});
    }
    return requests;
}

} // namespace ckpt
