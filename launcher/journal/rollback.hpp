/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rollback.hpp - brings the files of a job back to what they were at a checkpoint.
 */
#pragma once

#include "journal/plan.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace ckpt::journal
{

/* --files */
enum class Files {
    roll_back, /* undo what was changed since; refuse if that cannot be done */
    check,     /* change nothing; refuse if something differs */
    ignore,    /* neither */
};

/* Throws Error unless it is "rollback", "check" or "ignore". */
Files files_from(const std::string &text);

struct Wish {
    std::filesystem::path journal; /* need not exist */
    std::uint64_t checkpoint = 0;  /* its mark in the journal; 0: the start of the job */
    std::string name;              /* of the checkpoint, for messages */
    bool has_mark = true;          /* or it was taken without the journal */
    Ranks ranks;
    Files files = Files::roll_back;
};

struct Outcome {
    std::size_t undone = 0;            /* records */
    std::vector<std::string> warnings; /* complete sentences for the user */
};

/*
 * Before a launch; no process of the job may be alive. Looks at everything before it changes
 * anything. Throws Error if the wish cannot be fulfilled; then nothing has changed, unless
 * the Error is of a change that failed half way: that is to be repeated, and the journal
 * knows it. A roll back that was interrupted earlier is finished first.
 */
Outcome bring_back(const Wish &wish);

/* Throws the Error that bring_back() would throw. Changes nothing. */
void require_possible(const Wish &wish);

/* A job starts from its beginning, as another run: what earlier runs have changed stays when
 * this one is rolled back to its start. Throws Error. */
void begin_run(const std::filesystem::path &journal);

} // namespace ckpt::journal
