/* SPDX-License-Identifier: BSD-3-Clause */
/* The network as seen by the application: between each pair of ranks one FIFO
 * channel for each colour. Messages of the two colours are not ordered. */

#ifndef RANKS
#define RANKS 3
#endif
#ifndef MESSAGES
#define MESSAGES 3 /* total number of messages that the application sends */
#endif

#define PAIR(from, to) ((from) * RANKS + (to))

/* Number of cuts of each rank; its parity is the rank's colour. */
byte epoch[RANKS];

/* Messages since the start: the counters of the rank page. */
byte sent[RANKS * RANKS];
byte received[RANKS * RANKS];

#if defined(ONE_TWIN) || defined(MUTANT_ONE_COLOUR)
#define COLOUR(age) 0
#else
#define COLOUR(age) ((age) & 1)
#endif

/* A message has its number among those of its pair, and the sender's epoch,
 * which only the checks use. */
chan wire[2 * RANKS * RANKS] = [MESSAGES] of { byte, byte };
#define WIRE(from, to, age) wire[2 * PAIR(from, to) + COLOUR(age)]

/* A message taken from the wire, and loop variables; used within one step. */
hidden byte number, age, i, j, peer;
