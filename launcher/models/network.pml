/* SPDX-License-Identifier: BSD-3-Clause */
/* The network as the application sees it: between each two ranks one channel
 * for each colour, first in first out, with no order between the two. */

#ifndef RANKS
#define RANKS 3
#endif
#ifndef MESSAGES
#define MESSAGES 3 /* that the application sends in all, whoever sends them */
#endif

#define PAIR(from, to) ((from) * RANKS + (to))

/* How many cuts each rank has made; the parity is its colour. */
byte epoch[RANKS];

/* Messages since the start: the counters of the rank page. */
byte sent[RANKS * RANKS];
byte received[RANKS * RANKS];

#if defined(ONE_TWIN) || defined(MUTANT_ONE_COLOUR)
#define COLOUR(age) 0
#else
#define COLOUR(age) ((age) & 1)
#endif

/* A message is its number among those of its pair, and the sender's epoch,
 * which only the checks look at. */
chan wire[2 * RANKS * RANKS] = [MESSAGES] of { byte, byte };
#define WIRE(from, to, age) wire[2 * PAIR(from, to) + COLOUR(age)]

/* A message as it comes off the wire, and loop variables: within one step. */
hidden byte number, age, i, j, peer;
