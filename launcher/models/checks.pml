/* SPDX-License-Identifier: BSD-3-Clause */
/* Properties that must hold in every run, at each receipt and at each
 * commit. */

/* The counters at the last cut of the sender and of the receiver, and the
 * number of messages of the pair that the receiver has logged since. */
byte cut_sent[RANKS * RANKS];
byte cut_received[RANKS * RANKS];
byte logged[RANKS * RANKS];

/* Messages of a pair, sent before the sender's cut, that the receiver has
 * received. */
#define RECEIVED_OLD(from, to) \
    (cut_received[PAIR(from, to)] + logged[PAIR(from, to)])

/* Rank `me` is cut here. In d_step. */
inline record_cut(me)
{
    for (i : 0 .. RANKS - 1) {
        cut_sent[PAIR(me, i)] = sent[PAIR(me, i)];
        cut_received[PAIR(i, me)] = received[PAIR(i, me)];
        logged[PAIR(i, me)] = 0;
    }
    epoch[me]++;
}

/* `me` has received (number, age) from `from`. In d_step. */
inline check_receipt(me, from)
{
    assert(age <= epoch[me]);     /* the cut is consistent */
    assert(epoch[me] <= age + 1); /* no message crosses two cuts */
    received[PAIR(from, me)]++;
    assert(number == received[PAIR(from, me)]); /* MPI's order */
}

/* The message went to the application and not to the log. */
inline check_not_logged(me)
{
    assert(age == epoch[me]); /* the message does not cross the cut */
}

/* The message went to the log, which is also the application's queue. */
inline check_logged(me, from)
{
    logged[PAIR(from, me)]++;
    assert(age + 1 == epoch[me]); /* the message crosses the cut */
    assert(number == RECEIVED_OLD(from, me));
}

/* Commits checkpoint `which` with the current logs. In d_step. */
inline check_commit(which)
{
    for (i : 0 .. RANKS - 1) {
        assert(epoch[i] == which);
        for (j : 0 .. RANKS - 1) {
            assert(cut_received[PAIR(i, j)] <= cut_sent[PAIR(i, j)]);
            assert(RECEIVED_OLD(i, j) == cut_sent[PAIR(i, j)]);
        }
    }
}
