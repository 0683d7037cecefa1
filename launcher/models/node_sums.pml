/* SPDX-License-Identifier: BSD-3-Clause */
/* The sums that the nodes of a sweep hold and send: for each rank the number of
 * messages that others had sent to it at their cuts. */

/* The checkpoint for which a node sweeps, and its sums. */
byte sweeps_for[VIRTUAL_NODES];
byte holds[VIRTUAL_NODES * RANKS];

/* A message has the number of the checkpoint; its sums are in `carried`. */
#define INBOX(node, from) ((node) * INBOXES + (from))
chan sweep[VIRTUAL_NODES * INBOXES] = [1] of { byte };
byte carried[VIRTUAL_NODES * INBOXES * RANKS];
byte sweep_messages;

/* A node has the counts of its ranks when all of them are cut. */
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

inline add_own_counts(node)
{
    sweeps_for[node]++;
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
}

/* The sum for one rank goes into the message to `to`. In d_step. */
inline hand_over(node, to, from, rank)
{
    carried[INBOX(to, from) * RANKS + rank] = holds[node * RANKS + rank];
    holds[node * RANKS + rank] = 0
}

inline send_sums(node, to, from)
{
    sweep[INBOX(to, from)] ! sweeps_for[node];
    sweep_messages = sweep_messages + (HOST(to) != HOST(node))
}

#define SUMS_ARRIVED(node, from) \
    (sweep[INBOX(node, from)] ? [eval(sweeps_for[node])])
#define SUMS_ASK(me, node, from) \
    (sweep[INBOX(node, from)] ? [eval(epoch[me] + 1)])

inline take_sums(node, from)
{
    sweep[INBOX(node, from)] ? _;
    for (j : 0 .. RANKS - 1) {
        holds[node * RANKS + j] =
            holds[node * RANKS + j] + carried[INBOX(node, from) * RANKS + j];
        carried[INBOX(node, from) * RANKS + j] = 0
    }
}
