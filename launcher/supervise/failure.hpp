/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * failure.hpp - what has gone wrong in a launch: the first thing, which all that follows
 * comes from.
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
        cut_off, /* `ckpt run` is, from most nodes */
        launcher_ended, /* with this code, and nothing else is known */
    };

    Kind kind = Kind::launcher_ended;
    int rank = -1; /* rank_ended: -1: of a process before MPI_Init */
    std::string host;
    std::optional<int> status; /* of the rank, as wait(2) gives it, if it is known */
    int exit_code = 0;         /* of the launcher */
    bool is_finished = false;  /* the rank had called MPI_Finalize */
    /* The checkpoint in which the others are as they were when the rank ended, and how far
     * that had come; 0: there is none, perhaps because (protocol independent): */
    std::uint64_t salvaged = 0;
    std::uint64_t interval = 0;
    std::string why_not_salvaged;

    /* "rank 3 on n2 was killed by signal 9 (Killed)" */
    std::string text() const;
    /* ", and is replayed" or why not, for behind text(); empty if that was not to be. */
    std::string salvage_text() const;
    /* "rank 3": failures in one place look like one that repeats. */
    std::string place() const;
    /* The program has not brought it about: the machine has, or somebody with kill(1). */
    bool is_from_outside() const;
};

/* As a shell gives it: 128 + signal. */
int exit_code_of(int status);

} // namespace ckpt
