/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * replay_bounds.h - what belongs into a replay, and what has been had already.
 *
 * A failed rank f is re-executed from its newest checkpoint. It takes times
 * from the determinants of its acquires and barriers, and reads memory that is
 * built from a starting copy and logged diffs (4.4.2, 4.4.3). Every decision is
 * a comparison of interval numbers. Context of all functions: quiesced.
 */
#ifndef CKPT_REPLAY_BOUNDS_H
#define CKPT_REPLAY_BOUNDS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Is an acquire or barrier replayed? after: f's own component of the time that
 * it had then; restart: of its checkpoint's time. (Lemma 3; the interval is
 * ended before the acquire, so one that is replayed is later, never equal.)
 */
bool ckpt_replay_has_event(uint64_t after, uint64_t restart);

/*
 * Is the write notice of `interval` of a rank new to f, whose time goes from
 * `before` to `after` in that rank's component? (4.4.2)
 */
bool ckpt_replay_has_notice(uint64_t interval, uint64_t before, uint64_t after);

/*
 * Is a diff of `interval` of a writer applied to the memory that f reads?
 * version: the writer's component of what is in that memory (at first, of the
 * starting copy: Lemma 1(2)); seen: of f's time. Above `version`, as the others
 * are in it; up to `seen`, as these are exactly the stores that happened before
 * what f replays now. f's own saved diffs are among them (Case B).
 */
bool ckpt_replay_applies(uint64_t interval, uint64_t version, uint64_t seen);

/*
 * Is a batch of `interval` new to a home that has `version` of the writer?
 * After the replay f, as a home, applies all logged diffs that are, and f, as a
 * writer, sends its own that are again; homes drop the others as duplicates.
 * All diffs of an interval for one home must be applied at once as far as the
 * home's checkpoints can tell, and those of a writer in order: the version
 * of a checkpoint says that all of them are in it, and the writer drops them.
 */
bool ckpt_batch_is_new(uint64_t interval, uint64_t version);

#endif
