/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks that no rank waits for another. One rank is ASLEEP, that is, never
 * cut. When no process can move any more, messages on the wire may only wait
 * for their receiver's cut.
 *
 * To be included last, because ranks are the first processes.
 */
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
