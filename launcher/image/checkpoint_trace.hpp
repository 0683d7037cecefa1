/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * checkpoint_trace.hpp - what happened when during one checkpoint: the file
 * trace.json beside the manifest (docs/format.md, section 8), from which `ckpt
 * trace` draws the space-time diagram.
 *
 * Nothing depends on it: a checkpoint without it is as good.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace ckpt
{

inline constexpr int trace_version = 1;
inline constexpr const char *trace_name = "trace.json";

enum class TraceKind : std::uint8_t {
    order,    /* message of the coordinator to rank `to` */
    answer,   /* message of rank `from` to the coordinator */
    stopped,  /* rank `from` stands still from now on */
    resumed,  /* and runs again */
    cut,      /* the point of rank `from` at which it is saved */
    captured, /* the memory of rank `from` is read */
    marker,   /* rank `from` to rank `to`, with a count of messages */
    sweep,    /* node `from` to node `to`, in a dimension */
    logged,   /* message of rank `from` to rank `to` that crossed the cut */
    written,  /* the file of node `from` is safe */
    commit,   /* all is safe: the manifest is written now */
};

/* Nanoseconds since the request; this value: not known. */
inline constexpr std::int64_t unknown_time =
    std::numeric_limits<std::int64_t>::min();

struct TraceEvent {
    TraceKind kind = TraceKind::order;
    bool first_use = false; /* marker: sent before a first message */
    std::uint16_t type = 0; /* order, answer: enum ckpt_message_type */
    std::int32_t from = -1;
    std::int32_t to = -1;
    /* When it happened, or was sent; and when it was received. Of orders and
     * answers `at` is when the coordinator sent or received them. */
    std::int64_t at = unknown_time;
    std::int64_t arrived = unknown_time;
    /* marker: its count; sweep: the dimension; logged: bytes; order, answer:
     * as message_format() names them. */
    std::uint64_t value = 0;
    std::uint64_t more = 0;

    /* `at`, or `arrived` where only that is known. */
    std::int64_t time() const { return at != unknown_time ? at : arrived; }
};

/* How a message is called, and its arguments that matter; null: it has none. */
struct MessageFormat {
    std::uint16_t type;
    const char *name;
    const char *value;
    const char *more;
};
/* Null for a type that is no part of a checkpoint. */
const MessageFormat *message_format(std::uint16_t type);

struct TraceNode {
    std::string host;
    std::vector<std::pair<int, int>> ranks; /* first and last of each run */
    /* Nanoseconds to add to this node's CLOCK_MONOTONIC for the coordinator's,
     * and how wrong that may be. 0 on the coordinator's node. */
    std::int64_t clock_offset = 0;
    std::int64_t clock_error = 0;

    bool has(int rank) const;
};

/* How many there were, also where events are left out. */
struct TraceTotals {
    std::map<std::uint16_t, std::uint64_t> messages; /* orders and answers */
    std::uint64_t channels = 0; /* used before the cut, as READY says */
    std::uint64_t markers = 0;  /* on these */
    std::uint64_t first_use_markers = 0;
    std::uint64_t sweep = 0;
    std::uint64_t logged = 0;
    std::uint64_t logged_bytes = 0;

    std::uint64_t of(std::uint16_t type) const;
};

struct CheckpointTrace {
    std::string job;
    std::uint64_t number = 0;
    std::string protocol;       /* "sns", "cl", "ns" */
    std::int64_t requested = 0; /* ns since 1970 */
    int rank_count = 0;
    std::vector<TraceNode> nodes;
    std::vector<std::uint32_t> sides; /* of the mesh that was swept; or none */
    TraceTotals totals;
    /* Where there were too many events: only ranks that are multiples of this
     * have theirs; and how many events are left out in all. */
    int every = 1;
    std::uint64_t left_out = 0;
    std::vector<TraceEvent> events; /* by time() */

    /* The node of a rank as an index; -1 if there is none. */
    int node_of(int rank) const;

    /* JSON text with one line for each event, and back. parse() throws Error,
     * in which `name` is how the text is called, unless each field is there and
     * each rank and node is one of the job. */
    std::string text() const;
    static CheckpointTrace parse(const std::string &text,
                                 const std::string &name);

    /* DIRECTORY/trace.json. write() does not wait for the disk. Both throw
     * Error; load() of code ENOENT if there is no such file. */
    void write(const std::filesystem::path &directory) const;
    static CheckpointTrace load(const std::filesystem::path &directory);
};

} // namespace ckpt
