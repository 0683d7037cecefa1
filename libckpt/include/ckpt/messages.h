/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * messages.h - the messages between a rank and its node agent: one struct for the fields of each
 * (docs/protocol.md, section 3; ckpt/wire.h says when they are sent).
 *
 * A message is a header, the fields of its type, and a text. Numbers are little endian, and each
 * field has 8 bytes. Bytes that a type does not use are 0. ckpt_message_formats describes the
 * fields; encoder, decoder, frames between agents and the table in docs/protocol.md use that.
 * For C11 and C++, also without libc.
 */
#ifndef CKPT_MESSAGES_H
#define CKPT_MESSAGES_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#define CKPT_WIRE_MAGIC   0x574b4343u
#define CKPT_WIRE_VERSION 15u

#define CKPT_RANKS_MOST (1u << 20) /* ranks of a job */

/* Numbers from CKPT_MSG_WELCOME on are those of an agent. */
enum ckpt_message_type {
    /* rank to agent */
    CKPT_MSG_HELLO = 1,     /* fields: hello; text: namespace of the launch (names the job);
                               carries the page's descriptor */
    CKPT_MSG_JOIN = 2,      /* text: address of the coordinator's agent, as the WELCOME of that
                               agent gave it; each rank sends it once */
    CKPT_MSG_REPORT = 3,    /* fields: report */
    CKPT_MSG_STOPPED = 4,   /* fields: report; the rank holds unless it is INSIDE */
    CKPT_MSG_DRAINED = 5,   /* fields: total, of messages now in its log */
    CKPT_MSG_READY = 6,     /* fields: ready */
    CKPT_MSG_REFUSED = 7,   /* fields: refused; text: why this rank cannot be saved now */
    CKPT_MSG_FINALIZED = 8, /* the rank called MPI_Finalize: no checkpoint from now on */
    CKPT_MSG_COMPLETE = 9,  /* fields: complete */
    /* fields: total, of messages that crossed the cut; the rank's history is in the page */
    CKPT_MSG_LOGGED = 10,
    CKPT_MSG_FROZEN = 11,       /* fields: frozen; carries the connection to the copy
                                   (task/frozen_copy.h); without a copy, text: why */
    CKPT_MSG_WATCHED = 12,      /* fields: watched */
    CKPT_MSG_ASK = 13,          /* fields: ask; the program asks for a checkpoint */
    CKPT_MSG_ALLOWED = 14,      /* fields: allowed; a rank that refused temporarily can be saved */
    CKPT_MSG_HOLD_BLOCKED = 15, /* fields: allowed; a rank that refused temporarily waits, perhaps
                                   for a rank that stays at a safe point */
    CKPT_MSG_COW_SNAPSHOT = 16, /* fields: cow_snapshot; the rank has made a copy of its process.
                           Its message counters are in the rank page, as for STOPPED. Carries the
                           connection to the copy. The agent releases the previous copy. No
                           answer */
    /* fields: shared; carries a memory file of the node that must outlive the ranks; text: its
     * name */
    CKPT_MSG_SHARED = 17,
    CKPT_MSG_WORLD_READY = 18, /* the rank has changed worlds, and waits for RESUME */
    CKPT_MSG_SHELL = 19,       /* fields: shell; the process is a shell. Answers BECOME_SHELL, and
                                  comes first when a shell has found another agent */

    /* agent to rank */
    CKPT_MSG_WELCOME = 32, /* fields: welcome; text: the agent's own address, for JOIN */
    CKPT_MSG_REQUEST = 33, /* fields: request; text: the file journal's directory, or "" */
    CKPT_MSG_RUN = 34,     /* fields: run */
    CKPT_MSG_STOP = 35,
    CKPT_MSG_DRAIN = 36,
    CKPT_MSG_SAVE = 37,
    CKPT_MSG_RESUME = 38,   /* fields: end; text: the reason */
    CKPT_MSG_CUT = 39,      /* fields: cut; change the colour, describe yourself as for SAVE, and
                               do not move; text: path of the file for the log */
    CKPT_MSG_PROGRESS = 40, /* keep the lower half working: other ranks need it */
    CKPT_MSG_CLOSE = 41,    /* fields: end; the checkpoint is over; text: the reason */
    CKPT_MSG_COUNTS = 42,   /* all ranks are cut: `expected` of all peers is in the page */
    CKPT_MSG_SWEPT = 43,    /* fields: swept */
    CKPT_MSG_FREEZE = 44,   /* fields: freeze; after READY: make a copy of the process */
    CKPT_MSG_WATCH = 45,    /* fields: watch; after READY: make a userfaultfd */
    CKPT_MSG_HELD = 46,     /* fields: held; a request waits for ranks that refuse temporarily */
    CKPT_MSG_ANSWER = 47,   /* fields: answer; text: reason of the failure, or "" */
    CKPT_MSG_WHERE = 48,    /* nothing has moved for a while; a rank inside a call without a clock
                               sends REPORT, other ranks do not answer */
    /* after READY: load another lower half, under another launcher. Carries a memory file with that
     * launcher's environment variables for this rank, each with a NUL after it */
    CKPT_MSG_CHANGE_WORLD = 49,
    CKPT_MSG_BECOME_SHELL = 50, /* fields: become_shell; at any time: another process is the rank
                                   now. Nobody but the launcher needs this one: it gives back all
                                   that it has, and waits */
    CKPT_MSG_END_SHELL = 51,    /* fields: end_shell; to a shell: end */
};

enum ckpt_sender {
    CKPT_FROM_RANK = 1,
    CKPT_FROM_AGENT = 2,
};

/* ---- Values of fields ------------------------------------------------------------ */

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

/* REPORT, `inside`: of CKPT_PLACE_INSIDE. */
#define CKPT_INSIDE_CLOCKED 1u /* a collective: `slot` is its clock slot */
#define CKPT_INSIDE_REDO    2u /* the rank may be saved as not yet inside, if no member has left \
                                  the collective; a restart enters it again */

/* REPORT, `needs`: why a rank can be saved only while all ranks are stopped. */
#define CKPT_NEEDS_CHANNELS 1u  /* a communicator without its second channel */
#define CKPT_NEEDS_WINDOWS  2u  /* windows: other ranks change its memory */
#define CKPT_NEEDS_PENDING  8u  /* nonblocking accesses to files */
#define CKPT_NEEDS_FILES    16u /* MPI files */
#define CKPT_NEEDS_THREADS  32u /* MPI_THREAD_MULTIPLE */

/* REPORT, `traffic`. */
#define CKPT_REPORT_SENT        1u /* it has sent messages since the last cut */
#define CKPT_REPORT_SYNCHRONOUS 2u /* it uses synchronous sends */

/* HELLO, `state`: of a rank that connects to an agent again. */
#define CKPT_STATE_OPEN     1u /* its cut is open: messages of its old colour may arrive */
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
    CKPT_CUT_NONE = 0,    /* the rank has not been cut */
    CKPT_CUT_MARKERS = 1, /* Chandy-Lamport: markers on all used channels */
    CKPT_CUT_SWEEP = 2,   /* the agents sweep the counts */
    CKPT_CUT_QUIET = 3,   /* not at all: no rank has sent a message since the last checkpoint.
                             If a rank has sent one before its cut, COUNTS follows */
};

/* READY, `flags`. */
#define CKPT_READY_SHARED 1u    /* other running ranks may change its memory: all ranks with this \
                                   flag resume together */
#define CKPT_READY_LEADS_OUT 2u /* a connection leads to another process; its description is \
                                   valid only if the processes at both ends were stopped */

enum ckpt_watched {
    CKPT_WATCHED_FAILED = 0, /* no userfaultfd */
    CKPT_WATCHED_OPEN = 1,   /* carries a userfaultfd(2) that the rank keeps, too; another WATCHED
                                follows */
    CKPT_WATCHED_CLOSED = 2, /* the rank has closed its own descriptor */
};

/* ANSWER, `number`: answers all requests of the rank. */
#define CKPT_ANSWER_TO_ALL 0u

/* HELD, `safe_point`: the request waits no longer. */
#define CKPT_HELD_OVER 0u

/* ---- Fields of each message -------------------------------------------------------- */

/* HELLO. */
struct ckpt_msg_hello {
    uint64_t rank;
    uint64_t rank_count;
    uint64_t pid;
    uint64_t thread;    /* tid of the MPI thread */
    uint64_t signal;    /* number */
    uint64_t restarted; /* 1 if the process was restarted */
    uint64_t last_cut;  /* epoch of its last cut, or 0 */
    uint64_t state;     /* CKPT_STATE_* */
};

/* REPORT, STOPPED. */
struct ckpt_msg_report {
    uint64_t place;     /* enum ckpt_place */
    uint64_t slot;      /* clock slot, for GATE and INSIDE */
    uint64_t inside;    /* CKPT_INSIDE_* */
    uint64_t holds;     /* 1 if the rank waits for RUN or STOP, 0 if it continues */
    uint64_t of_thread; /* 1: says only that one thread of the rank waits at a gate */
    uint64_t entered;   /* of_thread: `entered` of the clock there; otherwise 0 */
    uint64_t needs;     /* after REQUEST with `runs_on`: CKPT_NEEDS_*; otherwise 0 */
    uint64_t traffic;   /* after REQUEST with `runs_on`: CKPT_REPORT_*; otherwise 0 */
};

/* DRAINED, LOGGED. */
struct ckpt_msg_total {
    uint64_t messages;
    uint64_t bytes;
};

/* In READY and REFUSED: the rank's cut, if it was cut. */
struct ckpt_cut_report {
    uint64_t kind;     /* enum ckpt_cut */
    uint64_t channels; /* MARKERS: channels that it has used, each of which gets a marker */
    uint64_t has_sent; /* QUIET: 1 if it has sent messages since the last cut */
};

/* READY. */
struct ckpt_msg_ready {
    uint64_t snapshot; /* address of struct ckpt_snapshot */
    uint64_t flags;    /* CKPT_READY_* */
    struct ckpt_cut_report cut;
};

/* REFUSED. */
struct ckpt_msg_refused {
    uint64_t identity;    /* number of the reason, the same in all versions; 0: it has none */
    uint64_t for_now;     /* 1 if the program does not want to be saved now: ALLOWED will follow */
    uint64_t safe_points; /* for_now: safe points that it has reached; otherwise 0 */
    struct ckpt_cut_report cut;
};

/* COMPLETE. */
struct ckpt_msg_complete {
    uint64_t kind;     /* enum ckpt_cut */
    uint64_t channels; /* MARKERS: markers with a count above 0, received from peers whose old
                          messages have all arrived */
    uint64_t all;      /* 1 when all messages have arrived that COUNTS or a sweep announced */
};

/* FROZEN. */
struct ckpt_msg_frozen {
    uint64_t pid; /* of the copy of the process; 0: there is none */
};

/* WATCHED. */
struct ckpt_msg_watched {
    uint64_t state; /* enum ckpt_watched */
    uint64_t error; /* FAILED: errno; otherwise 0 */
};

/* ASK. */
struct ckpt_msg_ask {
    uint64_t number; /* of this request, from 1 */
    uint64_t of_all; /* 1 if all ranks must ask */
};

/* ALLOWED, HOLD_BLOCKED. */
struct ckpt_msg_allowed {
    uint64_t safe_points; /* that the rank has reached */
};

/* COW_SNAPSHOT. */
struct ckpt_msg_cow_snapshot {
    uint64_t pid;      /* of the copy */
    uint64_t snapshot; /* address of struct ckpt_snapshot in the copy */
    uint64_t number;   /* of the copy, from 1 */
    uint64_t interval; /* of the copy (ckpt/independent.h) */
};

/* SHARED. */
struct ckpt_msg_shared {
    uint64_t kind; /* enum ckpt_shared_kind */
};

/* SHELL. */
struct ckpt_msg_shell {
    uint64_t rank;
    uint64_t pid;
    uint64_t resident; /* bytes of memory that it uses; 0: unknown */
};

/* WELCOME. */
struct ckpt_msg_welcome {
    uint64_t restarted_from; /* number of the checkpoint, or 0 */
    uint64_t pid;            /* of the agent */
};

/* REQUEST. */
struct ckpt_msg_request {
    uint64_t runs_on;    /* 1 if the ranks do not stop */
    uint64_t files_mark; /* of the checkpoint in the file journal; 0: it has none */
};

/* RUN. */
struct ckpt_msg_run {
    uint64_t unclocked; /* 1 if a rank is inside a call without a clock */
};

/* RESUME, CLOSE. */
struct ckpt_msg_end {
    uint64_t outcome; /* enum ckpt_outcome */
};

/* CUT. */
struct ckpt_msg_cut {
    uint64_t kind;        /* enum ckpt_cut */
    uint64_t synchronous; /* 1 if a rank uses synchronous sends: others may ask this one about
                             theirs */
};

/* SWEPT. */
struct ckpt_msg_swept {
    uint64_t messages; /* to this rank, that all ranks together had sent at their cuts */
};

/* FREEZE. */
struct ckpt_msg_freeze {
    uint64_t pid; /* of the agent */
};

/* WATCH. */
struct ckpt_msg_watch {
    uint64_t flags; /* of userfaultfd(2) */
};

/* HELD. */
struct ckpt_msg_held {
    uint64_t safe_point; /* at which to wait for the request, or CKPT_HELD_OVER */
};

/* ANSWER. */
struct ckpt_msg_answer {
    uint64_t number; /* answers this ASK and the earlier ones; or CKPT_ANSWER_TO_ALL */
};

/* BECOME_SHELL. */
struct ckpt_msg_become_shell {
    uint64_t successor; /* pid of a process of this node that lives as long as the launch needs the
                           shell: the one that is the rank now. Without an agent, the shell ends
                           when it has ended */
};

/* END_SHELL. */
struct ckpt_msg_end_shell {
    uint64_t code; /* with which the process ends */
};

/* ---- A message ---------------------------------------------------------------------- */

#define CKPT_MESSAGE_FIELDS 8u /* at most, in one message */

union ckpt_message_body {
    struct ckpt_msg_hello hello; /* first: as long as the union, so that {} clears it */
    struct ckpt_msg_report report;
    struct ckpt_msg_total total;
    struct ckpt_msg_ready ready;
    struct ckpt_msg_refused refused;
    struct ckpt_msg_complete complete;
    struct ckpt_msg_frozen frozen;
    struct ckpt_msg_watched watched;
    struct ckpt_msg_ask ask;
    struct ckpt_msg_allowed allowed;
    struct ckpt_msg_cow_snapshot cow_snapshot;
    struct ckpt_msg_shared shared;
    struct ckpt_msg_shell shell;
    struct ckpt_msg_welcome welcome;
    struct ckpt_msg_request request;
    struct ckpt_msg_run run;
    struct ckpt_msg_end end;
    struct ckpt_msg_cut cut;
    struct ckpt_msg_swept swept;
    struct ckpt_msg_freeze freeze;
    struct ckpt_msg_watch watch;
    struct ckpt_msg_held held;
    struct ckpt_msg_answer answer;
    struct ckpt_msg_become_shell become_shell;
    struct ckpt_msg_end_shell end_shell;
    uint64_t field[CKPT_MESSAGE_FIELDS]; /* in the order of ckpt_message_formats */
};

struct ckpt_message {
    uint32_t magic;
    uint32_t version;
    uint32_t type;     /* enum ckpt_message_type */
    uint32_t reserved; /* 0 */
    uint64_t epoch;    /* number of the attempt in progress, or 0 */
    union ckpt_message_body as;
    char text[424]; /* NUL-terminated */
};

/* Returns how many COMPLETE counts a rank will send for its cut. */
static inline uint64_t ckpt_cut_due(const struct ckpt_cut_report *cut)
{
    switch (cut->kind) {
    case CKPT_CUT_MARKERS:
        return cut->channels;
    case CKPT_CUT_SWEEP:
        return 1;
    default:
        return cut->has_sent;
    }
}

/* Returns how many of them COMPLETE has counted. */
static inline uint64_t ckpt_cut_done(const struct ckpt_msg_complete *complete)
{
    return complete->kind == CKPT_CUT_MARKERS ? complete->channels : complete->all;
}

/* ---- Format, encoder, decoder ---------------------------------------------------------- */

/* One field; `least` and `most` limit its values. If is_flags, `most` has all valid bits. */
struct ckpt_message_field {
    const char *name;
    uint64_t least;
    uint64_t most;
    uint32_t is_flags;
};

struct ckpt_message_format {
    uint32_t type;    /* enum ckpt_message_type */
    uint32_t sender;  /* enum ckpt_sender */
    const char *name; /* without CKPT_MSG_ */
    const char *text; /* what the text means; NULL: there is none */
    uint32_t field_count;
    struct ckpt_message_field field[CKPT_MESSAGE_FIELDS];
};

#ifdef __cplusplus
extern "C" {
#endif

/* All messages, by ascending type. Context: any. */
extern const struct ckpt_message_format ckpt_message_formats[];
extern const unsigned ckpt_message_format_count;

/* Returns the format of a type, or NULL if there is no such message. Context: any. */
const struct ckpt_message_format *ckpt_message_find(uint32_t type);

/*
 * Checks the fields of a message, and that the bytes of `as` beyond them are 0. Returns 0, or
 * -EPROTO and in *wrong the name of what is wrong, a constant. Context: any.
 */
int ckpt_message_check(const struct ckpt_message *message, enum ckpt_sender sender,
                       const char **wrong);

/*
 * Completes a message that `sender` will send: writes magic and version, clears bytes that its
 * type does not use. Returns 0, or -EPROTO as ckpt_message_check() does: then it must not be
 * sent. Context: any.
 */
int ckpt_message_encode(struct ckpt_message *message, enum ckpt_sender sender,
                        const char **wrong);

/*
 * Checks a packet of `size` bytes that came from `sender`, and terminates the text. Returns 0;
 * -EPROTONOSUPPORT if it is of another version; or -EPROTO as ckpt_message_check() does. Context:
 * any.
 */
int ckpt_message_decode(struct ckpt_message *message, size_t size, enum ckpt_sender sender,
                        const char **wrong);

#ifdef __cplusplus
}
#endif

/* ---- Layout --------------------------------------------------------------------------- */

#define CKPT_LAYOUT(structure, fields) \
    static_assert(sizeof(struct structure) == 8 * (fields), "layout of " #structure)
#define CKPT_FIELD(structure, name, index) \
    static_assert(offsetof(struct structure, name) == 8 * (index), "layout of " #structure)

static_assert(sizeof(struct ckpt_message) == 512, "layout of ckpt_message");
static_assert(offsetof(struct ckpt_message, epoch) == 16, "layout of ckpt_message");
static_assert(offsetof(struct ckpt_message, as) == 24, "layout of ckpt_message");
static_assert(offsetof(struct ckpt_message, text) == 88, "layout of ckpt_message");
static_assert(sizeof(union ckpt_message_body) == 64, "layout of ckpt_message_body");

CKPT_LAYOUT(ckpt_msg_hello, 8);
CKPT_FIELD(ckpt_msg_hello, rank, 0);
CKPT_FIELD(ckpt_msg_hello, rank_count, 1);
CKPT_FIELD(ckpt_msg_hello, pid, 2);
CKPT_FIELD(ckpt_msg_hello, thread, 3);
CKPT_FIELD(ckpt_msg_hello, signal, 4);
CKPT_FIELD(ckpt_msg_hello, restarted, 5);
CKPT_FIELD(ckpt_msg_hello, last_cut, 6);
CKPT_FIELD(ckpt_msg_hello, state, 7);
CKPT_LAYOUT(ckpt_msg_report, 8);
CKPT_FIELD(ckpt_msg_report, place, 0);
CKPT_FIELD(ckpt_msg_report, slot, 1);
CKPT_FIELD(ckpt_msg_report, inside, 2);
CKPT_FIELD(ckpt_msg_report, holds, 3);
CKPT_FIELD(ckpt_msg_report, of_thread, 4);
CKPT_FIELD(ckpt_msg_report, entered, 5);
CKPT_FIELD(ckpt_msg_report, needs, 6);
CKPT_FIELD(ckpt_msg_report, traffic, 7);
CKPT_LAYOUT(ckpt_msg_total, 2);
CKPT_FIELD(ckpt_msg_total, messages, 0);
CKPT_FIELD(ckpt_msg_total, bytes, 1);
CKPT_LAYOUT(ckpt_cut_report, 3);
CKPT_FIELD(ckpt_cut_report, kind, 0);
CKPT_FIELD(ckpt_cut_report, channels, 1);
CKPT_FIELD(ckpt_cut_report, has_sent, 2);
CKPT_LAYOUT(ckpt_msg_ready, 5);
CKPT_FIELD(ckpt_msg_ready, snapshot, 0);
CKPT_FIELD(ckpt_msg_ready, flags, 1);
CKPT_FIELD(ckpt_msg_ready, cut, 2);
CKPT_LAYOUT(ckpt_msg_refused, 6);
CKPT_FIELD(ckpt_msg_refused, identity, 0);
CKPT_FIELD(ckpt_msg_refused, for_now, 1);
CKPT_FIELD(ckpt_msg_refused, safe_points, 2);
CKPT_FIELD(ckpt_msg_refused, cut, 3);
CKPT_LAYOUT(ckpt_msg_complete, 3);
CKPT_FIELD(ckpt_msg_complete, kind, 0);
CKPT_FIELD(ckpt_msg_complete, channels, 1);
CKPT_FIELD(ckpt_msg_complete, all, 2);
CKPT_LAYOUT(ckpt_msg_frozen, 1);
CKPT_LAYOUT(ckpt_msg_watched, 2);
CKPT_FIELD(ckpt_msg_watched, state, 0);
CKPT_FIELD(ckpt_msg_watched, error, 1);
CKPT_LAYOUT(ckpt_msg_ask, 2);
CKPT_FIELD(ckpt_msg_ask, number, 0);
CKPT_FIELD(ckpt_msg_ask, of_all, 1);
CKPT_LAYOUT(ckpt_msg_allowed, 1);
CKPT_LAYOUT(ckpt_msg_cow_snapshot, 4);
CKPT_FIELD(ckpt_msg_cow_snapshot, pid, 0);
CKPT_FIELD(ckpt_msg_cow_snapshot, snapshot, 1);
CKPT_FIELD(ckpt_msg_cow_snapshot, number, 2);
CKPT_FIELD(ckpt_msg_cow_snapshot, interval, 3);
CKPT_LAYOUT(ckpt_msg_shared, 1);
CKPT_LAYOUT(ckpt_msg_shell, 3);
CKPT_FIELD(ckpt_msg_shell, rank, 0);
CKPT_FIELD(ckpt_msg_shell, pid, 1);
CKPT_FIELD(ckpt_msg_shell, resident, 2);
CKPT_LAYOUT(ckpt_msg_welcome, 2);
CKPT_FIELD(ckpt_msg_welcome, restarted_from, 0);
CKPT_FIELD(ckpt_msg_welcome, pid, 1);
CKPT_LAYOUT(ckpt_msg_request, 2);
CKPT_FIELD(ckpt_msg_request, runs_on, 0);
CKPT_FIELD(ckpt_msg_request, files_mark, 1);
CKPT_LAYOUT(ckpt_msg_run, 1);
CKPT_LAYOUT(ckpt_msg_end, 1);
CKPT_LAYOUT(ckpt_msg_cut, 2);
CKPT_FIELD(ckpt_msg_cut, kind, 0);
CKPT_FIELD(ckpt_msg_cut, synchronous, 1);
CKPT_LAYOUT(ckpt_msg_swept, 1);
CKPT_LAYOUT(ckpt_msg_freeze, 1);
CKPT_LAYOUT(ckpt_msg_watch, 1);
CKPT_LAYOUT(ckpt_msg_held, 1);
CKPT_LAYOUT(ckpt_msg_answer, 1);
CKPT_LAYOUT(ckpt_msg_become_shell, 1);
CKPT_LAYOUT(ckpt_msg_end_shell, 1);

#undef CKPT_LAYOUT
#undef CKPT_FIELD

#endif
