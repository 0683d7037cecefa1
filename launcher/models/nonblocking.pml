/* SPDX-License-Identifier: BSD-3-Clause */
/* The common part of Chandy-Lamport and network sweeping. A rank is cut,
 * continues at once, and logs messages that cross its cut. It accepts messages
 * of the new colour only when it has all messages of the old colour from their
 * sender. */
#include "network.pml"
#include "checks.pml"
#include "application.pml"

#ifndef CHECKPOINTS
#define CHECKPOINTS 2
#endif

/* From the cut until the rank knows that the checkpoint is over. */
bool open[RANKS];

/* Markers travel between agents. They keep their order among each other, but
 * not with messages. The count is that of the sender at its cut. */
chan marker[RANKS * RANKS] = [CHECKPOINTS] of { byte /* epoch */, byte };

/* In this checkpoint: whether a rank has sent its marker to a peer, and the
 * count that the receiver knows. */
#define UNKNOWN 255
bool marked[RANKS * RANKS];
byte count[RANKS * RANKS] = UNKNOWN;

#define KNOWN(from, me) (count[PAIR(from, me)] != UNKNOWN)

/* `me` has all messages that `from` sent before its cut. */
#ifdef MUTANT_MISSING_COUNT
#define COMPLETE(from, me) KNOWN(from, me)
#elif defined(MUTANT_UNAWAITED_MARKER)
#define COMPLETE(from, me) \
    (!KNOWN(from, me) || RECEIVED_OLD(from, me) == count[PAIR(from, me)])
#else
#define COMPLETE(from, me) \
    (KNOWN(from, me) && RECEIVED_OLD(from, me) == count[PAIR(from, me)])
#endif

/* `me` may accept messages of the new colour from its n-th peer. */
#define ACCEPTS(me, n) \
    (!open[me] || COMPLETE(OTHER(me, n), me) || COMPLETE_WITH_ALL(me))

/* `me` has been cut, and a message from before the n-th peer's cut has
 * arrived. */
#define OLD_ARRIVED(me, n) \
    (open[me] && nempty(WIRE(OTHER(me, n), me, epoch[me] - 1)))

/* MARKER_ASKS: a marker of the n-th peer asks `me` to be cut. MARKER_READABLE:
 * `me` can read a marker of the n-th peer. */
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

/* The count is that at the cut, not at the time of sending. */
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

/* Called before the chosen peer gets a message. In atomic. */
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

/* The application sends a message, after the marker. In atomic. */
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

/* Drops a late marker of a checkpoint that is over. */
inline read_marker(me, n)
{
    marker[PAIR(OTHER(me, n), me)] ? age, number;
    if
    :: open[me] && age == epoch[me] -> count[PAIR(OTHER(me, n), me)] = number
    :: else
    fi
}

/* The checkpoint is over for `me`, which forgets data that is no longer
 * needed. */
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
/* The mutant receives a message of the next colour first, and then starts the
 * cut. */
#define NEW_ARRIVED(me, n) \
    (AWAKE(me) && !open[me] && \
     nempty(WIRE(OTHER(me, n), me, epoch[me] + 1)))

inline get_new(me, n)
{
    WIRE(OTHER(me, n), me, epoch[me] + 1) ? number, age;
    check_receipt(me, OTHER(me, n));
}
#endif
