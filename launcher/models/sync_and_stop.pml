/* SPDX-License-Identifier: BSD-3-Clause */
/* Sync-and-Stop: all ranks stop, the network is drained by counts, and all
 * ranks are saved. Each rank resumes when it is saved itself, independently of
 * the others. One twin is enough. */
#define ONE_TWIN
#define RANKS_ARE_ALIKE
#include "network.pml"
#include "checks.pml"
#include "application.pml"

#ifndef CHECKPOINTS
#define CHECKPOINTS 2
#endif

mtype = { STOP, DRAIN };
chan order[RANKS] = [1] of { mtype };
chan stopped = [RANKS] of { byte };
chan saved = [RANKS] of { byte };
bool standing[RANKS];
bool draining[RANKS];

/* The content of DRAIN: the numbers of messages that all ranks had sent when
 * they stopped. */
byte expected[RANKS * RANKS];

inline expect_what_was_sent()
{
    for (i : 0 .. RANKS * RANKS - 1) {
        expected[i] = sent[i];
    }
}

#define HAS_ALL(me, n) \
    (received[PAIR(OTHER(me, n), me)] == expected[PAIR(OTHER(me, n), me)])
#define TOTAL(counter, me) \
    (counter[PAIR(OTHER(me, 1), me)] + counter[PAIR(OTHER(me, 2), me)])

#ifdef MUTANT_DRAIN_BY_TOTAL
#define LACKS(me, n) (TOTAL(received, me) < TOTAL(expected, me))
#define DRAINED(me) (TOTAL(received, me) == TOTAL(expected, me))
#else
#define LACKS(me, n) (!HAS_ALL(me, n))
#define DRAINED(me) (HAS_ALL(me, 1) && HAS_ALL(me, 2))
#endif
#ifdef MUTANT_MISSING_COUNT
#undef DRAINED
#define DRAINED(me) true
#endif

inline drain_message(me, n)
{
    WIRE(OTHER(me, n), me, epoch[me]) ? number, age;
    check_receipt(me, OTHER(me, n));
    check_logged(me, OTHER(me, n));
}

#define DRAINS(me, n) \
    (draining[me] && LACKS(me, n) && nempty(WIRE(OTHER(me, n), me, epoch[me])))

active [RANKS] proctype rank()
{
end_running:
    do
    :: atomic { !standing[_pid] && MAY_SEND(_pid) ->
           choose_peer(_pid); put_message(_pid) }
    :: d_step { !standing[_pid] && ARRIVED(_pid, 1) -> get_message(_pid, 1) }
    :: d_step { !standing[_pid] && ARRIVED(_pid, 2) -> get_message(_pid, 2) }
    :: d_step { order[_pid] ? [STOP] ->
           order[_pid] ? STOP; standing[_pid] = true;
           record_cut(_pid); stopped ! _pid }
    :: d_step { order[_pid] ? [DRAIN] ->
           order[_pid] ? DRAIN; draining[_pid] = true }
    :: d_step { DRAINS(_pid, 1) -> drain_message(_pid, 1) }
    :: d_step { DRAINS(_pid, 2) -> drain_message(_pid, 2) }
    :: d_step { draining[_pid] && DRAINED(_pid) ->
           draining[_pid] = false; standing[_pid] = false; saved ! _pid }
    od
}

active proctype coordinator()
{
    byte checkpoint = 0;

    do
    :: checkpoint < CHECKPOINTS ->
        d_step {
            checkpoint++;
            for (i : 0 .. RANKS - 1) { order[i] ! STOP }
#ifdef MUTANT_EARLY_COUNT
            expect_what_was_sent();
#endif
            skip
        }
        d_step {
            full(stopped) ->
            for (i : 0 .. RANKS - 1) { stopped ? _ }
#ifndef MUTANT_EARLY_COUNT
            expect_what_was_sent();
#endif
            for (i : 0 .. RANKS - 1) { order[i] ! DRAIN }
            skip
        }
        d_step {
            full(saved) ->
            for (i : 0 .. RANKS - 1) { saved ? _ }
            check_commit(checkpoint);
            skip
        }
    :: else -> break
    od
}
