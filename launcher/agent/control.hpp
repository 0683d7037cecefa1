/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * control.hpp - what `ckpt` and a node agent say to one another.
 *
 * One Unix stream connection per command, to one of control_sockets(). Each
 * line is one JSON object (docs/protocol.md, section 8). The client writes one
 * Request; the agent answers a status request with one Reply of event "status",
 * a checkpoint request with any number of "progress" and then exactly one
 * "result" or "error", and closes. A connection that ends without one of these
 * means that the agent has died.
 */
#pragma once

#include "image/checkpoint_cost.hpp"

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

/* A line longer than this is not from us (bytes). */
inline constexpr std::size_t line_limit = 1u << 20;

/* HASH of a launch's namespace: FNV-1a, 64 bits, as 16 hexadecimal digits. The agent of a launch
 * listens in run_directory() (common/run_directory.hpp), at HASH.sock for ranks and at HASH.ctl
 * for `ckpt`. */
std::string namespace_hash(std::string_view launch_namespace);

/* Control sockets found in run_directory(), of agents and of `ckpt run`, living and dead
 * alike: a dead one refuses the connection (ECONNREFUSED) and may be removed. */
std::vector<std::filesystem::path> control_sockets();

/* How an error begins that is over as soon as all ranks have called MPI_Init. */
inline constexpr const char *still_starting = "the job is still starting";

/* The phase of a job that has only its `ckpt run` left, which tells that: `started` is since
 * when, `launcher_pid` the `ckpt run`, and `last` the newest checkpoint of all. */
inline constexpr const char *swapped_out = "swapped out";
/* A job that was ended because somebody has asked for that, before it had finished. */
inline constexpr const char *interrupted = "interrupted";

/* The phase of a job of whose ranks some have not called MPI_Init. */
inline constexpr const char *starting = "starting";

struct Request {
    int version = control::version;
    std::string command; /* "status" or "checkpoint"; to `ckpt run` "swap", "resume" or
                            "migrate"; of rank 0, what PMIx tells (docs/pmix.md):
                            "registered", "declared" or "ended" */
    std::string then;    /* checkpoint: "" go on; "kill": kill all ranks after the commit;
                            none of them runs on before. "move": likewise, and most nodes
                            will be restarted on: what is on them may stay there */
    std::string from, to; /* migrate: nodes; an empty `to`: a spare one */
    std::string by; /* through whom this comes, if not from a user: "PMIx"; its version */
    int rank = -1;  /* ended: who */
    int code = 0;   /* registered, declared, ended: the status that PMIx gives */
};

/* How far a checkpoint is. */
struct Progress {
    std::string phase; /* "queued", "align", "stop", "drain", "save", "write",
                          "commit"; "held": none is tried just now */
    std::uint64_t number = 0;
    int ranks_done = 0; /* ranks through with this phase */
    int rank_count = 0;
    std::uint64_t bytes_done = 0; /* phase "write": memory saved so far */
    double seconds = 0;           /* since the request */
    std::string waits_for; /* "held": ranks that do not want to be saved; "queued": what does
                              not answer, if that is why */
};

/* Seconds; the first four as in the manifest. */
struct Timings {
    double request_to_stop = 0; /* request to all ranks stopped */
    double stop = 0;            /* longest time a single rank stood still */
    double drain = 0;           /* all stopped to all channels empty */
    double capture = 0;         /* all ready to all memory copied */
    double commit = 0;          /* to the manifest durable */
    double total = 0;
};

/* A committed checkpoint. */
struct Result {
    std::string job;
    std::string name; /* as `ckpt restart` takes it: JOB/NUMBER */
    std::uint64_t number = 0;
    std::string path;               /* directory of the checkpoint */
    std::uint64_t bytes = 0;        /* stored in the image files */
    std::uint64_t memory_bytes = 0; /* mapped memory of the ranks saved there */
    int rank_count = 0;
    std::string snapshot = "stop"; /* method that was asked for */
    int standing = 0;              /* ranks that were saved with stop instead */
    std::string protocol = "sns";      /* or "cl" */
    std::uint64_t logged_messages = 0; /* that crossed the cut */
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

/* A node that the job has ranks on, as the coordinator knows it. */
struct NodeStatus {
    std::string host;
    std::vector<std::pair<int, int>> ranks; /* first and last of each run */
    bool connected = false;                 /* its agent is there */
};

/* Sums over the checkpoints that this launch has committed. */
struct Totals {
    std::uint64_t bytes = 0;        /* stored */
    std::uint64_t memory_bytes = 0; /* of the ranks, saved there */
    double seconds = 0;             /* from the request to the manifest */
    double stopped = 0;             /* that the rank stood still which did longest */
};

/* A rank's checkpoints of itself (docs/protocol.md, section 12). */
struct IndependentStatus {
    int rank = -1;
    std::uint64_t kept = 0;          /* how many there have been */
    std::uint64_t interval = 0;      /* how far the rank has come ... */
    std::uint64_t kept_interval = 0; /* and had at the newest of them */
    std::uint64_t log_bytes = 0;     /* in its logs now */
    std::uint64_t logged_bytes = 0;  /* ever */
    std::uint64_t trimmed_bytes = 0; /* ever */
    std::uint64_t payload_bytes = 0; /* of the program, to windows and from them */
    std::uint64_t control_bytes = 0; /* told to other ranks for trimming their logs */
    std::uint64_t logging_ns = 0;    /* spent on its logs, from samples */
    std::uint64_t keeping_ns = 0;    /* spent on its checkpoints */
    bool replayable = false; /* by what it has done itself since the newest of them */
    bool asked = false;      /* for another one, as a log is too full; not taken yet */
    int copies = 0;          /* of its process that the agent has: the newest of them */
};

/* A checkpoint of the survivors of a rank that had died. */
struct Salvage {
    std::uint64_t number = 0; /* 0: there was none */
    int rank = -1;            /* that died */
    double at = 0;            /* seconds since 1970 */
    std::string error;        /* why a rank that has died since is not replayed, or "" */
};

/* Checkpoints of all ranks that this launch has taken because some took none of themselves,
 * although others' logs were too full of what they would need. */
struct Capped {
    std::uint64_t taken = 0;
    std::uint64_t number = 0; /* the newest one; 0: there is none */
    double at = 0;            /* seconds since 1970 */
    std::vector<int> ranks;   /* that were waited for, at the last attempt */
};

struct Status {
    std::string job;
    std::string launch_namespace;
    std::string directory; /* CKPT_DIR, absolute; the fast tier */
    std::string slow_directory; /* the slow tier, or "" */
    std::string host;
    std::string application; /* argv[0] of the program */
    std::string phase;       /* "starting", "running", "held", "ending" or, while a
                                checkpoint is under way, its phase; "ended", interrupted
                                or "failed" in the last words about a job; swapped_out */
    std::string waits_for;   /* phase "held": for whom a request waits, and why */
    bool coordinator = false; /* the agent of rank 0's node */
    int launcher_pid = 0;     /* mpirun, or 0 if it is not on this node */
    int agent_pid = 0;
    int rank_count = 0;
    std::vector<RankStatus> ranks; /* of this node */
    double started = 0;            /* seconds since 1970 */
    double interval = 0;           /* seconds; 0: no periodic checkpoints */
    bool automatic = false;        /* the interval follows from these: */
    double cost = 0;               /* seconds, of a checkpoint; 0: not known yet */
    double mtbf = 0;               /* seconds */
    bool mtbf_is_given = false;    /* else observed */
    unsigned failures = 0;         /* of earlier launches */
    double next_in = -1; /* seconds to the next periodic one; -1: none */
    std::uint64_t committed = 0; /* checkpoints of this launch */
    std::uint64_t failed = 0;
    std::string last_error; /* why the last failed one did, or "" */
    double unprotected_since = 0; /* seconds since 1970: periodic checkpoints fail; 0: no */
    Result last;            /* newest of this launch; number == 0: none yet */
    /* With a slow tier: numbers of the newest that this launch has brought there, and of
     * the one that is on its way (0: none), and why the last one is not there, or "". */
    std::uint64_t flushed = 0;
    std::uint64_t flushing = 0;
    std::string flush_error;
    double flush_seconds = 0; /* of the newest copy */
    /* How nodes protect each other's pieces, the newest checkpoint that survives the loss of
     * some, the one that is on its way to that, and why the last one does not. */
    std::string redundancy;
    std::uint64_t redundant = 0;
    std::uint64_t redundancy_under_way = 0;
    std::string redundancy_error;
    double redundancy_seconds = 0; /* of the newest one */
    /* Messages and connections that were refused, by refusal_name(): of this agent, and of
     * those that have told it theirs. */
    std::map<std::string, std::uint64_t> refused;
    std::string pmix; /* of the coordinator: the PMIx through which the launcher can ask for
                         checkpoints, or "" */
    std::string protocol; /* settings of the job, as they were given */
    std::string snapshot;
    std::string codec;
    unsigned increments = 0;
    std::vector<NodeStatus> nodes; /* of the coordinator: by their first ranks */
    Progress progress;  /* of the checkpoint under way; phase empty: there is none */
    double last_at = 0; /* when the last one was committed: seconds since 1970 */
    Totals totals;
    std::vector<IndependentStatus> independent; /* of this node; by rank */
    Salvage salvaged;
    Capped capped;
};

/* One line from the agent; `event` says which of the others is meant. */
struct Reply {
    int version = control::version;
    std::string event; /* "progress", "result", "error", "status", or "noted" */
    std::string error; /* text for the user */
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
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Capped, taken, number, at, ranks)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(
    Status, job, launch_namespace, directory, slow_directory, host, application, phase, waits_for,
    coordinator, launcher_pid, agent_pid, rank_count, ranks, started, interval,
    automatic, cost, mtbf, mtbf_is_given, failures, next_in, committed, failed, last_error,
    unprotected_since, last,
    flushed, flushing, flush_error, flush_seconds, redundancy, redundant, redundancy_under_way,
    redundancy_error, redundancy_seconds, protocol, snapshot, codec, increments, nodes, progress,
    last_at, totals, refused, pmix, independent,
    salvaged, capped)

/* Only the member named by `event` is on the wire. */
void to_json(nlohmann::json &json, const Reply &reply);
void from_json(const nlohmann::json &json, Reply &reply);

/*
 * One line, with its newline. The decoders return false, and say why in
 * `error`, for what is not JSON, not an object, has members of the wrong type
 * or is of another version.
 */
std::string encode_line(const nlohmann::json &json);
bool decode_request(std::string_view line, Request &request,
                    std::string &error);
bool decode_reply(std::string_view line, Reply &reply, std::string &error);

} // namespace ckpt::control
