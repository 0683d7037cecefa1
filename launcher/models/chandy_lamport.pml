/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Chandy-Lamport with counts and colours. At its cut a rank sends a marker on each
 * channel that it has used. The coordinator commits the checkpoint when all ranks have
 * received all markers, and all messages that the markers announce. When all ranks are
 * cut, the coordinator also sends all counts to all ranks. The reason: with a
 * COLLECTIVE, a rank may be cut inside the collective, and then sends its markers only
 * after it has left.
 *
 * STAGGERED: a rank sends its markers after its image is saved. The coordinator asks
 * only the first rank, and later the ranks that no marker reaches.
 */
#define COMPLETE_WITH_ALL(me) false
#ifdef STAGGERED
#define IS_FIRST(rank) ((rank) == 0)
#else
#define IS_FIRST(rank) true
#ifndef ASLEEP
#define RANKS_ARE_ALIKE
#endif
#endif
#define ORDERS_OF_A_CHECKPOINT 3

/* The protocol's part of a rank: see rank.pml. */
#define SAVES(me) saving[me]
#define ASKED(me) MARKER_HAS_COME(me)
#define marker_was_sent(me) tell_if_saved(me)
#define marker_was_read(me) tell_if_saved(me)
#define message_was_logged(me) tell_if_saved(me)
#define forget(me) skip
#define COUNTS_HAVE_COME(me) (order[me] ? [COUNTS, _])

#include "nonblocking.pml"
#include "collective.pml"
#include "coordination.pml"
#include "marker_sums.pml"

/* The rank is cut, but its image is not saved yet. */
bool saving[RANKS];

inline mark_used_channels(me)
{
    for (j : 0 .. RANKS - 1) {
        if
        :: cut_sent[PAIR(me, j)] > 0 && !marked[PAIR(me, j)] ->
            send_marker(me, j)
        :: else
        fi
    }
}

inline finish_saving(me)
{
    saving[me] = false;
    if
    :: OUTSIDE(me) -> mark_used_channels(me)
    :: else
    fi
    tell_first(me);
}

inline be_cut(me)
{
    cut(me);
    open_gate(me);
#ifdef STAGGERED
    saving[me] = true;
#else
    finish_saving(me);
#endif
    skip
}

inline tell_if_saved(me)
{
    if
    :: open[me] && !saving[me] && OUTSIDE(me) -> tell_news(me)
    :: else
    fi
}

inline come_out(me)
{
    if
    :: open[me] && !saving[me] -> mark_used_channels(me)
    :: else
    fi
    tell_if_saved(me)
}

/* The rank page has the counts of all ranks at their cuts. In d_step. */
inline take_counts(me)
{
    order[me] ? COUNTS, _;
    for (i : 0 .. RANKS - 1) {
        count[PAIR(i, me)] = cut_sent[PAIR(i, me)];
    }
    tell_if_saved(me)
}

#include "rank.pml"

/* Not if all logs are complete already: CLOSE would follow at once. */
bool counts_told;
#ifdef MUTANT_COUNTS_NOT_TOLD
#define MUST_TELL_COUNTS false
#else
#define MUST_TELL_COUNTS (ALL_REPORTED && !counts_told)
#endif

inline tell_counts()
{
    counts_told = true;
    for (i : 0 .. RANKS - 1) {
        order[i] ! COUNTS, checkpoint;
    }
}

/* After each report the coordinator decides on its next step. In d_step. */
inline decide()
{
    if
    :: under_way && MAY_COMMIT -> commit()
    :: under_way && !MAY_COMMIT && MUST_TELL_COUNTS -> tell_counts()
#ifdef STAGGERED
    :: under_way && NOBODY_ON_THE_WAY -> ask_next()
#endif
    :: else
    fi
}

active proctype coordinator()
{
    byte checkpoint = 0;
    bool under_way = false;

end_if_asleep:
    do
    :: d_step { MAY_BEGIN -> counts_told = false; forget_sums(); begin_checkpoint(); skip }
    :: d_step { nempty(report[0]) -> take_report(0); decide() }
    :: d_step { nempty(report[1]) -> take_report(1); decide() }
    :: d_step { nempty(report[2]) -> take_report(2); decide() }
#ifdef MUTANT_GIVEN_UP_AT_ONCE
    :: d_step { under_way -> declare_over(); skip }
#endif
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
