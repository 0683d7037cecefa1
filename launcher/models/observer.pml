/* SPDX-License-Identifier: BSD-3-Clause */
/* Nobody waits for anybody: with one rank ASLEEP, that is, never cut, what is
 * on the wire when nothing moves any more waits for its receiver's cut, and for
 * nothing else. To be included last, as ranks are the first processes. */
#ifdef ASLEEP
active proctype observer()
{
    timeout ->
    d_step {
        for (i : 0 .. RANKS - 1) {
            for (j : 0 .. RANKS - 1) {
                assert(epoch[j] < epoch[i] ||
                       (empty(WIRE(i, j, 0)) && empty(WIRE(i, j, 1))));
            }
        }
        skip
    }
}
#endif
