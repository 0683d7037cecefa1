/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Synchronous sends across a cut that does not stop ranks
 * (mpi-plugin/cut/collectives/deferred_completion.c and
 * synchronous_send.c). Rank S sends nonblocking messages to rank R, which receives them one
 * by one. S must not see a send complete before R has received the message, although R may
 * have taken it into its log. At each commit the job may be restarted, and continues from
 * the cuts. Rules 2 to 6 are those of nonblocking.pml, and assumed to hold: the old colour
 * has ended when its sender has been cut and the channel is empty.
 *
 * COLLECTIVE: afterwards both ranks enter a blocking collective, S when all its sends are
 * complete. A rank inside only waits for the other one.
 */

#ifndef SENDS
#define SENDS 2
#endif
#ifndef CHECKPOINTS
#define CHECKPOINTS 2
#endif
#define S 0
#define R 1
#define ALL_SENDS ((1 << (SENDS + 1)) - 2) /* bits 1 to SENDS */
#define BIT(n) (1 << (n))
#define HAS(set, n) ((set) & BIT(n))

bool open[2];
byte epoch[2];
#define COLOUR(age) ((age) & 1)
#define NEW(me) COLOUR(epoch[me])
#define OLD(me) (1 - COLOUR(epoch[me]))

/* Channels by colour. message: by number. question: the number of a message, and how many
 * were sent after it. answer: the number. */
chan message[2] = [SENDS] of { byte };
chan question[2] = [SENDS] of { byte, byte };
chan answer[2] = [SENDS] of { byte };

/* S: the number of sends started, and sets of sends: complete for the application; complete
 * in the library; asked about without an answer; deferred. */
byte started, done, lower, held, deferred;
bool armed; /* from REQUEST to the cut */
bool holds; /* S has reported that it defers a completion */

/* R: numbers of messages that the application has received (taken) and that the library has
 * delivered (last); the log has the messages between. Sets: messages for which S waits;
 * questions to be matched. */
byte taken, last, waiter, questions;
byte later[SENDS + 1];

/* Content of the images: the state at the cuts. Content of the logs besides messages. */
byte cut_started, cut_done, cut_held;
byte cut_taken, cut_waiter;
byte logged_questions, logged_answers;
byte logged_later[SENDS + 1];

mtype = { RUN, CUT, CLOSE };
chan order[2] = [2] of { mtype };
bool was_cut[2];
bool is_over;
bool aligning;
hidden byte number, place, n;

#ifdef COLLECTIVE
bool entered[2], cut_entered[2];
bool shut[2]; /* the gate is shut, from REQUEST to the cut */
#define OUTSIDE(me) (!entered[me] || entered[1 - (me)])
/* If one rank has entered a collective, both leave it before the cut. */
#define MAY_PASS(me) (!shut[me] || aligning && entered[1 - (me)])
#ifdef MUTANT_CUT_INSIDE
#define IS_ALIGNED true
#define CAN_BE_CUT(me) true
#else
#define IS_ALIGNED (entered[S] == entered[R])
#define CAN_BE_CUT(me) OUTSIDE(me)
#endif
#ifdef MUTANT_ENTERED_INCOMPLETE
#define CANNOT_BE_ASKED true
#else
#define CANNOT_BE_ASKED (!open[R] || R_COMPLETE && questions == 0)
#endif
#else
#define OUTSIDE(me) true
#define IS_ALIGNED true
#define CAN_BE_CUT(me) true
#endif

#define COMPLETE(me, from) \
    (was_cut[me] && was_cut[1 - (me)] && empty(from[OLD(me)]))
#define R_COMPLETE \
    (COMPLETE(R, message) && empty(question[OLD(R)]))
#define S_COMPLETE COMPLETE(S, answer)

inline note_entered(me)
{
#ifdef COLLECTIVE
    shut[me] = false;
    /* A rank that is cut inside a collective is saved as if it had not entered. */
    cut_entered[me] = entered[me] && OUTSIDE(me);
#endif
    skip
}

/* ---- S. In d_step. ------------------------------------------------------------- */

inline let_complete(which)
{
    assert(which <= taken); /* the message of a completed send has been received */
    done = done | BIT(which)
}

/* The library reports that the send is complete. */
#define IS_SEEN(n) \
    (HAS(lower, n) && !HAS(done, n) && !HAS(held, n) && !HAS(deferred, n))
#ifdef MUTANT_NOT_WITHHELD
#define WITHHOLDS false
#else
#define WITHHOLDS armed
#endif

inline see(which)
{
    if
    :: WITHHOLDS -> deferred = deferred | BIT(which); holds = true
    :: else -> let_complete(which)
    fi
}

inline confirm_deferred()
{
    for (n : 1 .. SENDS) {
        if
        :: HAS(deferred, n) -> let_complete(n)
        :: else
        fi
    }
    deferred = 0;
    holds = false
}

/* Asks about all pending sends, in the old colour, except those asked about already. */
inline hold_and_ask()
{
    for (n : 1 .. SENDS) {
        if
        :: n <= started && !HAS(done, n) && !HAS(held, n) ->
#ifndef MUTANT_NOT_ASKED
            question[NEW(S)] ! n, started - n;
#endif
            held = held | BIT(n)
        :: else
        fi
    }
}

inline cut_sender()
{
#ifdef MUTANT_CONFIRMED_AT_CUT
    confirm_deferred();
#endif
    deferred = 0;
    holds = false;
    armed = false;
    hold_and_ask();
    cut_started = started;
    cut_done = done;
    cut_held = held;
    logged_answers = 0;
    note_entered(S);
    epoch[S]++;
    open[S] = true;
    was_cut[S] = true
}

inline take_answer(colour)
{
    answer[colour] ? number;
    held = held & ~BIT(number);
    let_complete(number)
}

active proctype sender()
{
    do
    :: d_step { OUTSIDE(S) && !holds && started < SENDS ->
           started++; message[NEW(S)] ! started }
    :: d_step { OUTSIDE(S) && !holds && IS_SEEN(1) -> see(1) }
    :: d_step { OUTSIDE(S) && !holds && IS_SEEN(2) -> see(2) }
#if SENDS > 2
    :: d_step { OUTSIDE(S) && !holds && IS_SEEN(3) -> see(3) }
#endif
    :: d_step { OUTSIDE(S) && !holds && (!open[S] || S_COMPLETE) && nempty(answer[NEW(S)]) ->
           take_answer(NEW(S)) }
    :: d_step { OUTSIDE(S) && open[S] && nempty(answer[OLD(S)]) ->
           answer[OLD(S)] ? <number>;
           logged_answers = logged_answers | BIT(number);
           take_answer(OLD(S)) }
    :: d_step { order[S] ? [RUN] -> order[S] ? RUN; confirm_deferred() }
    :: d_step { CAN_BE_CUT(S) && order[S] ? [CUT] -> order[S] ? CUT; cut_sender() }
    :: d_step { order[S] ? [CLOSE] -> order[S] ? CLOSE; open[S] = false }
#ifdef COLLECTIVE
    :: d_step { done == ALL_SENDS && !entered[S] && MAY_PASS(S) ->
           entered[S] = true }
    :: entered[S] && OUTSIDE(S) && is_over -> break
#else
    :: done == ALL_SENDS && is_over -> break
#endif
    od
}

/* ---- R. In d_step. ------------------------------------------------------------- */

inline take_from_library(colour)
{
    message[colour] ? number;
    last++;
    assert(number == last);
    lower = lower | BIT(number)
}

/* The application receives the message. If S waits for that, R answers. */
inline receive_next()
{
    taken++;
    if
    :: HAS(waiter, taken) ->
        waiter = waiter & ~BIT(taken);
        answer[NEW(R)] ! taken
    :: else
    fi
}

inline take_question(colour)
{
    question[colour] ? number, place;
    later[number] = place;
    questions = questions | BIT(number)
}

inline log_question()
{
    logged_later[number] = place;
    logged_questions = logged_questions | BIT(number)
}

/* The log ends with the last message that was sent before the sender's cut. */
#ifdef MUTANT_MATCHED_EARLY
#define MAY_MATCH (questions != 0)
#else
#define MAY_MATCH (questions != 0 && R_COMPLETE)
#endif

/* Finds the message of a question in the log, or concludes that it was received. A place in
 * the log counts from its end; a place before its start means that the message was
 * received. The question's own number is the sender's serial number. */
inline match(end)
{
    for (n : 1 .. SENDS) {
        place = (later[n] < end - taken -> end - later[n] : 0);
        if
        :: HAS(questions, n) && place > 0 -> waiter = waiter | BIT(place)
        :: HAS(questions, n) && place == 0 -> answer[NEW(R)] ! n
        :: else
        fi
    }
    questions = 0
}

inline cut_receiver()
{
    cut_taken = taken;
    cut_waiter = waiter;
    logged_questions = questions;
    for (n : 1 .. SENDS) {
        logged_later[n] = later[n]
    }
    note_entered(R);
    epoch[R]++;
    open[R] = true;
    was_cut[R] = true
}

active proctype receiver()
{
end_receiving:
    do
    :: d_step { OUTSIDE(R) && taken == last && (!open[R] || R_COMPLETE && questions == 0) &&
                nempty(message[NEW(R)]) ->
           take_from_library(NEW(R)); receive_next() }
    :: d_step { OUTSIDE(R) && taken < last -> receive_next() }
    :: d_step { OUTSIDE(R) && open[R] && nempty(message[OLD(R)]) ->
           take_from_library(OLD(R)) }
    :: d_step { OUTSIDE(R) && open[R] && nempty(question[OLD(R)]) ->
           take_question(OLD(R)); log_question() }
    :: d_step { OUTSIDE(R) && !open[R] && nempty(question[NEW(R)]) ->
           take_question(NEW(R)) } /* before R's own cut */
    :: d_step { OUTSIDE(R) && open[R] && MAY_MATCH -> match(last) }
#ifdef COLLECTIVE
    :: d_step { taken == SENDS && !entered[R] && MAY_PASS(R) && CANNOT_BE_ASKED ->
           entered[R] = true }
#endif
    :: d_step { CAN_BE_CUT(R) && order[R] ? [CUT] -> order[R] ? CUT; cut_receiver() }
    :: d_step { order[R] ? [CLOSE] -> order[R] ? CLOSE; open[R] = false }
    od
}

/* ---- The coordinator. In d_step. ------------------------------------------------ */

bool cutting, restarted;
bool asked[2];

/* If S saw a send complete before its cut, R received the message before its own cut. */
inline check_commit()
{
    for (n : 1 .. SENDS) {
        assert(!HAS(cut_done | logged_answers, n) || n <= cut_taken)
    }
}

inline forget(channel)
{
    do
    :: nempty(channel) -> channel ? _
    :: empty(channel) -> break
    od
}

inline shut_gates()
{
#ifdef COLLECTIVE
    shut[S] = true;
    shut[R] = true;
#endif
    skip
}

inline go_back()
{
#ifdef COLLECTIVE
    entered[S] = cut_entered[S];
    entered[R] = cut_entered[R];
    shut[S] = false;
    shut[R] = false;
#endif
    skip
}

/* Restarts from the images and logs: no message is in transit, and the log is complete. */
inline restart()
{
    restarted = true;
    forget(message[0]);
    forget(message[1]);
    forget(answer[0]);
    forget(answer[1]);
    open[S] = false;
    open[R] = false;
    epoch[S] = 0;
    epoch[R] = 0;
    armed = false;
    holds = false;
    deferred = 0;
    lower = 0; /* the library has no messages */
    started = cut_started;
    done = cut_done | logged_answers;
    held = cut_held & ~logged_answers;
    taken = cut_taken;
    last = cut_started;
    waiter = cut_waiter;
    questions = logged_questions;
    for (n : 1 .. SENDS) {
        later[n] = logged_later[n]
    }
    go_back();
    match(last)
}

inline end_checkpoint()
{
    check_commit();
    cutting = false;
    was_cut[S] = false;
    was_cut[R] = false;
    asked[S] = false;
    asked[R] = false
}

#define IS_IDLE (!aligning && !cutting)
#define ALL_OBEYED \
    (empty(order[S]) && empty(order[R]) && !open[S] && !open[R])
#ifdef MUTANT_RUN_LATE
#define MAY_RUN (aligning || cutting)
#else
#define MAY_RUN aligning
#endif

active proctype coordinator()
{
    byte checkpoint = 0;

    do
    :: d_step { checkpoint < CHECKPOINTS && IS_IDLE && ALL_OBEYED &&
                !restarted ->
           checkpoint++; aligning = true; armed = true; shut_gates() }
    :: d_step { MAY_RUN && holds && !asked[S] && empty(order[S]) ->
           order[S] ! RUN }
    :: d_step { aligning && IS_ALIGNED -> aligning = false; cutting = true }
    :: d_step { cutting && !asked[S] -> asked[S] = true; order[S] ! CUT }
    :: d_step { cutting && !asked[R] -> asked[R] = true; order[R] ! CUT }
    :: d_step { cutting && R_COMPLETE && S_COMPLETE && questions == 0 ->
           end_checkpoint(); order[S] ! CLOSE; order[R] ! CLOSE }
    :: d_step { cutting && R_COMPLETE && S_COMPLETE && questions == 0 ->
           end_checkpoint(); restart() }
    :: d_step { (checkpoint == CHECKPOINTS || restarted) && IS_IDLE &&
                ALL_OBEYED -> is_over = true } -> break
    od
}
