/* SPDX-License-Identifier: BSD-3-Clause */
/* Chandy-Lamport with counts and colours: at its cut a rank sends a marker on
 * each channel that it has used; the checkpoint is committed when everybody
 * has received all of them and the messages that they announce.
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

/* What a rank does with the protocol: see rank.pml. */
#define SAVES(me) saving[me]
#define ASKED(me) MARKER_HAS_COME(me)
#define marker_was_sent(me) tell_if_saved(me)
#define marker_was_read(me) tell_if_saved(me)
#define message_was_logged(me) tell_if_saved(me)
#define forget(me) skip

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
    mark_used_channels(me);
    tell_first(me);
}

inline be_cut(me)
{
    cut(me);
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
    :: open[me] && !saving[me] -> tell_news(me)
    :: else
    fi
}

#include "rank.pml"

/* With each report the coordinator sees what there is to do. In d_step. */
inline decide()
{
    if
    :: under_way && MAY_COMMIT -> commit()
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
    :: d_step { MAY_BEGIN -> forget_sums(); begin_checkpoint(); skip }
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
