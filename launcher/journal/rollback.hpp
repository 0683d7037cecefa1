/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rollback.hpp - restores the files of a job to their state at a checkpoint.
 */
#pragma once

#include "journal/plan.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace ckpt::journal
{

/* The values of --files. */
enum class Files {
    roll_back, /* undo changes made since; refuse if that is impossible */
    check,     /* change nothing; refuse if a file differs */
    ignore,    /* neither change nor check files */
};

/* Throws Error unless it is "rollback", "check" or "ignore". */
Files files_from(const std::string &text);

struct Wish {
    std::filesystem::path journal; /* may be missing */
    std::uint64_t checkpoint = 0;  /* its mark in the journal; 0: the start of the job */
    std::string name;              /* of the checkpoint, for messages */
    bool has_mark = true;          /* false: it was taken without the journal */
    Ranks ranks;
    Files files = Files::roll_back;
};

struct Outcome {
    std::size_t undone = 0;            /* number of undone records */
    std::vector<std::string> warnings; /* complete sentences for the user */
};

/*
 * Rolls files back before a launch; no process of the job may be alive. Checks everything
 * before it changes anything. Finishes an interrupted rollback first. Throws Error if the
 * rollback is impossible; then nothing has changed. If a change itself fails half way, the
 * Error requires a repetition, which the journal records.
 */
Outcome bring_back(const Wish &wish);

/* Throws the Error that bring_back() would throw, but changes nothing. */
void require_possible(const Wish &wish);

/* Starts a new run from the beginning of the job. A later rollback to the start of this run
 * keeps the changes of earlier runs. Throws Error. */
void begin_run(const std::filesystem::path &journal);

} // namespace ckpt::journal
