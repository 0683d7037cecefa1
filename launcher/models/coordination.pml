/* SPDX-License-Identifier: BSD-3-Clause */
/* The start and end of a checkpoint that does not stop ranks: the coordinator's
 * orders to the ranks. The coordinator requests the next checkpoint only after
 * all ranks have acknowledged the end of the last one, in their reports of the
 * alignment. */

mtype = { REQUEST, OVER, COUNTS };
#ifndef ORDERS_OF_A_CHECKPOINT
#define ORDERS_OF_A_CHECKPOINT 2
#endif
chan order[RANKS] =
    [ORDERS_OF_A_CHECKPOINT * CHECKPOINTS] of { mtype, byte /* epoch */ };
byte known_over[RANKS]; /* last checkpoint known to be over */

/* One rank may never become able to be cut. Only the coordinator, and ranks
 * that want its messages, may wait for it. */
#ifdef ASLEEP
#define AWAKE(me) ((me) != ASLEEP)
#define end_if_asleep end_never_over
#else
#define AWAKE(me) true
#define end_if_asleep not_over
#endif

#define REQUESTED(me) \
    (AWAKE(me) && order[me] ? [REQUEST, eval(epoch[me] + 1)])
#define REQUESTED_TWICE(me) \
    (order[me] ? [REQUEST, _] && !(order[me] ? [REQUEST, eval(epoch[me] + 1)]))
#define IS_OVER(me) (order[me] ? [OVER, _])

inline take_over(me)
{
    order[me] ? OVER, age;
    if
    :: age == epoch[me] -> close(me)
#ifdef MUTANT_GIVEN_UP_AT_ONCE
    :: age == epoch[me] + 1 -> cut(me); close(me)
#endif
    :: else
    fi;
    known_over[me] = age
}

#define KNOWS_OF_END(me) (known_over[me] == checkpoint)
#if RANKS == 3
#define ALL_KNOW_OF_END (KNOWS_OF_END(0) && KNOWS_OF_END(1) && KNOWS_OF_END(2))
#else
#define ALL_KNOW_OF_END \
    (KNOWS_OF_END(0) && KNOWS_OF_END(1) && KNOWS_OF_END(2) && KNOWS_OF_END(3))
#endif
#ifdef MUTANT_UNACKNOWLEDGED
#define LAST_IS_OVER (true)
#else
#define LAST_IS_OVER ALL_KNOW_OF_END
#endif
#define MAY_BEGIN \
    (checkpoint < CHECKPOINTS && !under_way && LAST_IS_OVER && IS_ALIGNED)
#define ALL_IS_OVER \
    (checkpoint == CHECKPOINTS && !under_way && ALL_KNOW_OF_END && \
     ALL_HAVE_LEFT)

/* Called by the coordinator. In d_step. */
inline begin_checkpoint()
{
    checkpoint++;
    under_way = true;
    shut_gates();
    for (i : 0 .. RANKS - 1) {
        if
        :: IS_FIRST(i) -> order[i] ! REQUEST, checkpoint
        :: else
        fi
    }
}

inline declare_over()
{
    under_way = false;
    for (i : 0 .. RANKS - 1) {
        order[i] ! OVER, checkpoint
    }
}

/* An abandoned checkpoint gets here, too, although its images are discarded.
 * Its cut is completed, because some ranks have been cut. */
inline commit()
{
    check_commit(checkpoint);
    declare_over()
}
