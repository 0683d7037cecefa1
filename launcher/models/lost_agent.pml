/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The loss of an agent during a checkpoint that does not stop ranks, and how the cut is
 * completed afterwards (CutProtocol::abandon, settle and finish_cut,
 * mpi-plugin/cut/service/answer.c and ending.c). Each node has one rank. The agents of the ranks
 * in IS_LOST are lost at any moment of the first checkpoint:
 *   default            the agent of rank 2; the coordinator survives
 *   COORDINATOR_LOST   the coordinator, with rank 0; the other agents connect to the next
 *   ALL_LOST           the coordinator on a single node: all ranks find another agent
 * SWEEP: ranks send no markers at their cuts, only at first use.
 */
#define RANKS 3
#define COMPLETE_WITH_ALL(me) false

#if defined(ALL_LOST)
#define IS_LOST(rank) true
#define COORDINATOR_LOST
#elif defined(COORDINATOR_LOST)
#define IS_LOST(rank) ((rank) == 0)
#else
#define IS_LOST(rank) ((rank) == 2)
#endif
#ifdef ALL_LOST
#define RANKS_ARE_ALIKE
#endif
#ifndef LOSSES
#define LOSSES 1
#endif

/* The protocol's part of a rank: see rank.pml. */
#define marker_was_sent(me) skip
#define marker_was_read(me) tell_if_complete(me)
#define message_was_logged(me) tell_if_complete(me)
#define come_out(me) mark_used_channels(me); tell_if_complete(me)
#define CUT_COMES(me) (order[me] ? [CUT, _] || order[me] ? [CUT_TO_FINISH, _])
#define MAY_OBEY(me) (nempty(order[me]) && (!CUT_COMES(me) || CAN_BE_CUT(me)))

#include "nonblocking.pml"
#include "collective.pml"

/* Orders pass through the agent. AGENT_LOST is the end of the connection. HAS_BEEN_CUT
 * stands for READY, or for REFUSED from a rank that has been cut before. */
mtype = { CUT, CUT_TO_FINISH, COUNTS, CLOSE, LEFT_OPEN, GIVEN_UP, AGENT_LOST };
mtype = { HELLO, HAS_BEEN_CUT, HAS_ALL, LOGGED };
chan order[RANKS] = [3 + 3 * LOSSES] of { mtype, byte /* epoch */ };
chan answer[RANKS] = [3 + 3 * LOSSES] of { mtype, byte /* epoch */ };
bool connected[RANKS] = true;

/* unfinished: the rank was cut inside a collective and still has to send its markers.
 * told_complete: the rank has reported that it has all messages. */
bool unfinished[RANKS];
bool told_complete[RANKS];
hidden byte any;
hidden mtype kind;

/* CUT came while the rank was inside a call, and LEFT_OPEN before it left the call. */
#define CUT_IS_CANCELLED(me) (CUT_COMES(me) && order[me] ?? [LEFT_OPEN, _])

/* ---- Ranks. All in d_step. ------------------------------------------------- */

/* A message to an agent that no longer exists is lost. */
inline say(me, what)
{
    if
    :: connected[me] -> answer[me] ! what, epoch[me]
    :: else
    fi
}

inline tell_if_complete(me)
{
    any = !open[me] || told_complete[me] || !OUTSIDE(me);
    for (i : 0 .. RANKS - 1) {
        any = any || (i != me && !COMPLETE(i, me));
    }
    if
    :: !any -> told_complete[me] = true; say(me, HAS_ALL)
    :: else
    fi
}

inline mark_used_channels(me)
{
    for (j : 0 .. RANKS - 1) {
        if
        :: open[me] && unfinished[me] && cut_sent[PAIR(me, j)] > 0 &&
           !marked[PAIR(me, j)] -> send_marker(me, j)
        :: else
        fi
    }
    unfinished[me] = false
}

/* CUT: cuts the rank for an image. CUT_TO_FINISH: completes an interrupted cut, without
 * images. */
inline obey_cut(me)
{
    if
#ifndef MUTANT_CUT_TWICE
    :: epoch[me] == age
#else
    :: false
#endif
    :: else ->
        cut(me);
        open_gate(me);
        told_complete[me] = false;
#ifndef SWEEP
        unfinished[me] = (kind == CUT);
        if
        :: OUTSIDE(me) -> mark_used_channels(me)
        :: else
        fi
#endif
    fi
    say(me, HAS_BEEN_CUT)
}

inline obey_counts(me)
{
    if
    :: open[me] ->
        told_complete[me] = false;
        for (i : 0 .. RANKS - 1) {
            count[PAIR(i, me)] = cut_sent[PAIR(i, me)];
        }
        tell_if_complete(me)
    :: else
    fi
}

inline obey_close(me)
{
    if
    :: open[me] -> close(me); say(me, LOGGED)
    :: else
    fi
}

/* The gate of a rank that has not been cut stays shut; that of a cut rank stays open. */
inline leave_open(me)
{
#ifdef MUTANT_GATE_OPENED_IN_DOUBT
    open_gate(me);
#endif
#ifdef MUTANT_CLOSED_IN_DOUBT
    if
    :: open[me] -> close(me)
    :: else
    fi
#endif
    skip
}

inline obey(me)
{
    order[me] ? kind, age;
    if
    :: kind == CUT || kind == CUT_TO_FINISH -> obey_cut(me)
    :: kind == COUNTS -> obey_counts(me)
    :: kind == CLOSE -> obey_close(me)
    :: kind == LEFT_OPEN -> leave_open(me)
    :: kind == GIVEN_UP -> open_gate(me)
    :: kind == AGENT_LOST ->
        leave_open(me);
        connected[me] = true;
        answer[me] ! HELLO, epoch[me]
    fi
}

/* ---- The coordinator. All in d_step. ---------------------------------------- */

mtype = { IDLE, CUTTING, LOGGING };
mtype phase = IDLE;
bool closing, settling, unsettled;
byte losses_left = LOSSES;
byte checkpoint;

/* The coordinator's view of each rank: RankCut, and the rest of CutProtocol::Rank. After
 * the loss of the coordinator it is the view of the rank's agent, if that survives. */
bool is_here[RANKS] = true;
byte cut_epoch[RANKS];
bool cut_open[RANKS];
bool asked[RANKS]; /* and the rank has sent nothing since that excludes its cut */
bool answered[RANKS];
bool complete[RANKS];
bool saved[RANKS]; /* in this checkpoint, by an agent that survives */

#define ALL(list) (list[0] && list[1] && list[2])
#define NONE(list) (!list[0] && !list[1] && !list[2])
#define ALL_EMPTY(list) (empty(list[0]) && empty(list[1]) && empty(list[2]))

/* All ranks have reported, so each has obeyed all earlier orders and is not open. */
#define MAY_BEGIN \
    (checkpoint < CHECKPOINTS && phase == IDLE && !unsettled && \
     ALL(is_here) && ALL_EMPTY(order) && ALL_EMPTY(answer) && \
     NONE(open) && IS_ALIGNED)

inline begin_checkpoint()
{
    checkpoint++;
    phase = CUTTING;
    closing = false;
    shut_gates();
    for (i : 0 .. RANKS - 1) {
        asked[i] = false;
        answered[i] = false;
        complete[i] = false;
        saved[i] = false
    }
}

#define MAY_ASK(rank) (phase == CUTTING && !asked[rank] && !answered[rank])

inline order_cut(rank)
{
    asked[rank] = true;
    if
    :: settling -> order[rank] ! CUT_TO_FINISH, checkpoint
    :: else -> order[rank] ! CUT, checkpoint
    fi
}

inline send_all(what)
{
    for (i : 0 .. RANKS - 1) {
        order[i] ! what, checkpoint
    }
}

byte checked; /* the last cut whose logs were all found complete */

/* An abandoned cut must meet the same conditions as a committed one: all ranks are cut,
 * and all logs complete. If some logs are closed already, all were complete. */
inline close_logs()
{
    if
    :: checked < checkpoint -> check_commit(checkpoint); checked = checkpoint
    :: else
    fi
    closing = true;
    for (i : 0 .. RANKS - 1) {
        answered[i] = !cut_open[i]
    }
    send_all(CLOSE)
}

inline end_checkpoint()
{
#ifdef MUTANT_COMMITTED_AFTER_LOSS
    settling = false;
#endif
    assert(settling || ALL(saved)); /* a committed checkpoint is complete */
    phase = IDLE;
    settling = false;
    for (i : 0 .. RANKS - 1) {
        asked[i] = false;
        answered[i] = false;
        complete[i] = false;
        saved[i] = false
    }
}

#ifdef MUTANT_COUNTS_NOT_TOLD
#define MUST_TELL_COUNTS (!settling)
#else
#define MUST_TELL_COUNTS true
#endif
#define HAS_LOG(rank) (complete[rank] || !cut_open[rank])
#define LOGS_COMPLETE (HAS_LOG(0) && HAS_LOG(1) && HAS_LOG(2))

inline examine_logs()
{
    if
    :: phase == CUTTING && ALL(answered) ->
        phase = LOGGING;
        if
        :: MUST_TELL_COUNTS -> send_all(COUNTS)
        :: else
        fi
    :: else
    fi
    if
    :: phase == LOGGING && !closing && LOGS_COMPLETE -> close_logs()
    :: else
    fi
    if
    :: phase == LOGGING && closing && ALL(answered) -> end_checkpoint()
    :: else
    fi
}

/* The view of the rank's agent, until a coordinator hears of the rank: RankCutWatch. */
inline watch(rank)
{
    if
    :: kind == HAS_BEEN_CUT -> cut_epoch[rank] = age; cut_open[rank] = true
    :: kind == LOGGED -> cut_open[rank] = false
    :: else
    fi
}

/* LOGGED is accepted at any time, because it comes only once. */
#ifdef MUTANT_CLOSING_UNHEARD
#define IS_HEARD (phase == LOGGING && closing)
#else
#define IS_HEARD true
#endif

inline take_answer(rank)
{
    answer[rank] ? kind, age;
    if
    :: kind == HELLO ->
        is_here[rank] = true;
        cut_epoch[rank] = age;
        cut_open[rank] = open[rank]
    :: kind != HELLO && !is_here[rank] -> watch(rank)
    :: kind == LOGGED && is_here[rank] && IS_HEARD ->
        cut_open[rank] = false;
        answered[rank] = (phase != IDLE);
        examine_logs()
    :: kind == HAS_BEEN_CUT && is_here[rank] && age >= checkpoint ->
        if
        :: phase == CUTTING && !answered[rank] ->
            answered[rank] = true;
            saved[rank] = !settling;
            cut_epoch[rank] = age;
            cut_open[rank] = true;
            examine_logs()
        :: else /* the coordinator expects no answer, or has it already */
        fi
    :: kind == HAS_ALL && is_here[rank] && age >= checkpoint ->
        complete[rank] = (phase != IDLE);
        examine_logs()
    :: else
    fi
}

/* ---- The loss ------------------------------------------------------------------ */

#define MAY_BE_LOST \
    (losses_left > 0 && checkpoint == 1 && (phase != IDLE || unsettled))

inline lose_connection(rank)
{
    connected[rank] = false;
    is_here[rank] = false;
    asked[rank] = false; /* the rank's HELLO will tell whether it was cut */
    saved[rank] = false;
    do
    :: nempty(order[rank]) -> order[rank] ? _, _
    :: nempty(answer[rank]) -> answer[rank] ? _, _
    :: empty(order[rank]) && empty(answer[rank]) -> break
    od;
    order[rank] ! AGENT_LOST, 0
}

/* The coordinator was lost before it sent its last order. */
inline lose_last_order(rank)
{
    number = len(order[rank]);
    do
    :: number > 1 -> order[rank] ? kind, age; order[rank] ! kind, age; number--
    :: number <= 1 -> break
    od;
    order[rank] ? kind, _;
    if
    :: kind == CUT || kind == CUT_TO_FINISH -> asked[rank] = false
    :: else
    fi
}

/* Drops the connections to lost agents. Tells other ranks that have not been cut that
 * they are in doubt (LEFT_OPEN). */
inline abandon()
{
    for (i : 0 .. RANKS - 1) {
        answered[i] = false;
        complete[i] = false;
        if
        :: IS_LOST(i) -> lose_connection(i)
        :: else ->
#ifdef COORDINATOR_LOST
            is_here[i] = false;
#endif
            if
            :: cut_epoch[i] < checkpoint -> order[i] ! LEFT_OPEN, checkpoint
            :: else
            fi
        fi
    }
    phase = IDLE;
    settling = false;
    closing = false;
    unsettled = true;
    losses_left--
}

#ifdef MUTANT_GIVEN_UP_THOUGH_CUT
#define MAY_HAVE_BEEN_CUT(rank) false
#elif defined(MUTANT_ORDERS_FORGOTTEN)
#define MAY_HAVE_BEEN_CUT(rank) cut_open[rank]
#else
#define MAY_HAVE_BEEN_CUT(rank) \
    (cut_open[rank] || (asked[rank] && cut_epoch[rank] < checkpoint))
#endif
#define SOMEBODY_CUT \
    (MAY_HAVE_BEEN_CUT(0) || MAY_HAVE_BEEN_CUT(1) || MAY_HAVE_BEEN_CUT(2))

inline finish_cut()
{
    phase = CUTTING;
    settling = true;
    closing = false;
    for (i : 0 .. RANKS - 1) {
        if
        :: cut_epoch[i] == checkpoint -> answered[i] = true; asked[i] = true
        :: else -> order_cut(i)
        fi
    }
    examine_logs()
}

/* All ranks have reconnected. If no rank is open, all have the same epoch. */
inline settle()
{
    unsettled = false;
    if
    :: SOMEBODY_CUT -> finish_cut()
    :: else ->
        send_all(GIVEN_UP);
        checkpoint = cut_epoch[0]
    fi
}

#include "rank.pml"

active proctype coordinator()
{
    do
    :: d_step { MAY_BEGIN -> begin_checkpoint(); skip }
    :: d_step { MAY_ASK(0) -> order_cut(0) }
    :: d_step { MAY_ASK(1) -> order_cut(1) }
    :: d_step { MAY_ASK(2) -> order_cut(2) }
    :: d_step { nempty(answer[0]) -> take_answer(0) }
    :: d_step { nempty(answer[1]) -> take_answer(1) }
    :: d_step { nempty(answer[2]) -> take_answer(2) }
    :: d_step { MAY_BE_LOST -> abandon() }
#if defined(COORDINATOR_LOST) && !defined(ALL_LOST)
    :: atomic { MAY_BE_LOST ->
           if
           :: !IS_LOST(1) && nempty(order[1]) -> d_step { lose_last_order(1) }
           :: true
           fi;
           if
           :: !IS_LOST(2) && nempty(order[2]) -> d_step { lose_last_order(2) }
           :: true
           fi;
           d_step { abandon() } }
    :: d_step { unsettled && !is_here[1] -> is_here[1] = true }
    :: d_step { unsettled && !is_here[2] -> is_here[2] = true }
#endif
    :: d_step { unsettled && phase == IDLE && ALL(is_here) -> settle() }
    :: d_step { checkpoint == CHECKPOINTS && phase == IDLE && !unsettled &&
                ALL_EMPTY(order) && ALL_HAVE_LEFT } -> break
    od
}
