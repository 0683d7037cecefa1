/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Alignment before a cut that does not stop ranks: each collective is on one
 * side of the cut for all its members, and every rank reaches its cut.
 *
 * The program is correct, and it matters when ranks may be cut. Rank 0 sends to
 * rank 1, which needs the message before it enters a collective with rank 2 (a
 * broadcast). Rank 2 does not wait in the collective. Rank 0 is not a member of
 * that communicator, so it is aligned at once.
 */

#ifndef ROUNDS
#define ROUNDS 2 /* rounds in the life of the program */
#endif
#define SENDER 0
#define LEAF 1
#define ROOT 2
#define RANKS 3

/* The rank page: collectives entered and left, and the number that may be
 * entered. */
byte entered[RANKS];
byte left[RANKS];
byte target[RANKS];

/* `gated`: the rank has reported, and enters no collective beyond its target.
 * `may_be_cut`: the coordinator has sent the rank the request that follows the
 * alignment. */
bool gated[RANKS];
bool may_be_cut[RANKS];
bool is_cut[RANKS];

/* A message travels in the twin of its sender's epoch. */
chan old_twin = [ROUNDS] of { bit };
chan new_twin = [ROUNDS] of { bit };

/* Bit mask of the collectives entered before the cut. */
byte entered_old[RANKS];

#define OPEN(me) (!gated[me] || entered[me] < target[me] || is_cut[me])
#define ALIGNED(me) (entered[me] == left[me] && left[me] >= target[me])
#define ALL_GATED (gated[0] && gated[1] && gated[2])
#define ALL_ALIGNED (ALIGNED(0) && ALIGNED(1) && ALIGNED(2))

inline enter(me)
{
    d_step {
        OPEN(me) ->
        entered_old[me] = entered_old[me] | (!is_cut[me] << entered[me]);
        entered[me]++;
    }
}

/* The application. */

active proctype sender()
{
    byte round = 0;

    do
    :: atomic { round < ROUNDS && !is_cut[SENDER] -> old_twin ! 1; round++ }
    :: atomic { round < ROUNDS && is_cut[SENDER] -> new_twin ! 1; round++ }
    :: round == ROUNDS -> break
    od
}

active proctype leaf()
{
    byte round = 0;

    do
    :: round < ROUNDS ->
        /* The old twin first; after the cut, the new one. */
        if
        :: old_twin ? _
        :: atomic { is_cut[LEAF] && empty(old_twin) && nempty(new_twin) ->
               new_twin ? _ }
        fi;
        enter(LEAF);
        atomic { entered[ROOT] >= entered[LEAF] -> left[LEAF]++ };
        round++
    :: else -> break
    od
}

active proctype root()
{
    byte round = 0;

    do
    :: round < ROUNDS ->
        enter(ROOT);
        left[ROOT]++;
        round++
    :: else -> break
    od
}

/* Answers for a rank from a signal handler, wherever the rank is. */
active [RANKS] proctype service()
{
    byte me = _pid - 3;

    gated[me] = true;
    d_step {
        may_be_cut[me] && ALIGNED(me) -> is_cut[me] = true
    }
}

inline set_targets()
{
    d_step {
        target[LEAF] = entered[LEAF];
        if
        :: entered[ROOT] > entered[LEAF] -> target[LEAF] = entered[ROOT]
        :: else
        fi;
        target[ROOT] = target[LEAF]
    }
}

active proctype coordinator()
{
    byte rank;

    ALL_GATED;
    set_targets();
#ifndef MUTANT_ALIGNED_ALONE
    ALL_ALIGNED;
#endif
    for (rank : 0 .. RANKS - 1) {
        may_be_cut[rank] = true
    }
    is_cut[0] && is_cut[1] && is_cut[2];
    assert(entered_old[LEAF] == entered_old[ROOT])
}
