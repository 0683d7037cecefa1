/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wire.h - how a rank and its node agent talk (docs/protocol.md, sections 3 to 5); the messages
 * themselves are in ckpt/messages.h.
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
 *            <----  READY   with the address of its struct ckpt_snapshot
 *   SAVE     ---->          if connections lead from rank to rank: twice more
 *            <----  READY
 *   RESUME   ---->          memory is captured (or the checkpoint is off)
 *
 * A Chandy-Lamport or network-sweeping checkpoint (docs/consistent-cuts.md):
 *
 *   REQUEST  ---->          `runs_on` is 1; the rank reports and runs on
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
 * Before RESUME, if the ranks go on under another launcher, in a new MPI_COMM_WORLD:
 *
 *   CHANGE_WORLD ---->      after READY, to all ranks: it brings the launcher's variables
 *            <----  WORLD_READY, or REFUSED if the rank is still in its old world
 *
 * At any time, if another process is the rank from now on (docs/protocol.md, section 5):
 *
 *   BECOME_SHELL ---->      with a signal
 *            <----  SHELL   it has no memory, thread or file of the rank any more
 *   END_SHELL    ---->      the launcher may see its end
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
 *            <----  COW_SNAPSHOT    a stopped copy of the process, in case the rank dies
 *
 * A rank that cannot be saved answers REQUEST or SAVE with REFUSED and a reason. RESUME may
 * come at any time after REQUEST and ends the checkpoint. RUN may come whenever the rank holds,
 * also after DRAINED or READY: the ranks then align once more. A rank that has reported INSIDE
 * sends REPORT with FREE when it leaves the call, and holds. Answers repeat the epoch of
 * REQUEST.
 */
#ifndef CKPT_WIRE_H
#define CKPT_WIRE_H

#include "ckpt/messages.h"
#include "ckpt/signal_state.h"

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

/* Prefix of the name of a launch whose only rank was started without a launcher, and is not an
 * MPI process at its start. */
#define CKPT_LAUNCH_ALONE "program-"

/* Environment variable: a Unix stream socket of `ckpt run`. Each process of the launcher
 * connects to it at its start, and continues when `ckpt run` closes the connection. */
#define CKPT_STARTED_VARIABLE "CKPT_STARTED"

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
    uint32_t reserved;     /* 0 */
    uint64_t communicator; /* its id */
    uint64_t order;
    uint64_t request; /* address of the receive that was matched with the message at the
                         cut; or 0 */
    uint64_t size;    /* bytes, packed as sent */
};

#define CKPT_LOGGED_MAGIC 0x474c4b43u

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

#define CKPT_PAGE_MAGIC  0x47504b43u
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
    uint64_t committed;    /* number of the job's newest checkpoint; agent writes */
    struct ckpt_signal_state signal;
    struct ckpt_clock clock[CKPT_CLOCK_SLOTS];
    struct ckpt_history history; /* rank writes before LOGGED */
    /* struct ckpt_peer peer[rank_count]; */
};

#define CKPT_RANK_PAGE_SIZE(rank_count) \
    (sizeof(struct ckpt_rank_page) + (rank_count) * sizeof(struct ckpt_peer))

static inline struct ckpt_peer *ckpt_page_peers(struct ckpt_rank_page *page)
{
    return (struct ckpt_peer *)(page + 1);
}

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
