/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * milestones.hpp - values of a job's progress. If one of them changes, a new report is due.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace ckpt
{

struct Milestones {
    int present = 0;         /* ranks that are connected */
    std::size_t agents = 0;  /* agents of nodes */
    bool is_saving = false;  /* a checkpoint is under way */
    bool is_holding = false; /* a request waits for ranks */
    std::uint64_t committed = 0;
    std::uint64_t failed = 0;
    bool is_unprotected = false;
    std::uint64_t flushed = 0; /* newest checkpoint on the slow tier */
    std::uint64_t flushing = 0;
    std::string flush_error;
    std::uint64_t redundant = 0; /* newest checkpoint that survives the loss of nodes */
    std::string redundancy_error;

    bool operator==(const Milestones &) const = default;
};

} // namespace ckpt
