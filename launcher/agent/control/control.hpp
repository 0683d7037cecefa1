/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * control.hpp - messages between `ckpt` and a node agent.
 *
 * One Unix stream connection per command, to one of control_sockets(). Each
 * line is one JSON object (docs/protocol.md, section 8). The client writes one
 * Request. The agent answers a status request with one Reply of event "status".
 * It answers a checkpoint request with any number of "progress" and then
 * exactly one "result" or "error". Then it closes the connection. A connection
 * that ends without one of these means that the agent has died.
 */
#pragma once

#include "common/refusal.hpp"
#include "image/store/checkpoint_cost.hpp"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ckpt::control
{

inline constexpr int version = 1;

/* Longest valid line, in bytes. */
inline constexpr std::size_t line_limit = 1u << 20;

/* Returns HASH of a launch's namespace: FNV-1a, 64 bits, as 16 hexadecimal digits. The agent of
 * a launch listens in run_directory() (common/files/run_directory.hpp), at HASH.sock for ranks and
 * at HASH.ctl for `ckpt`. */
std::string namespace_hash(std::string_view launch_namespace);

/* Control sockets of agents and of `ckpt run` in run_directory(), both live and stale. A stale
 * socket refuses the connection (ECONNREFUSED) and may be removed. */
std::vector<std::filesystem::path> control_sockets();

/* Phase of a job whose ranks have ended and whose `ckpt run` is left and answers. `started` is
 * the time at which this began, `launcher_pid` is `ckpt run`, and `last` is the job's newest
 * checkpoint. */
inline constexpr const char *swapped_out = "swapped out";
/* Phase of a job that was ended on request before it had finished. */
inline constexpr const char *interrupted = "interrupted";

/* Phase of a job in which some ranks have not called MPI_Init. */
inline constexpr const char *starting = "starting";

struct Request {
    int version = control::version;
    std::string command;  /* "status" or "checkpoint"; to `ckpt run` "swap", "resume" or
                             "migrate"; from rank 0, PMIx events (docs/pmix.md): "registered",
                             "declared" or "ended" */
    std::string then;     /* checkpoint: "": the ranks go on. "kill": kill all ranks after the
                             commit, before any of them runs on. "move": likewise, and the restart
                             uses most of the nodes again, so their files may stay there */
    std::string from, to; /* migrate: node names; an empty `to`: a spare node */
    std::string by;       /* "PMIx" and its version, if the request comes from there; "": a user */
    int rank = -1;        /* ended: the rank that ended */
    int code = 0;         /* registered, declared, ended: status from PMIx */
};

/* Progress of a checkpoint. */
struct Progress {
    std::string phase; /* "queued", "align", "stop", "drain", "save",
                          "write", "commit"; "held": no attempt is under way */
    std::uint64_t number = 0;
    int ranks_done = 0; /* ranks that have completed this phase */
    int rank_count = 0;
    std::uint64_t bytes_done = 0; /* phase "write": bytes of memory saved so far */
    double seconds = 0;           /* since the request */
    /* "held": ranks that cannot be saved at present; "queued": the part that does not answer, if
     * it causes the delay */
    std::string waits_for;
};

/* In seconds. The first four are also in the manifest. */
struct Timings {
    double request_to_stop = 0; /* from the request until all ranks are stopped */
    double stop = 0;            /* longest time that a single rank was stopped */
    double drain = 0;           /* from all ranks stopped to all channels empty */
    double capture = 0;         /* from all ranks ready to all memory copied */
    double commit = 0;          /* until the manifest is durable */
    double total = 0;
};

/* A committed checkpoint. */
struct Result {
    std::string job;
    std::string name; /* JOB/NUMBER, the argument of `ckpt restart` */
    std::uint64_t number = 0;
    std::string path;               /* directory of the checkpoint */
    std::uint64_t bytes = 0;        /* stored in the image files */
    std::uint64_t memory_bytes = 0; /* mapped memory of the saved ranks */
    int rank_count = 0;
    std::string snapshot = "stop";     /* requested method */
    int standing = 0;                  /* ranks that were saved with "stop" instead */
    std::string protocol = "sns";      /* or "cl" */
    std::uint64_t logged_messages = 0; /* messages that crossed the cut */
    std::uint64_t logged_bytes = 0;
    CheckpointCost cost;
    Timings timings;
};

struct RankStatus {
    int rank = -1;
    int pid = 0;
    std::string state; /* "running", "free", "gate", "inside", "wait",
                          "stopped", "drained", "ready", "finished", "gone" */
};

/* A node on which the job has ranks, as the coordinator sees it. */
struct NodeStatus {
    std::string host;
    std::vector<std::pair<int, int>> ranks; /* first and last of each run */
    bool connected = false;                 /* its agent is connected */
};

/* Sums over the checkpoints that this launch has committed. */
struct Totals {
    std::uint64_t bytes = 0;        /* stored */
    std::uint64_t memory_bytes = 0; /* of the saved ranks */
    double seconds = 0;             /* from requests to manifests */
    double stopped = 0;             /* stop times: of each checkpoint the longest of all ranks */
};

/* A rank's independent checkpoints (docs/protocol.md, section 12). */
struct IndependentStatus {
    int rank = -1;
    std::uint64_t kept = 0;          /* number of independent checkpoints so far */
    std::uint64_t interval = 0;      /* the rank's current interval ... */
    std::uint64_t kept_interval = 0; /* ... and at its newest checkpoint */
    std::uint64_t log_bytes = 0;     /* in its logs now */
    std::uint64_t logged_bytes = 0;  /* since the start */
    std::uint64_t trimmed_bytes = 0; /* since the start */
    std::uint64_t payload_bytes = 0; /* the program's data to and from windows */
    std::uint64_t control_bytes = 0; /* sent to other ranks so that they can trim their logs */
    std::uint64_t logging_ns = 0;    /* time spent on its logs, estimated from samples */
    std::uint64_t keeping_ns = 0;    /* time spent on its checkpoints */
    /* whether its execution since the newest of them can be replayed */
    bool replayable = false;
    bool asked = false; /* whether a full log has caused a request for a checkpoint that is
                           not taken yet */
    int copies = 0;     /* copies of its process that the agent holds, each the newest
                           checkpoint */
};

/* A checkpoint of the ranks that survived the death of a rank. */
struct Salvage {
    std::uint64_t number = 0; /* 0: none was taken */
    int rank = -1;            /* the rank that died */
    double at = 0;            /* seconds since 1970 */
    std::string error;        /* why a rank that died later is not replayed, or "" */
};

/* Recovery in place (docs/recovery.md). */
struct InPlace {
    std::uint64_t kept = 0;    /* the checkpoint whose copies are kept; 0: none are */
    std::string why_none;      /* why none are kept although they are wanted, or "" */
    std::uint64_t standby = 0; /* the checkpoint whose copies stand by; 0: none do */
    std::uint64_t count = 0;   /* of recoveries of this launch */
    /* The checkpoint of the newest one; 0: there was none, or one rank alone went back. */
    std::uint64_t number = 0;
    int rank = -1;      /* the rank that died */
    double at = 0;      /* seconds since 1970 */
    double seconds = 0; /* from its death until all ranks were back */
    std::string error;  /* why the job did not recover from a later death, or "" */
};

/* Global checkpoints that this launch has taken because some ranks took no independent
 * checkpoint although the logs of other ranks were too full. */
struct Capped {
    std::uint64_t taken = 0;
    std::uint64_t number = 0; /* the newest one; 0: none was taken */
    double at = 0;            /* seconds since 1970 */
    std::vector<int> ranks;   /* the ranks that took none before the latest attempt */
};

struct Status {
    std::string job;
    std::string launch_namespace;
    std::string directory;      /* CKPT_DIR, absolute; the fast tier */
    std::string slow_directory; /* the slow tier, or "" */
    /* Store::identity() of those of both that the sender has opened on its host. With it commands
     * compare directories without access to those of other jobs, whose file system may hang. */
    std::vector<std::string> identities;
    std::string host;
    std::string application;  /* argv[0] of the program */
    std::string phase;        /* "starting", "running", "held", "ending" or, while a checkpoint is
                                 under way, its phase; in the final status of a job "ended",
                                 interrupted or "failed"; swapped_out */
    std::string waits_for;    /* phase "held": ranks that delay the request, and why */
    bool coordinator = false; /* the agent of rank 0's node */
    int launcher_pid = 0;     /* mpirun, or 0 if it is not on this node */
    int agent_pid = 0;
    int rank_count = 0;
    std::vector<RankStatus> ranks; /* ranks of this node */
    double started = 0;            /* seconds since 1970 */
    double interval = 0;           /* seconds; 0: no periodic checkpoints */
    bool automatic = false;        /* the interval is computed from the next three fields */
    double cost = 0;               /* seconds per checkpoint; 0: not known yet */
    double mtbf = 0;               /* seconds */
    bool mtbf_is_given = false;    /* else measured */
    unsigned failures = 0;         /* of earlier launches, and recoveries */
    double next_in = -1;           /* seconds to the next periodic checkpoint; -1: none */
    std::uint64_t committed = 0;   /* checkpoints of this launch */
    std::uint64_t failed = 0;
    std::string last_error;   /* why the last failed checkpoint failed, or "" */
    std::string last_refusal; /* the name of that reason (ckpt-errors(7)), or "" */
    /* of this launch: how often each reason has refused a checkpoint, or made it fail */
    RefusalCounts refusals;
    double unprotected_since = 0; /* seconds since 1970: since when periodic checkpoints fail; 0:
                                     they do not */
    Result last;                  /* newest of this launch; number == 0: none yet */
    /* With a slow tier: numbers of the newest checkpoint that this launch has copied there and
     * of the checkpoint that is being copied (0: none). flush_error: why the latest copy failed,
     * or "". */
    std::uint64_t flushed = 0;
    std::uint64_t flushing = 0;
    std::string flush_error;
    double flush_seconds = 0; /* duration of the newest copy */
    /* How nodes protect each other's pieces. Numbers of the newest checkpoint that survives the
     * loss of nodes, and of the one that is being protected (0: none). redundancy_error: why the
     * latest attempt failed, or "". */
    std::string redundancy;
    std::uint64_t redundant = 0;
    std::uint64_t redundancy_under_way = 0;
    std::string redundancy_error;
    double redundancy_seconds = 0; /* of the newest protected checkpoint */
    /* Number of rejected messages and connections, by rejection_name(), of this agent and of the
     * agents that have reported theirs. */
    std::map<std::string, std::uint64_t> rejected;
    std::string pmix;     /* of the coordinator: version of PMIx with which the launcher can request
                             checkpoints, or "" */
    std::string protocol; /* settings of the job, as given */
    std::string snapshot;
    std::string codec;
    unsigned increments = 0;
    std::vector<NodeStatus> nodes; /* of the coordinator: all nodes, in order of their first
                                      ranks */
    Progress progress;             /* of the checkpoint under way; phase empty: none */
    /* when the newest checkpoint was committed: seconds since 1970 */
    double last_at = 0;
    Totals totals;
    std::vector<IndependentStatus> independent; /* of this node, by rank */
    Salvage salvaged;
    InPlace in_place;
    Capped capped;
};

/* One line from the agent. `event` names the valid one of the members below. */
struct Reply {
    int version = control::version;
    std::string event;   /* "progress", "result", "error", "status", or "noted" */
    std::string error;   /* detail for the user */
    std::string refusal; /* of an error: the name of its identity (ckpt-errors(7)) */
    Progress progress;
    Result result;
    Status status;
};

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Request, version, command, then, from, to, by, rank,
                                                code)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Progress, phase, number,
                                                ranks_done, rank_count,
                                                bytes_done, seconds, waits_for)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Timings, request_to_stop, stop,
                                                drain, capture, commit, total)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Result, job, name, number, path,
                                                bytes, memory_bytes, rank_count,
                                                snapshot, standing, protocol,
                                                logged_messages, logged_bytes,
                                                cost, timings)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(RankStatus, rank, pid, state)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(NodeStatus, host, ranks, connected)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Totals, bytes, memory_bytes, seconds, stopped)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(IndependentStatus, rank, kept, interval,
                                                kept_interval, replayable, log_bytes, logged_bytes,
                                                trimmed_bytes, payload_bytes, control_bytes,
                                                logging_ns, keeping_ns, asked, copies)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Salvage, number, rank, at, error)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(InPlace, kept, why_none, standby, count, number,
                                                rank, at, seconds, error)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Capped, taken, number, at, ranks)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(
    Status, job, launch_namespace, directory, slow_directory, identities, host, application, phase,
    waits_for, coordinator, launcher_pid, agent_pid, rank_count, ranks, started, interval,
    automatic, cost, mtbf, mtbf_is_given, failures, next_in, committed, failed, last_error,
    last_refusal, refusals,
    unprotected_since, last,
    flushed, flushing, flush_error, flush_seconds, redundancy, redundant, redundancy_under_way,
    redundancy_error, redundancy_seconds, protocol, snapshot, codec, increments, nodes, progress,
    last_at, totals, rejected, pmix, independent,
    salvaged, in_place, capped)

/* An error that gives this reason. */
Reply error_reply(const Refusal &why);
/* The reason of an error, and of the last failed checkpoint; empty if there is none. */
Refusal last_failure(const Status &status);
Refusal refusal_of(const Reply &reply);

/* Only the member that `event` names is in the message; with an error also its `refusal`. */
void to_json(nlohmann::json &json, const Reply &reply);
void from_json(const nlohmann::json &json, Reply &reply);

/*
 * Returns one line, with its newline. The decoders return false and set `error`
 * if the text is not a JSON object, has members of a wrong type or has another
 * version.
 */
std::string encode_line(const nlohmann::json &json);
bool decode_request(std::string_view line, Request &request,
                    std::string &error);
bool decode_reply(std::string_view line, Reply &reply, std::string &error);

} // namespace ckpt::control
