/* SPDX-License-Identifier: BSD-3-Clause */
/* A checkpoint of a program whose ranks report that they have sent no message since
 * the last one; it needs neither markers nor a sweep. With its cut each rank reports
 * whether it has sent a message after all. If one has, the coordinator sends all
 * counts. In this model the coordinator always assumes quiet, so it is wrong as often
 * as possible. First-use markers are sent as in the other protocols. */
#define COMPLETE_WITH_ALL(me) false
#define IS_FIRST(rank) true
#ifndef ASLEEP
#define RANKS_ARE_ALIKE
#endif
#define ORDERS_OF_A_CHECKPOINT 3

/* The protocol's part of a rank: see rank.pml. */
#define SAVES(me) false
#define ASKED(me) MARKER_HAS_COME(me)
#define finish_saving(me) skip
#define marker_was_sent(me) skip
#define marker_was_read(me) tell_if_complete(me)
#define message_was_logged(me) tell_if_complete(me)
#define forget(me) remember_counts(me)
#define COUNTS_HAVE_COME(me) (order[me] ? [COUNTS, _])

#include "nonblocking.pml"
#include "collective.pml"
#include "coordination.pml"

/* HAS_BEEN_CUT: the rank was cut; tells whether it has sent messages. HAS_ALL: it has
 * received all. */
mtype = { HAS_BEEN_CUT, HAS_ALL };
chan report[RANKS] = [6] of { byte /* epoch */, mtype, byte };

/* Counts at the last completed cut; all these messages have been received. */
byte sent_before[RANKS * RANKS];
bool told_complete[RANKS];
hidden byte any;

inline remember_counts(me)
{
    for (i : 0 .. RANKS - 1) {
        sent_before[PAIR(me, i)] = cut_sent[PAIR(me, i)];
    }
}

inline be_cut(me)
{
    cut(me);
    told_complete[me] = false;
    any = false;
    for (i : 0 .. RANKS - 1) {
        any = any || cut_sent[PAIR(me, i)] != sent_before[PAIR(me, i)];
    }
    report[me] ! epoch[me], HAS_BEEN_CUT, any;
}

inline tell_if_complete(me)
{
    any = !open[me] || told_complete[me];
    for (i : 0 .. RANKS - 1) {
        any = any || (i != me && !COMPLETE(i, me));
    }
    if
    :: !any -> told_complete[me] = true; report[me] ! epoch[me], HAS_ALL, true
    :: else
    fi
}

/* The rank page has the counts of all ranks at their cuts. In d_step. */
inline take_counts(me)
{
    order[me] ? COUNTS, _;
    for (i : 0 .. RANKS - 1) {
        count[PAIR(i, me)] = cut_sent[PAIR(i, me)];
    }
    tell_if_complete(me)
}

bool reported[RANKS];
bool has_all[RANKS];
bool is_loud, counts_told;

#define ALL(list) (list[0] && list[1] && list[2])
#ifdef MUTANT_QUIET_UNCHECKED
#define IS_LOUD false
#else
#define IS_LOUD is_loud
#endif

inline forget_reports()
{
    for (i : 0 .. RANKS - 1) {
        reported[i] = false;
        has_all[i] = false;
    }
    is_loud = false;
    counts_told = false;
}

hidden mtype kind;

inline take_report(rank)
{
    report[rank] ? age, kind, any;
    if
    :: age == checkpoint && kind == HAS_BEEN_CUT ->
        reported[rank] = true;
        is_loud = is_loud || any
    :: age == checkpoint && kind == HAS_ALL -> has_all[rank] = true
    :: else
    fi
}

inline tell_counts()
{
    counts_told = true;
    for (i : 0 .. RANKS - 1) {
        order[i] ! COUNTS, checkpoint;
    }
}

/* In d_step. */
inline decide()
{
    if
    :: under_way && ALL(reported) && !IS_LOUD -> commit()
    :: under_way && ALL(reported) && IS_LOUD && !counts_told -> tell_counts()
    :: under_way && counts_told && ALL(has_all) -> commit()
    :: else
    fi
}

#include "rank.pml"

active proctype coordinator()
{
    byte checkpoint = 0;
    bool under_way = false;

end_if_asleep:
    do
    :: d_step { MAY_BEGIN -> forget_reports(); begin_checkpoint(); skip }
    :: d_step { nempty(report[0]) -> take_report(0); decide() }
    :: d_step { nempty(report[1]) -> take_report(1); decide() }
    :: d_step { nempty(report[2]) -> take_report(2); decide() }
    :: ALL_IS_OVER -> break
    od;
end_all_is_over:
    do
    :: report[0] ? _, _, _
    :: report[1] ? _, _, _
    :: report[2] ? _, _, _
    od
}

#include "observer.pml"
