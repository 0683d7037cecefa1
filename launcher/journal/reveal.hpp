/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reveal.hpp - lets others see what a job has produced while its outputs were concealed.
 */
#pragma once

#include "journal/plan.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace ckpt::journal
{

struct Revealing {
    std::filesystem::path journal; /* need not exist, or conceal anything */
    /* What was produced before it is revealed: the mark of a committed checkpoint. 0: all
     * that is concealed; then no process of the job may be alive. */
    std::uint64_t checkpoint = 0;
    Ranks ranks{};
    /* Of a checkpoint to which the job has been rolled back: the older ones are out of reach
     * from now on. */
    std::uint64_t noted = 0;
    /* The job goes on from there: files that it has open to write to are revealed as copies,
     * and stay concealed, the same ones, for its descriptors. */
    bool keeps_open = false;
    int output = 1; /* descriptor that gets what was written to standard output */
};

/*
 * Reveals files, names and lines in the order in which the job has produced them. Files that
 * the job goes on writing to, or has changed since, are revealed as they were at the
 * checkpoint. Can be repeated: what was revealed is not revealed once more. Returns what
 * went wrong with single objects, complete sentences for the user. Throws Error: nothing
 * more can be revealed now.
 */
std::vector<std::string> reveal(const Revealing &revealing);

} // namespace ckpt::journal
