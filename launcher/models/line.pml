/* SPDX-License-Identifier: BSD-3-Clause */
/* The sweep over one line of a k-ary d-cube. Counts travel along the line in
 * both directions. Each node adds its own counts, and passes on those for nodes
 * beyond it. */
#define VIRTUAL_NODES NODES
#define HOST(node) (node)
#define SWEEP_MESSAGES (2 * (NODES - 1))

/* Inboxes by direction of travel. `awaited`: bit mask of the messages that a
 * node still awaits. */
#define UP 0
#define DOWN 1
#define INBOXES 2
byte awaited[VIRTUAL_NODES];
#define SWEPT(node) (awaited[node] == 0)
#define HAS_SWEPT(node) SWEPT(node)
#define IS_LAST(node, way) ((node) == ((way) == UP -> NODES - 1 : 0))
#include "node_sums.pml"

/* In d_step. */
inline pass_on(node, way)
{
    if
    :: !IS_LAST(node, way) ->
        peer = node + 1 - 2 * (way);
        for (j : 0 .. RANKS - 1) {
            if
            :: (way == UP -> NODE(j) > node : NODE(j) < node) ->
                hand_over(node, peer, way, j)
            :: else
            fi
        }
        send_sums(node, peer, way)
    :: else
    fi
}

/* `me` has just been cut. The nodes at the ends start, each in one
 * direction. */
inline sweep_if_all_cut(me)
{
    if
    :: MAY_SWEEP(NODE(me)) ->
        add_own_counts(NODE(me));
        awaited[NODE(me)] =
            !IS_LAST(NODE(me), DOWN) + 2 * !IS_LAST(NODE(me), UP);
#ifdef MUTANT_EARLY_LINE
        pass_on(NODE(me), UP);
        pass_on(NODE(me), DOWN)
#else
        if
        :: IS_LAST(NODE(me), DOWN) -> pass_on(NODE(me), UP)
        :: else
        fi;
        if
        :: IS_LAST(NODE(me), UP) -> pass_on(NODE(me), DOWN)
        :: else
        fi
#endif
    :: else
    fi
}

#define AWAITS(node, way) \
    ((awaited[node] & (1 << (way))) && SUMS_ARRIVED(node, way))
#define SWEEP_ARRIVED(node) (AWAITS(node, UP) || AWAITS(node, DOWN))

inline take_from(node, way)
{
    take_sums(node, way);
    awaited[node] = awaited[node] & ~(1 << (way));
#ifndef MUTANT_EARLY_LINE
    pass_on(node, way)
#endif
}

inline take_sweep(node)
{
    if
    :: AWAITS(node, UP) -> take_from(node, UP)
    :: else -> take_from(node, DOWN)
    fi
}

#define SWEEP_HAS_COME(me) \
    (SUMS_ASK(me, NODE(me), UP) || SUMS_ASK(me, NODE(me), DOWN))
