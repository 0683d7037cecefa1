/* SPDX-License-Identifier: BSD-3-Clause */
/* The sweep over a virtual hypercube: one exchange in each dimension. */

/* Virtual nodes fill up the hypercube to a power of two; real nodes host the
 * last ones. */
#if NODES == 2
#define VIRTUAL_NODES 2
#define DIMENSIONS 1
#define SWEEP_MESSAGES 2
#elif NODES == 3
#define VIRTUAL_NODES 4
#define DIMENSIONS 2
#define SWEEP_MESSAGES 6
#elif NODES == 4
#define VIRTUAL_NODES 4
#define DIMENSIONS 2
#define SWEEP_MESSAGES 8
#endif
#define HOST(node) ((node) - ((node) >= NODES) * (VIRTUAL_NODES / 2))
#define PARTNER(node, dimension) ((node) ^ (1 << (dimension)))

/* The dimension whose message a node awaits; DIMENSIONS: the node has finished
 * its sweep. */
#define INBOXES DIMENSIONS
byte stage[VIRTUAL_NODES] = DIMENSIONS;
#define SWEPT(node) (stage[node] == DIMENSIONS)
#include "node_sums.pml"

#if NODES < VIRTUAL_NODES
#define HOSTED(node) ((node) + VIRTUAL_NODES / 2)
#define IS_HOST(node) (HOSTED(node) >= NODES && HOSTED(node) < VIRTUAL_NODES)
#define HAS_SWEPT(node) \
    (SWEPT(node) && (!IS_HOST(node) || SWEPT(HOSTED(node))))
#else
#define HAS_SWEPT(node) SWEPT(node)
#endif

/* Sends the sums for ranks on the partner's side. In d_step. */
inline send_sweep(node, dimension)
{
    peer = PARTNER(node, dimension);
    for (j : 0 .. RANKS - 1) {
        if
        :: ((NODE(j) ^ peer) >> dimension) & 1 -> skip
        :: else -> hand_over(node, peer, dimension, j)
        fi
    }
    send_sums(node, peer, dimension)
}

inline begin_sweep(node)
{
    stage[node] = 0;
    add_own_counts(node);
    send_sweep(node, 0);
#ifdef MUTANT_UNORDERED_DIMENSIONS
    send_sweep(node, 1)
#endif
}

/* `me` has just been cut. */
inline sweep_if_all_cut(me)
{
    if
    :: MAY_SWEEP(NODE(me)) ->
        begin_sweep(NODE(me));
#if NODES < VIRTUAL_NODES && !defined(MUTANT_VIRTUAL_NODE_ABSENT)
        if
        :: IS_HOST(NODE(me)) -> begin_sweep(HOSTED(NODE(me)))
        :: else
        fi
#endif
    :: else
    fi
}

#define SWEEP_ARRIVED(node) (!SWEPT(node) && SUMS_ARRIVED(node, stage[node]))

inline take_sweep(node)
{
    take_sums(node, stage[node]);
    stage[node]++;
    if
#ifndef MUTANT_UNORDERED_DIMENSIONS
    :: stage[node] < DIMENSIONS -> send_sweep(node, stage[node])
#endif
    :: else
    fi
}

/* A sweep message of the next checkpoint has arrived at the node of `me`. */
#define NODE_ASKS(me, node) \
    (SUMS_ASK(me, node, 0) || SUMS_ASK(me, node, DIMENSIONS - 1))
#if NODES < VIRTUAL_NODES
#define SWEEP_HAS_COME(me) \
    (NODE_ASKS(me, NODE(me)) || \
     (NODE(me) == HOST(VIRTUAL_NODES - 1) && NODE_ASKS(me, VIRTUAL_NODES - 1)))
#else
#define SWEEP_HAS_COME(me) NODE_ASKS(me, NODE(me))
#endif
