/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * checkpoint_window.h - which old checkpoints a home keeps, and which of them
 * a recovery starts from.
 *
 * The home of a piece of memory keeps a window of past copies of it, from which
 * the memory is built again as a failed rank saw it. `versions` are those of
 * the copies, oldest first, count vectors of n one behind the other: of whole
 * checkpoints, for each the maximum over all pages of the home (Theorem 2), or
 * of the copies of one page (Theorem 1). Context of all functions: quiesced.
 */
#ifndef CKPT_CHECKPOINT_WINDOW_H
#define CKPT_CHECKPOINT_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The first copy to be kept: the newest whose version is within `minimum`
 * (ckpt_peer_minimum), so that whoever fails finds a copy without stores of its
 * future. All before it may be discarded. The initial state has version zero
 * and always qualifies; if nothing does, because `versions` does not begin
 * there, everything is kept: 0.
 */
size_t ckpt_window_start(const uint64_t *versions, size_t count,
                         const uint64_t *minimum, uint32_t n);

/*
 * p_0 of Lemma 1: the newest copy whose version is within `restart`, the time
 * of the checkpoint from which the failed rank is re-executed. A store of the
 * rank's future belongs to an interval that it had not seen then. An older copy
 * is as right, and takes more diffs. `count` if there is none: the rank cannot
 * be recovered from these copies.
 *
 * at_home: the copies are of the failed rank itself. Then it is the newest,
 * whatever its version: a store that was there when the rank took its
 * checkpoint does not depend on anything the rank did later. (This is why
 * ckpt_peer_minimum leaves out the home.)
 */
size_t ckpt_starting_copy(const uint64_t *versions, size_t count,
                          const uint64_t *restart, uint32_t n, bool at_home);

#endif
