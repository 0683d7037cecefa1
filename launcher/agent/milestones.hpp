/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * milestones.hpp - how far a job has come, as little as is enough to see that more is to be
 * told of it than a moment ago.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace ckpt
{

struct Milestones {
    int present = 0;         /* ranks */
    std::size_t agents = 0;  /* of nodes */
    bool is_saving = false;  /* a checkpoint is under way */
    bool is_holding = false; /* one waits for ranks */
    std::uint64_t committed = 0;
    std::uint64_t failed = 0;
    bool is_unprotected = false;
    std::uint64_t flushed = 0; /* to the slow tier */
    std::uint64_t flushing = 0;
    std::string flush_error;
    std::uint64_t redundant = 0; /* survives the loss of nodes */
    std::string redundancy_error;

    bool operator==(const Milestones &) const = default;
};

} // namespace ckpt
