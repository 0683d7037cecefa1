/* SPDX-License-Identifier: BSD-3-Clause */
/* How Chandy-Lamport's coordinator detects that all logs are complete (m_S).
 * For used channels each rank reports two numbers: the markers that it
 * sends, known at its cut, and the markers that it has received and is
 * complete with. When all ranks have reported and the sums are equal, no
 * marker is in transit. */
chan report[RANKS] = [6] of { byte /* epoch */, byte, byte };
byte told_sent[RANKS];
byte told_taken[RANKS];

/* Neither sum counts first-use markers. They are sent at any time, so numbers
 * reported at different times could have equal sums by chance. */
#ifdef MUTANT_FIRST_USE_IN_SUMS
#define COUNTED_SENT(me, to) marked[PAIR(me, to)]
#define COUNTED_TAKEN(from, me) KNOWN(from, me)
#else
#define COUNTED_SENT(me, to) (cut_sent[PAIR(me, to)] > 0)
#define COUNTED_TAKEN(from, me) (KNOWN(from, me) && count[PAIR(from, me)] > 0)
#endif

hidden byte sends, takes;
hidden byte waits;

inline add_up(me)
{
    sends = 0;
    takes = 0;
    waits = false;
    for (i : 0 .. RANKS - 1) {
        sends = sends + COUNTED_SENT(me, i);
        takes = takes + COUNTED_TAKEN(i, me);
        waits = waits || (KNOWN(i, me) && !COMPLETE(i, me));
    }
}

/* The image of `me` is saved; from now on `me` is in the sums. In d_step. */
inline tell_first(me)
{
    add_up(me);
    told_sent[me] = sends;
    told_taken[me] = (waits -> 0 : takes);
    report[me] ! epoch[me], told_sent[me], told_taken[me];
}

/* Reports changed numbers; nothing while the rank waits for messages. */
inline tell_news(me)
{
    add_up(me);
    if
    :: waits -> takes = told_taken[me]
    :: else
    fi
    if
    :: told_sent[me] != sends || told_taken[me] != takes ->
        told_sent[me] = sends;
        told_taken[me] = takes;
        report[me] ! epoch[me], sends, takes
    :: else
    fi
}

/* The reports that the coordinator has received. */
byte sum_sent[RANKS];
byte sum_taken[RANKS];
bool reported[RANKS];
bool asked[RANKS];

#define ALL_REPORTED (reported[0] && reported[1] && reported[2])
#define SUM(numbers) (numbers[0] + numbers[1] + numbers[2])
#define SUMS_ARE_EQUAL (SUM(sum_sent) == SUM(sum_taken))
#ifdef MUTANT_UNCOMPARED_SUMS
#define MAY_COMMIT (ALL_REPORTED)
#else
#define MAY_COMMIT (ALL_REPORTED && SUMS_ARE_EQUAL)
#endif

inline forget_sums()
{
    for (i : 0 .. RANKS - 1) {
        sum_sent[i] = 0;
        sum_taken[i] = 0;
        reported[i] = false;
        asked[i] = IS_FIRST(i);
    }
}

inline take_report(rank)
{
    report[rank] ? age, sends, takes;
    if
    :: age == checkpoint ->
        reported[rank] = true;
        sum_sent[rank] = sends;
        sum_taken[rank] = takes
    :: else
    fi
}

/* Staggered: no marker will make a rank save, and no rank has an unanswered
 * request. */
#define IDLE(rank) (reported[rank] || !asked[rank])
#ifdef MUTANT_NOBODY_ASKED
#define NOBODY_ON_THE_WAY false
#else
#define NOBODY_ON_THE_WAY \
    (!ALL_REPORTED && SUMS_ARE_EQUAL && IDLE(0) && IDLE(1) && IDLE(2))
#endif

inline ask_next()
{
    i = 0;
    do
    :: reported[i] -> i++
    :: else -> break
    od
    asked[i] = true;
    order[i] ! REQUEST, checkpoint;
}
