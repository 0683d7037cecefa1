/* SPDX-License-Identifier: BSD-3-Clause */
/* An application that may send and receive at any time, in any order, and may
 * also stop sending or receiving for ever. With DEAF it never receives, which
 * shows that no step depends on its receiving. */

byte unsent = MESSAGES;

#define OTHER(me, n) (((me) + (n)) % RANKS)

/* If ranks are alike, the first message goes from rank 0 to rank 1; if nodes
 * are alike, it only goes from rank 0. Any other run equals one of these after
 * renaming. */
#if defined(RANKS_ARE_ALIKE) || defined(NODES_ARE_ALIKE)
#define MAY_SEND(me) (unsent > 0 && ((me) == 0 || unsent < MESSAGES))
#else
#define MAY_SEND(me) (unsent > 0)
#endif

/* Chooses any peer of `me`. In atomic. */
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

/* Sends the next message to the chosen peer. In atomic. */
inline put_message(me)
{
    d_step {
        unsent--;
        sent[PAIR(me, peer)]++;
        WIRE(me, peer, epoch[me]) ! sent[PAIR(me, peer)], epoch[me];
    }
}

/* A message from the n-th peer with the current colour has arrived. */
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
