/* SPDX-License-Identifier: BSD-3-Clause */
/* What Chandy-Lamport and network sweeping have in common: a rank is cut and
 * goes on at once, logs what crosses its cut, and takes messages of the new
 * colour only when it has all of the old one that their sender has sent. */
#include "network.pml"
#include "checks.pml"
#include "application.pml"

#ifndef CHECKPOINTS
#define CHECKPOINTS 2
#endif

/* From the cut until the rank knows that the checkpoint is over. */
bool open[RANKS];

/* Markers travel between agents: they keep their order, but not one with the
 * messages. The count is the sender's at its cut. */
chan marker[RANKS * RANKS] = [CHECKPOINTS] of { byte /* epoch */, byte };

/* In this checkpoint: whether a rank has sent its marker to a peer, and what
 * the receiver knows of the count. */
#define UNKNOWN 255
bool marked[RANKS * RANKS];
byte count[RANKS * RANKS] = UNKNOWN;

#define KNOWN(from, me) (count[PAIR(from, me)] != UNKNOWN)

/* `me` has all that `from` sent before its cut. */
#ifdef MUTANT_MISSING_COUNT
#define COMPLETE(from, me) KNOWN(from, me)
#elif defined(MUTANT_UNAWAITED_MARKER)
#define COMPLETE(from, me) \
    (!KNOWN(from, me) || RECEIVED_OLD(from, me) == count[PAIR(from, me)])
#else
#define COMPLETE(from, me) \
    (KNOWN(from, me) && RECEIVED_OLD(from, me) == count[PAIR(from, me)])
#endif

/* `me` may take messages of the new colour from its n-th peer. */
#define ACCEPTS(me, n) \
    (!open[me] || COMPLETE(OTHER(me, n), me) || COMPLETE_WITH_ALL(me))

/* A message from before the n-th peer's cut is there, `me` being cut. */
#define OLD_ARRIVED(me, n) \
    (open[me] && nempty(WIRE(OTHER(me, n), me, epoch[me] - 1)))

/* A marker of the n-th peer that asks `me` to be cut, or that it can read. */
#define MARKER_ASKS(me, n) \
    (marker[PAIR(OTHER(me, n), me)] ?? [eval(epoch[me] + 1), _])
#if RANKS > 3
#define MARKER_HAS_COME(me) \
    (MARKER_ASKS(me, 1) || MARKER_ASKS(me, 2) || MARKER_ASKS(me, 3))
#else
#define MARKER_HAS_COME(me) (MARKER_ASKS(me, 1) || MARKER_ASKS(me, 2))
#endif
#define MARKER_READABLE(me, n) \
    (nempty(marker[PAIR(OTHER(me, n), me)]) && \
     !(marker[PAIR(OTHER(me, n), me)] ? [eval(epoch[me] + 1), _]))

/* The count belongs to the cut and not to the moment of sending. */
#ifdef MUTANT_LATE_COUNT
#define ANNOUNCED(me, to) sent[PAIR(me, to)]
#else
#define ANNOUNCED(me, to) cut_sent[PAIR(me, to)]
#endif

inline send_marker(me, to)
{
    marked[PAIR(me, to)] = true;
    marker[PAIR(me, to)] ! epoch[me], ANNOUNCED(me, to);
}

/* Before the chosen peer gets a message. In atomic. */
inline mark_first_use(me)
{
    if
#ifndef MUTANT_NO_FIRST_USE
    :: d_step { open[me] && !marked[PAIR(me, peer)] ->
           send_marker(me, peer); marker_was_sent(me) }
#endif
    :: else
    fi
}

/* The application sends, the marker first. In atomic. */
inline send_message(me)
{
    choose_peer(me);
#ifdef MUTANT_LATE_COUNT
    put_message(me);
    mark_first_use(me)
#else
    mark_first_use(me);
    put_message(me)
#endif
}

/* In d_step. */
inline cut(me)
{
    record_cut(me);
    open[me] = true;
    for (i : 0 .. RANKS - 1) {
        marked[PAIR(me, i)] = false;
        count[PAIR(i, me)] = UNKNOWN;
    }
}

inline log_message(me, n)
{
    WIRE(OTHER(me, n), me, epoch[me] - 1) ? number, age;
    check_receipt(me, OTHER(me, n));
    check_logged(me, OTHER(me, n));
}

/* One that comes late, of a checkpoint that is over, is dropped. */
inline read_marker(me, n)
{
    marker[PAIR(OTHER(me, n), me)] ? age, number;
    if
    :: open[me] && age == epoch[me] -> count[PAIR(OTHER(me, n), me)] = number
    :: else
    fi
}

/* The checkpoint is over for `me`. What is of no use any more is forgotten. */
inline close(me)
{
    open[me] = false;
    for (i : 0 .. RANKS - 1) {
        marked[PAIR(me, i)] = false;
        count[PAIR(i, me)] = UNKNOWN;
        logged[PAIR(i, me)] = 0;
        cut_received[PAIR(i, me)] = 0;
    }
}

#ifdef MUTANT_LATE_CUT
/* A message of the next colour is taken first, and then starts the cut. */
#define NEW_ARRIVED(me, n) \
    (AWAKE(me) && !open[me] && \
     nempty(WIRE(OTHER(me, n), me, epoch[me] + 1)))

inline get_new(me, n)
{
    WIRE(OTHER(me, n), me, epoch[me] + 1) ? number, age;
    check_receipt(me, OTHER(me, n));
}
#endif
