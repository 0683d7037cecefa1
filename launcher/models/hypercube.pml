/* SPDX-License-Identifier: BSD-3-Clause */
/* The sweep over a virtual hypercube: how each node learns how many messages
 * everybody had sent to its ranks when they were cut. */

#ifndef NODES
#define NODES RANKS
#endif
#define RANKS_PER_NODE (RANKS / NODES)
#define NODE(rank) ((rank) / RANKS_PER_NODE)

/* Virtual nodes make it a power of two; the last ones live on real nodes. */
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

/* The number of the checkpoint and, beside it, sums for all ranks. */
#define INBOX(node, dimension) ((node) * DIMENSIONS + (dimension))
chan sweep[VIRTUAL_NODES * DIMENSIONS] = [1] of { byte };
byte carried[VIRTUAL_NODES * DIMENSIONS * RANKS];

/* The sums that a node holds, the checkpoint it sweeps for, and the dimension
 * whose message it waits for: after the last one it has swept. */
byte holds[VIRTUAL_NODES * RANKS];
byte sweeps_for[VIRTUAL_NODES];
byte stage[VIRTUAL_NODES] = DIMENSIONS;
byte sweep_messages;
#define SWEPT(node) (stage[node] == DIMENSIONS)
#if NODES < VIRTUAL_NODES
#define HOSTED(node) ((node) + VIRTUAL_NODES / 2)
#define IS_HOST(node) (HOSTED(node) >= NODES && HOSTED(node) < VIRTUAL_NODES)
#define HAS_SWEPT(node) \
    (SWEPT(node) && (!IS_HOST(node) || SWEPT(HOSTED(node))))
#else
#define HAS_SWEPT(node) SWEPT(node)
#endif

/* A node has sums of its ranks when all of them are cut. */
#define IS_CUT(rank, node) (epoch[rank] == sweeps_for[node] + 1)
#define FIRST_RANK(node) (HOST(node) * RANKS_PER_NODE)
#define LAST_RANK(node) (FIRST_RANK(node) + RANKS_PER_NODE - 1)
#ifdef MUTANT_EARLY_SWEEP
#define MAY_SWEEP(node) \
    (IS_CUT(FIRST_RANK(node), node) || IS_CUT(LAST_RANK(node), node))
#define COUNT_OF(from, to) \
    (epoch[from] == sweeps_for[NODE(from)] -> cut_sent[PAIR(from, to)] : \
                                              sent[PAIR(from, to)])
#else
#define MAY_SWEEP(node) \
    (IS_CUT(FIRST_RANK(node), node) && IS_CUT(LAST_RANK(node), node))
#define COUNT_OF(from, to) cut_sent[PAIR(from, to)]
#endif

/* To the partner goes what is for ranks on its side. In d_step. */
inline send_sweep(node, dimension)
{
    peer = PARTNER(node, dimension);
    for (j : 0 .. RANKS - 1) {
        if
        :: ((NODE(j) ^ peer) >> dimension) & 1 -> skip
        :: else ->
            carried[INBOX(peer, dimension) * RANKS + j] =
                holds[node * RANKS + j];
            holds[node * RANKS + j] = 0
        fi
    }
    sweep[INBOX(peer, dimension)] ! sweeps_for[node];
    sweep_messages = sweep_messages + (HOST(peer) != HOST(node))
}

inline begin_sweep(node)
{
    sweeps_for[node]++;
    stage[node] = 0;
    for (i : FIRST_RANK(node) .. LAST_RANK(node)) {
        for (j : 0 .. RANKS - 1) {
            if
            :: node < NODES ->
                holds[node * RANKS + j] =
                    holds[node * RANKS + j] + COUNT_OF(i, j)
            :: else
            fi
        }
    }
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

#define SWEEP_ARRIVED(node) \
    (!SWEPT(node) && \
     sweep[INBOX(node, stage[node])] ? [eval(sweeps_for[node])])

inline take_sweep(node)
{
    sweep[INBOX(node, stage[node])] ? _;
    for (j : 0 .. RANKS - 1) {
        holds[node * RANKS + j] =
            holds[node * RANKS + j] +
            carried[INBOX(node, stage[node]) * RANKS + j];
        carried[INBOX(node, stage[node]) * RANKS + j] = 0
    }
    stage[node]++;
    if
#ifndef MUTANT_UNORDERED_DIMENSIONS
    :: stage[node] < DIMENSIONS -> send_sweep(node, stage[node])
#endif
    :: else
    fi
}

/* A sweep message of the next checkpoint has come to the node of `me`. */
#define HAS_COME(me, node, dimension) \
    (sweep[INBOX(node, dimension)] ? [eval(epoch[me] + 1)])
#define NODE_ASKS(me, node) \
    (HAS_COME(me, node, 0) || HAS_COME(me, node, DIMENSIONS - 1))
#if NODES < VIRTUAL_NODES
#define SWEEP_HAS_COME(me) \
    (NODE_ASKS(me, NODE(me)) || \
     (NODE(me) == HOST(VIRTUAL_NODES - 1) && NODE_ASKS(me, VIRTUAL_NODES - 1)))
#else
#define SWEEP_HAS_COME(me) NODE_ASKS(me, NODE(me))
#endif
