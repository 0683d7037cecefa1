/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * joint_request.hpp - a checkpoint that the programs of all ranks have to ask for. It is requested
 * when the last rank asks. No I/O. Part of the coordinator.
 */
#pragma once

#include "agent/coordinator/checkpoint_request.hpp"

#include <cstdint>
#include <map>
#include <vector>

namespace ckpt
{

/* Context, for all functions: normal. */
class JointRequest
{
  public:
    explicit JointRequest(int rank_count)
        : rank_count_(rank_count) {}

    /* A rank asks. number: of its request; a later one replaces an earlier one. Returns the
     * requests of all ranks, by rank, if no other rank has to ask; else nothing. */
    std::vector<CheckpointRequest> ask(int rank, std::uint64_t number);
    /* A rank that has to ask cannot any more. Returns the requests of the others. */
    std::vector<CheckpointRequest> drop();

  private:
    const int rank_count_;
    std::map<int, std::uint64_t> numbers_; /* of the requests, by rank */
};

} // namespace ckpt
