/* SPDX-License-Identifier: BSD-3-Clause */
/* Chandy-Lamport with counts and colours: at its cut a rank sends a marker on
 * each channel that it has used; the checkpoint is committed when everybody
 * has received all of them and the messages that they announce. When all are cut
 * the coordinator tells all counts as well: with a COLLECTIVE, a rank may be cut inside,
 * and sends its markers only when it has come out.
 * STAGGERED: markers follow the saving, and the coordinator asks only the first
 * rank, and later those that no marker reaches. */
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

/* What a rank does with the protocol: see rank.pml. */
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

/* Cut, but the image is not there yet. */
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

/* The page has what all had sent at their cuts. In d_step. */
inline take_counts(me)
{
    order[me] ? COUNTS, _;
    for (i : 0 .. RANKS - 1) {
        count[PAIR(i, me)] = cut_sent[PAIR(i, me)];
    }
    tell_if_saved(me)
}

#include "rank.pml"

/* Not if all is complete already: CLOSE would follow at once. */
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

/* With each report the coordinator sees what there is to do. In d_step. */
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
