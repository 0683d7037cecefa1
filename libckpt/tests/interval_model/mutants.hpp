/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mutants.hpp - wrong variants of the protocol, each of which breaks one rule.
 *
 * A model that cannot fail proves nothing. Each mutant changes calls of the
 * core in libckpt/interval, never the core itself, and the model must detect
 * it.
 */
#pragma once

namespace model
{

enum class Mutant {
    none,
    // In both modes.
    counter_only_if_dirty, // fact a: an interval without stores has no number
    diff_bound_plus_one,   // Theorem 2: one diff too few is kept
    notice_bound_plus_one, // Lemma 2: one notice too few
    grant_bound_plus_one,  // Lemma 3: one acquire-sent entry too few
    acquire_bound_plus_one, // Lemma 3: one acquire-received entry too few
    barrier_bound_plus_one, // Lemma 3: one barrier too few
    newest_checkpoint_only, // Theorem 2: the window is always 1
    newest_starting_copy,   // Lemma 1: whatever the version
    no_mirror,              // granted log not given back
    own_diffs_unlogged,     // a home does not log its own stores
    replay_everything,      // diffs later than the replaying rank's time
    against_happened_before, // diffs in the order of their writers
    // In the mode with homes.
    no_resend,            // R7 left out
    batches_split,        // fact b: a message for each page
    duplicates_applied,   // a duplicate batch is applied twice
    home_not_caught_up,   // R6 left out: the home role is not caught up
    // In the mode with shared memory.
    image_as_twin,              // S1: diff against the released image
    whole_pages_regenerated,    // S5: replay logs the words of others as well
    live_segment_checkpointed,  // S3
    lower_sequence_overwrites,  // S5: no sequence number for each word
    sums_for_sequences,         // S5: sequence numbers unused
    sequence_not_kept,          // S4: a replayed release gets a new number
    own_copy_not_exempt, // fact c: its own copy must be within its time, too
};

inline const char *name(Mutant mutant)
{
    switch (mutant) {
    case Mutant::none:
        return "none";
    case Mutant::counter_only_if_dirty:
        return "counter_only_if_dirty";
    case Mutant::diff_bound_plus_one:
        return "diff_bound_plus_one";
    case Mutant::notice_bound_plus_one:
        return "notice_bound_plus_one";
    case Mutant::grant_bound_plus_one:
        return "grant_bound_plus_one";
    case Mutant::acquire_bound_plus_one:
        return "acquire_bound_plus_one";
    case Mutant::barrier_bound_plus_one:
        return "barrier_bound_plus_one";
    case Mutant::newest_checkpoint_only:
        return "newest_checkpoint_only";
    case Mutant::newest_starting_copy:
        return "newest_starting_copy";
    case Mutant::no_mirror:
        return "no_mirror";
    case Mutant::own_diffs_unlogged:
        return "own_diffs_unlogged";
    case Mutant::replay_everything:
        return "replay_everything";
    case Mutant::against_happened_before:
        return "against_happened_before";
    case Mutant::no_resend:
        return "no_resend";
    case Mutant::batches_split:
        return "batches_split";
    case Mutant::duplicates_applied:
        return "duplicates_applied";
    case Mutant::home_not_caught_up:
        return "home_not_caught_up";
    case Mutant::image_as_twin:
        return "image_as_twin";
    case Mutant::whole_pages_regenerated:
        return "whole_pages_regenerated";
    case Mutant::live_segment_checkpointed:
        return "live_segment_checkpointed";
    case Mutant::lower_sequence_overwrites:
        return "lower_sequence_overwrites";
    case Mutant::sums_for_sequences:
        return "sums_for_sequences";
    case Mutant::sequence_not_kept:
        return "sequence_not_kept";
    case Mutant::own_copy_not_exempt:
        return "own_copy_not_exempt";
    }
    return "?";
}

} // namespace model
