/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * failure.hpp - the first failure of a launch, from which all later ones follow.
 */
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace ckpt
{

struct Failure {
    enum class Kind {
        rank_ended,   /* without MPI_Finalize */
        rank_stopped, /* by a signal, while others run */
        node_lost,
        cut_off,        /* `ckpt run` is cut off from most nodes */
        launcher_ended, /* with this code; nothing else is known */
    };

    Kind kind = Kind::launcher_ended;
    int rank = -1; /* rank_ended: -1: a process that had not called MPI_Init */
    std::string host;
    std::optional<int> status; /* of the rank, as from wait(2), if known */
    int exit_code = 0;         /* of the launcher */
    bool is_finished = false;  /* the rank had called MPI_Finalize */
    /* salvaged: number of the checkpoint that has the other ranks as they were when this rank
     * ended; 0: none. interval: reached by the rank. why_not_salvaged: a clause
     * that says why there is none, or why the job does not recover in place; empty: nobody
     * tried. */
    std::uint64_t salvaged = 0;
    std::uint64_t interval = 0;
    std::string why_not_salvaged;

    /* Returns for example "rank 3 on n2 was killed by signal 9 (Killed)". */
    std::string text() const;
    /* Returns the result of the salvage, to be appended to text(); "" without an attempt. */
    std::string salvage_text() const;
    /* Returns for example "rank 3": several failures in one place count as a repeated one. */
    std::string place() const;
    /* Whether the machine, or a user with kill(1), has caused the failure, and not the program. */
    bool is_from_outside() const;
};

} // namespace ckpt
