/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Network sweeping with counts and colours. A rank is complete when it has as
 * many messages of the old colour as the sweep has counted. First-use markers
 * only let it accept messages of the new colour earlier.
 *
 * LINE: sweeps along a line of nodes instead of a hypercube. STAGGERED: the
 * coordinator asks only node 0; sweep messages and markers ask the others.
 */
#ifndef RANKS
#define RANKS 4
#endif
#ifndef NODES
#define NODES RANKS
#endif
#define RANKS_PER_NODE (RANKS / NODES)
#define NODE(rank) ((rank) / RANKS_PER_NODE)

#ifdef STAGGERED
#define IS_FIRST(rank) (NODE(rank) == 0)
#else
#define IS_FIRST(rank) true
#if RANKS == 4 && !defined(ASLEEP) && !defined(LINE)
#define NODES_ARE_ALIKE
#endif
#endif
#define COMPLETE_WITH_ALL(me) has_all[me]

/* The protocol's part of a rank: see rank.pml. */
#define SAVES(me) false
#define ASKED(me) (MARKER_HAS_COME(me) || SWEEP_HAS_COME(me))
#define finish_saving(me) skip
#define marker_was_sent(me) skip
#define marker_was_read(me) skip
#define message_was_logged(me) settle(NODE(me))
#define be_cut(me) \
    has_all[me] = false; cut(me); sweep_if_all_cut(me); settle(NODE(me))
#define forget(me) has_all[me] = false

#include "nonblocking.pml"
#include "collective.pml"
#ifdef LINE
#include "line.pml"
#else
#include "hypercube.pml"
#endif
#include "coordination.pml"

/* In this checkpoint: `me` has all messages that cross its cut; its node has
 * reported that for all its ranks (m_S). */
bool has_all[RANKS];
chan finished = [NODES] of { byte };

#ifdef MUTANT_COUNT_ALL_COLOURS
#define COUNTED(from, me) received[PAIR(from, me)]
#else
#define COUNTED(from, me) RECEIVED_OLD(from, me)
#endif

hidden byte total;
hidden byte completed;

#ifdef MUTANT_MISSING_COUNT
#define HAS_TOTAL(rank, node) true
#else
#define HAS_TOTAL(rank, node) (total == holds[node * RANKS + rank])
#endif

/* After each step that may complete a rank of the node. In d_step. */
inline settle(node)
{
    completed = false;
    if
    :: HAS_SWEPT(node) && sweeps_for[node] == epoch[FIRST_RANK(node)] &&
       sweeps_for[node] == epoch[LAST_RANK(node)] ->
        for (i : FIRST_RANK(node) .. LAST_RANK(node)) {
            total = 0;
            for (j : 0 .. RANKS - 1) {
                total = total + COUNTED(j, i)
            }
            if
            :: !has_all[i] && HAS_TOTAL(i, node) ->
                has_all[i] = true;
                completed = true
            :: else
            fi
        }
        if
        :: completed &&
           has_all[FIRST_RANK(node)] && has_all[LAST_RANK(node)] ->
            for (j : 0 .. RANKS - 1) {
                holds[node * RANKS + j] = 0
            }
            finished ! node
        :: else
        fi
    :: else
    fi
}

#include "rank.pml"

#define ME (_pid - RANKS)

active [VIRTUAL_NODES] proctype node()
{
end_running:
    do
    :: d_step { SWEEP_ARRIVED(ME) -> take_sweep(ME); settle(HOST(ME)) }
    od
}

active proctype coordinator()
{
    byte checkpoint = 0;
    bool under_way = false;

end_if_asleep:
    do
    :: d_step { MAY_BEGIN -> begin_checkpoint(); skip }
    :: d_step {
           full(finished) ->
           for (i : 0 .. NODES - 1) { finished ? _ }
           assert(sweep_messages == SWEEP_MESSAGES);
           sweep_messages = 0;
           commit();
           skip
       }
    :: ALL_IS_OVER -> break
    od
}

#include "observer.pml"
