/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * settings.hpp - the settings of one run of the model.
 */
#pragma once

#include "mutants.hpp"

#include <cstdint>

namespace model
{

enum class Mode {
    // The newest copy of a page is at its home; diffs are sent there.
    homes,
    shared // all processes store directly into the same memory
};

/* Which processes exchange checkpoint information at a barrier. */
enum class BarrierControl { one_random_peer, everybody };

struct Settings {
    std::uint64_t seed = 0;
    Mode mode = Mode::homes;
    Mutant mutant = Mutant::none;
    int processes = 4;
    int pages = 6;
    int words = 6; // of a page
    int locks = 3;
    int phases = 8;
    double checkpoint_rate = .06; // at each step
    double crash_rate = .02;
    double delivery_rate = .4; // of one batch of diffs
    double trimming_rate = .1;
    double control_rate = .5; // of the messages that could carry control data
    BarrierControl barrier_control = BarrierControl::one_random_peer;
    bool crashes = true;
    bool each_page = false;   // Theorem 1 in place of Theorem 2
    bool whole_pages = false; // shared: a diff is the whole dirty page
    // A process takes a checkpoint after it has logged this many words; 0:
    // never.
    std::uint64_t log_threshold = 0;
    int without_checkpoints = -1; // a process without them
};

} // namespace model
