/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * salvage_event.hpp - progress of the salvage of a job in which a rank has died
 * (agent/ranks/salvage.hpp), or of its recovery in place.
 */
#pragma once

#include <cstdint>
#include <string>

namespace ckpt
{

struct SalvageEvent {
    enum class Kind {
        begun,      /* the others may be saved with a copy of the rank */
        done,       /* they are */
        recovering, /* all ranks may go back in place (agent/recovery/recovery.hpp), or this one */
        recovered,  /* they have */
        replayed,   /* the others have gone on, and the rank catches up (replay_in_place.hpp) */
        not_recovered,
        failed
    } kind;
    int rank;
    /* done, recovered: number of the checkpoint; 0: there was nothing to recover from, as the
     * rank's process lives */
    std::uint64_t number = 0;
    std::uint64_t interval = 0; /* done: interval of the rank at its death */
    std::string why;            /* failed, not_recovered: the reason */
    double seconds = 0;         /* recovered, replayed: since the rank's end was seen */
};

} // namespace ckpt
