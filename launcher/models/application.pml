/* SPDX-License-Identifier: BSD-3-Clause */
/* An application that sends and receives whatever it likes, whenever it may,
 * and owes nobody anything: it may also never send or receive again.
 * With DEAF it never receives, so that nothing can depend on it. */

byte unsent = MESSAGES;

#define OTHER(me, n) (((me) + (n)) % RANKS)

/* Where ranks are alike, let the first message go from rank 0 to rank 1, or
 * just from rank 0: any other run is one of these with other names. */
#if defined(RANKS_ARE_ALIKE) || defined(NODES_ARE_ALIKE)
#define MAY_SEND(me) (unsent > 0 && ((me) == 0 || unsent < MESSAGES))
#else
#define MAY_SEND(me) (unsent > 0)
#endif

/* Any peer of `me`. In atomic. */
inline choose_peer(me)
{
    if
#ifdef RANKS_ARE_ALIKE
    :: unsent == MESSAGES -> peer = 1
    :: unsent < MESSAGES -> peer = OTHER(me, 1)
    :: unsent < MESSAGES -> peer = OTHER(me, 2)
#else
    :: peer = OTHER(me, 1)
    :: peer = OTHER(me, 2)
#if RANKS > 3
    :: peer = OTHER(me, 3)
#endif
#endif
    fi
}

/* The chosen peer gets the next message. In atomic. */
inline put_message(me)
{
    d_step {
        unsent--;
        sent[PAIR(me, peer)]++;
        WIRE(me, peer, epoch[me]) ! sent[PAIR(me, peer)], epoch[me];
    }
}

/* A message from the n-th peer is there, and its colour is the present one. */
#ifdef DEAF
#define ARRIVED(me, n) false
#else
#define ARRIVED(me, n) nempty(WIRE(OTHER(me, n), me, epoch[me]))
#endif

inline get_message(me, n)
{
    WIRE(OTHER(me, n), me, epoch[me]) ? number, age;
    check_receipt(me, OTHER(me, n));
    check_not_logged(me);
}
