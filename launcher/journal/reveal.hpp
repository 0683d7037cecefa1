/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reveal.hpp - makes the concealed outputs of a job visible to others.
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
    std::filesystem::path journal; /* may be missing, or conceal nothing */
    /* The mark of a committed checkpoint: outputs produced before it are revealed. 0: all
     * concealed outputs; then no process of the job may be alive. */
    std::uint64_t checkpoint = 0;
    Ranks ranks{};
    /* Mark of a checkpoint to which the job was rolled back; older ones can no longer be
     * rolled back to. */
    std::uint64_t noted = 0;
    /* The job continues from there. Files that it has open for writing are revealed as
     * copies; the originals stay concealed, for its descriptors. With `checkpoint`, this holds
     * for all files. */
    bool keeps_open = false;
    int output = 1; /* descriptor that receives the standard output */
};

/*
 * Reveals files, names and lines in the order in which the job has produced them. Files that
 * the job has changed since, or is still writing to, are revealed in their state at the
 * checkpoint. Can be repeated; nothing is revealed twice. Returns warnings about single
 * objects, as complete sentences for the user. Throws Error if nothing more can be revealed
 * now.
 */
std::vector<std::string> reveal(const Revealing &revealing);

/*
 * Repeats a revealing that was interrupted, if `next` goes further. The interrupted one has not
 * noted which visible objects the program had replaced or removed since its checkpoint; without
 * that note the next revealing would leave them visible. reveal() calls this itself, unless
 * `next.keeps_open` is set: then it must be called before the files are rolled back. Returns
 * warnings. Throws Error if the note cannot be read.
 */
std::vector<std::string> finish_interrupted_reveal(const Revealing &next);

} // namespace ckpt::journal
