/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wire.h - messages between a rank and its node agent (docs/protocol.md, sections 3 to 5).
 *
 * A rank keeps one SOCK_SEQPACKET Unix connection to its agent; each packet is one struct
 * ckpt_message. The rank passes a memory file, the rank page, with HELLO, and both map it. It
 * holds data too long for a message: the collective clocks, the message counters, and the
 * rank's history of the checkpoint.
 *
 * A Sync-and-Stop checkpoint (Plank 1993, section 2.4), as a rank sees it:
 *
 *   agent            rank
 *   REQUEST  ---->          with a signal; the collective gate closes
 *            <----  REPORT  where it is; clocks are in the rank page
 *   RUN      ---->          zero or more times: targets are in the rank page
 *            <----  REPORT  at each change of place while the gate is closed
 *   WHERE    ---->          zero or more times, with a signal
 *            <----  REPORT  if it is inside a call without a clock
 *   STOP     ---->          with a signal
 *            <----  STOPPED message counters are in the rank page
 *   DRAIN    ---->          counts to expect are in the rank page
 *            <----  DRAINED
 *   SAVE     ---->          with a signal if the rank is inside a collective
 *            <----  READY   arg[0] = address of its struct ckpt_snapshot
 *   SAVE     ---->          if connections lead from rank to rank: twice more
 *            <----  READY
 *   RESUME   ---->          memory is captured (or the checkpoint is off)
 *
 * A Chandy-Lamport or network-sweeping checkpoint (docs/consistent-cuts.md):
 *
 *   REQUEST  ---->          arg[0] = 1; the rank reports and runs on
 *            <----  REPORT
 *   CUT      ---->          with a signal; all ranks are aligned
 *            <----  READY
 *   RESUME   ---->          memory is captured; the rank runs, and logs
 *   SWEPT    ---->          network sweeping
 *            <----  COMPLETE zero or more times
 *   PROGRESS     ---->          zero or more times, with a signal
 *   CLOSE    ---->          all messages that cross the cut have been logged
 *            <----  LOGGED  they are in the file that CUT named
 *
 * Before RESUME, if the agent reads the rank while it continues to run:
 *
 *   FREEZE   ---->          after READY
 *            <----  FROZEN  a stopped copy of the process takes its place
 *
 * Before RESUME, if the agent tracks the pages that the rank will write, or saves them before
 * the write:
 *
 *   WATCH    ---->          after READY
 *            <----  WATCHED brings a userfaultfd of the process
 *
 * A rank that refuses temporarily because its program asked it to refuse:
 *
 *            <----  REFUSED after REQUEST, SAVE or CUT
 *   RESUME   ---->
 *   HELD     ---->          with a signal, to all ranks: the request waits
 *            <----  ALLOWED it can be saved; REQUEST follows when all can
 *
 * Between checkpoints, with CKPT_PROTOCOL=independent (docs/protocol.md, section 12):
 *
 *            <----  SHARED  brings a memory file that outlives the rank
 *            <----  KEPT    a stopped copy of the process, in case the rank dies
 *
 * A rank that cannot be saved answers REQUEST or SAVE with REFUSED and a reason. RESUME may
 * come at any time after REQUEST and ends the checkpoint. RUN may come whenever the rank holds,
 * also after DRAINED or READY: the ranks then align once more. A rank that has reported INSIDE
 * sends REPORT with FREE when it leaves the call, and holds. Answers repeat the epoch of
 * REQUEST.
 */
#ifndef CKPT_WIRE_H
#define CKPT_WIRE_H

#include "ckpt/signal_state.h"

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#define CKPT_WIRE_MAGIC 0x574b4343u
#define CKPT_WIRE_VERSION 12u

/* Prefix of the name of a launch whose only rank was started without a launcher, and is not an
 * MPI process at its start. */
#define CKPT_LAUNCH_ALONE "program-"

/* Environment variable: a Unix stream socket of `ckpt run`. Each process of the launcher
 * connects to it at its start, and continues when `ckpt run` closes the connection. */
#define CKPT_STARTED_VARIABLE "CKPT_STARTED"

enum ckpt_message_type {
    /* rank to agent */
    CKPT_MSG_HELLO = 1,   /* arg: rank, rank count, pid, tid of the MPI thread, signal number, 1
                             if restarted, epoch of its last cut, flags CKPT_STATE_*; text:
                             namespace of the launch (names the job); carries the page's
                             descriptor */
    CKPT_MSG_JOIN = 2,    /* text: address of the coordinator's agent, as the WELCOME of that
                             agent gave it; each rank sends it once */
    CKPT_MSG_REPORT = 3,  /* arg[0]: enum ckpt_place; arg[1]: clock slot, for GATE and INSIDE;
                             arg[2]: flags CKPT_INSIDE_*; arg[3]: 1 if the rank waits for RUN or
                             STOP, 0 if it continues. GATE with arg[3] 0: one thread of the rank
                             waits; arg[4]: `entered` of the clock there. After REQUEST with
                             arg[0] 1: arg[5]: flags CKPT_NEEDS_*, arg[6]: flags
                             CKPT_REPORT_* */
    CKPT_MSG_STOPPED = 4, /* arg as in REPORT; the rank holds unless it is INSIDE */
    CKPT_MSG_DRAINED = 5, /* arg[0] messages, arg[1] bytes now in its log */
    CKPT_MSG_READY = 6,   /* arg[0]: address of struct ckpt_snapshot; arg[1]: flags
                             CKPT_READY_*; after CUT arg[2]: number of channels that the rank
                             has used, each of which gets a marker; in a sweep 1; in
                             CKPT_CUT_QUIET 1 if it has sent messages since the last cut */
    CKPT_MSG_REFUSED = 7, /* text: why this rank cannot be saved now; after CUT arg[2] as in
                             READY; arg[4]: CKPT_REFUSED_FOR_NOW if ALLOWED will follow, arg[5]:
                             then, the number of safe points that it has reached; arg[6]: enum
                             ckpt_refusal (ckpt/refusals.h), 0 from a rank that has none */
    CKPT_MSG_GOODBYE = 8, /* the rank called MPI_Finalize: no checkpoint from now on */
    CKPT_MSG_COMPLETE = 9, /* arg[0]: number of markers with a count above 0 received from peers
                              whose old messages have all arrived; without markers 1 when all
                              have arrived. arg[1]: 1 when all messages have arrived that COUNTS
                              or a sweep announced */
    CKPT_MSG_LOGGED = 10, /* arg[0] messages, arg[1] bytes that crossed the cut; the rank's
                             history is in the page */
    CKPT_MSG_FROZEN = 11, /* arg[0]: pid of a copy of the process; carries the connection to it
                             (process/frozen_copy.h); or 0: no copy, text: why */
    CKPT_MSG_WATCHED = 12, /* arg[1]: 1: carries a userfaultfd(2) that the rank keeps, too;
                              another WATCHED follows when the rank has closed it. arg[0]: 0, or the
                              error number: no userfaultfd */
    CKPT_MSG_ASK = 13, /* the program asks for a checkpoint; arg[0]: number of this request;
                          arg[1]: 1 if all ranks must ask */
    CKPT_MSG_ALLOWED = 14, /* a rank that refused temporarily can be saved now; arg[0]: number
                              of safe points that it has reached */
    CKPT_MSG_HOLD_BLOCKED = 15, /* a rank that refused temporarily waits, perhaps for a rank that stays
                            at a safe point; arg[0] as in ALLOWED */
    CKPT_MSG_KEPT = 16,  /* the rank has made a copy of its process, which describes itself; its
                            message counters are in the rank page, as for STOPPED. arg[0]: pid
                            of the copy, arg[1]: address of struct ckpt_snapshot in the copy,
                            arg[2]: number of the copy, from 1, arg[3]: its `interval`
                            (ckpt/independent.h). Carries the connection to the copy. The agent
                            releases the previous copy. No answer */
    CKPT_MSG_SHARED = 17, /* carries a memory file of the node that must outlive the ranks;
                             arg[0]: enum ckpt_shared_kind; text: its name */

    /* agent to rank */
    CKPT_MSG_WELCOME = 32, /* arg[0]: number of the checkpoint that the job was
                              restarted from, or 0; arg[1]: agent's pid;
                              text: the agent's own address, for JOIN */
    CKPT_MSG_REQUEST = 33, /* arg[0]: 1 if the ranks do not stop; text: the checkpoint's mark in
                              the file journal, decimal, a space, the journal's directory; or
                              "" */
    CKPT_MSG_RUN = 34, /* arg[0]: 1 if a rank is inside a call without a clock */
    CKPT_MSG_STOP = 35,
    CKPT_MSG_DRAIN = 36,
    CKPT_MSG_SAVE = 37,
    CKPT_MSG_RESUME = 38, /* arg[0]: enum ckpt_outcome; text: the reason */
    CKPT_MSG_CUT = 39,    /* change the colour, describe yourself as for SAVE, and do not move;
                             arg[0]: enum ckpt_cut, perhaps with CKPT_CUT_SYNCHRONOUS; text:
                             path of the file for the log */
    CKPT_MSG_PROGRESS = 40,   /* keep the lower half working: other ranks need it */
    CKPT_MSG_COUNTS = 42, /* all ranks are cut: `expected` of all peers is in the page */
    CKPT_MSG_SWEPT = 43, /* arg[0]: number of messages to this rank that all ranks together had
                            sent at their cuts */
    CKPT_MSG_FREEZE = 44, /* after READY: make a copy of the process for the agent, arg[0]: the
                             agent's pid */
    CKPT_MSG_WATCH = 45, /* after READY: make a userfaultfd, arg[0]: its flags */
    CKPT_MSG_HELD = 46, /* a request waits for ranks that refuse temporarily; arg[0]: number of
                           the safe point at which to wait for it, 0: the request waits no
                           longer */
    CKPT_MSG_ANSWER = 47, /* answers this ASK and the earlier ones; arg[0]: its number, or
                             CKPT_ANSWER_TO_ALL; text: why there is no checkpoint, or "" */
    CKPT_MSG_WHERE = 48, /* nothing has moved for a while; a rank inside a call without a clock
                            sends REPORT, other ranks do not answer */
    CKPT_MSG_CLOSE = 41,  /* the checkpoint is over, arg[0] as in RESUME */
};

/* Kinds of memory files that SHARED carries. */
enum ckpt_shared_kind {
    CKPT_SHARED_PAGE = 0,   /* struct ckpt_independent_page */
    CKPT_SHARED_WINDOW = 1, /* memory of a window */
    CKPT_SHARED_LOG = 2,    /* a log of accesses */
};

/* Where a rank is while the ranks agree on a cut. */
enum ckpt_place {
    CKPT_PLACE_FREE = 1,   /* computing, or between two MPI calls */
    CKPT_PLACE_GATE = 2,   /* about to enter a collective beyond its target */
    CKPT_PLACE_INSIDE = 3, /* in a call of the lower half that it cannot leave */
    CKPT_PLACE_WAIT = 4,   /* waiting for a message; can be stopped */
};

/* Flags of CKPT_PLACE_INSIDE, in arg[2]. */
#define CKPT_INSIDE_CLOCKED 1u /* a collective: arg[1] is its clock slot */
#define CKPT_INSIDE_REDO 2u    /* the rank may be saved as not yet inside, if no member has left
                                  the collective; a restart enters it again */

/* Reasons why a rank can be saved only while all ranks are stopped; flags of REPORT. */
#define CKPT_NEEDS_CHANNELS 1u    /* a communicator without its second channel */
#define CKPT_NEEDS_WINDOWS 2u     /* windows: other ranks change its memory */
#define CKPT_NEEDS_PENDING 8u     /* nonblocking accesses to files */
#define CKPT_NEEDS_FILES 16u      /* MPI files */
#define CKPT_NEEDS_THREADS 32u    /* MPI_THREAD_MULTIPLE */

/* State of a rank that connects to an agent again; flags of HELLO. */
#define CKPT_STATE_OPEN 1u     /* its cut is open: messages of its old colour may arrive */
#define CKPT_STATE_IN_DOUBT 2u /* it has not been cut, other ranks may have been */

/* Result of a checkpoint. */
enum ckpt_outcome {
    CKPT_CAPTURED = 0,
    CKPT_GIVEN_UP = 1,
    CKPT_LEFT_OPEN = 2, /* other ranks may have been cut: a rank that has not been cut keeps its
                           gate closed until CUT or RESUME */
};

/* How a rank learns at its cut which messages it has yet to receive. */
enum ckpt_cut {
    CKPT_CUT_MARKERS = 1, /* Chandy-Lamport: markers on all used channels */
    CKPT_CUT_SWEEP = 2,   /* the agents sweep the counts */
    CKPT_CUT_QUIET = 3,   /* not at all: no rank has sent a message since the last checkpoint.
                             If a rank has sent one before its cut, COUNTS follows */
};

/* Flag: a rank uses synchronous sends; other ranks may ask this one about theirs. */
#define CKPT_CUT_SYNCHRONOUS 256u

/* ANSWER, arg[0]: answers all requests of the rank. */
#define CKPT_ANSWER_TO_ALL 0u

/* REFUSED, arg[4]: the program does not want to be saved now. */
#define CKPT_REFUSED_FOR_NOW 1u

/* Flags of REPORT, in arg[6]. */
#define CKPT_REPORT_SENT 1u        /* it has sent messages since the last cut */
#define CKPT_REPORT_SYNCHRONOUS 2u /* it uses synchronous sends */

/* Flags of READY, in arg[1]. */
#define CKPT_READY_SHARED 1u /* other running ranks may change its memory: all ranks with this
                                flag resume together */
#define CKPT_READY_LEADS_OUT 2u /* a connection leads to another process; its description is
                                   valid only if the processes at both ends were stopped */

/*
 * A message that crossed a cut, as the rank writes it into its log file: this header, then
 * `size` bytes, then 0 to 7 bytes of padding up to a multiple of 8. The messages are in the
 * order of their complete arrival. `order` is the order in which they were matched; receives
 * must see them in that order.
 */
struct ckpt_logged_message {
    uint32_t magic;
    int32_t source; /* rank in the communicator's peer group */
    int32_t tag;
    uint32_t reserved;      /* 0 */
    uint64_t communicator;  /* its id */
    uint64_t order;
    uint64_t request;       /* address of the receive that was matched with the message at the
                               cut; or 0 */
    uint64_t size;          /* bytes, packed as sent */
};

#define CKPT_LOGGED_MAGIC 0x474c4b43u

struct ckpt_message {
    uint32_t magic;
    uint32_t version;
    uint32_t type;     /* enum ckpt_message_type */
    uint32_t reserved; /* 0 */
    uint64_t epoch;    /* number of the attempt in progress, or 0 */
    uint64_t arg[8];
    char text[424]; /* NUL-terminated */
};

/* The collective clock of one communicator (docs/architecture.md, section 4). */
struct ckpt_clock {
    uint64_t id;      /* agreed on by all members; 0: slot unused */
    uint64_t entered; /* collectives that this rank has entered; rank writes */
    uint64_t left;    /* collectives that this rank has left; rank writes. A nonblocking one is
                         entered and left when it begins */
    uint64_t target;  /* while the gate is closed: the rank enters no collective beyond this one
                         (0: none at all); agent writes */
    uint64_t settled; /* the last collective left that a restart cannot repeat for this rank;
                         rank writes */
};

/* Message counters towards one peer, over all communicators. */
struct ckpt_peer {
    uint64_t sent;     /* rank writes before STOPPED */
    uint64_t received; /* rank writes before STOPPED */
    uint64_t expected; /* agent writes before DRAIN: the peer's `sent` */
};

/* Events that a rank records during a checkpoint for which it does not stop. */
enum ckpt_seen_kind {
    CKPT_SEEN_CUT = 0,             /* its cut */
    CKPT_SEEN_MARKER_SENT = 1,     /* to `peer`, on a channel that it has used; `value`: number
                                      of messages sent there */
    CKPT_SEEN_FIRST_USE_SENT = 2,  /* as MARKER_SENT, before its first message on that
                                      channel */
    CKPT_SEEN_MARKER_RECEIVED = 3, /* from `peer`, with that `value` */
    CKPT_SEEN_LOGGED = 4,          /* a message of `peer` that crossed the cut has arrived
                                      completely; `value`: bytes */
};
#define CKPT_SEEN_KINDS 5u

struct ckpt_seen {
    uint64_t at; /* CLOCK_MONOTONIC, nanoseconds */
    uint64_t value;
    uint32_t kind; /* enum ckpt_seen_kind */
    int32_t peer;  /* rank in MPI_COMM_WORLD, or -1 */
};

#define CKPT_HISTORY_EVENTS 4096u

/* Events from the cut to LOGGED. The first ones are kept; all are counted. */
struct ckpt_history {
    uint64_t count[CKPT_SEEN_KINDS];
    uint64_t logged_bytes;
    uint64_t kept; /* number of valid entries of `event` */
    struct ckpt_seen event[CKPT_HISTORY_EVENTS];
};

#define CKPT_PAGE_MAGIC 0x47504b43u
#define CKPT_CLOCK_SLOTS 16384u

/* The rank page. Followed by struct ckpt_peer[rank_count]. */
struct ckpt_rank_page {
    uint32_t magic;
    uint32_t version;
    uint32_t rank;
    uint32_t rank_count;
    uint32_t clock_count;  /* slots in use or used before: [0, clock_count) */
    uint32_t is_protected; /* agent writes: 1 while pages are write-protected (`--snapshot
                              cll`) */
    uint64_t committed; /* number of the job's newest checkpoint; agent writes */
    struct ckpt_signal_state signal;
    struct ckpt_clock clock[CKPT_CLOCK_SLOTS];
    struct ckpt_history history; /* rank writes before LOGGED */
    /* struct ckpt_peer peer[rank_count]; */
};

#define CKPT_RANK_PAGE_SIZE(rank_count)                                        \
    (sizeof(struct ckpt_rank_page) + (rank_count) * sizeof(struct ckpt_peer))

static inline struct ckpt_peer *ckpt_page_peers(struct ckpt_rank_page *page)
{
    return (struct ckpt_peer *)(page + 1);
}

static_assert(sizeof(struct ckpt_message) == 512, "layout of ckpt_message");
static_assert(offsetof(struct ckpt_message, arg) == 24 && offsetof(struct ckpt_message, text) == 88,
              "layout of ckpt_message");
static_assert(sizeof(struct ckpt_logged_message) == 48, "layout of a log entry");
static_assert(offsetof(struct ckpt_logged_message, size) == 40, "layout of a log entry");
static_assert(sizeof(struct ckpt_clock) == 40, "layout of ckpt_clock");
static_assert(sizeof(struct ckpt_peer) == 24, "layout of ckpt_peer");
static_assert(sizeof(struct ckpt_seen) == 24, "layout of ckpt_seen");
static_assert(sizeof(struct ckpt_history) == 56 + 24 * CKPT_HISTORY_EVENTS,
              "layout of ckpt_history");
static_assert(sizeof(struct ckpt_rank_page) ==
                  48 + 40 * CKPT_CLOCK_SLOTS + sizeof(struct ckpt_history),
              "layout of ckpt_rank_page");
static_assert(offsetof(struct ckpt_rank_page, committed) == 24 &&
                  offsetof(struct ckpt_rank_page, signal) == 32 &&
                  offsetof(struct ckpt_rank_page, clock) == 48,
              "layout of ckpt_rank_page");
static_assert(offsetof(struct ckpt_rank_page, history) % sizeof(uint64_t) == 0,
              "its counters are written with one store each");
static_assert(CKPT_SEEN_LOGGED + 1 == CKPT_SEEN_KINDS, "each kind of event has a count");

#endif
