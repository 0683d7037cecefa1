/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * checkpoint_trace.hpp - the timeline of one checkpoint: the file trace.json
 * beside the manifest (docs/format.md, section 8), from which `ckpt trace`
 * draws a space-time diagram.
 *
 * A restart does not need the file.
 */
#pragma once

#include "common/refusal.hpp"
#include "image/model/checkpoint_names.hpp"

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

enum class TraceKind : std::uint8_t {
    order,    /* message from the coordinator to rank `to` */
    answer,   /* message from rank `from` to the coordinator */
    stopped,  /* rank `from` stops */
    resumed,  /* rank `from` runs again */
    cut,      /* rank `from` reaches the point at which it is saved */
    captured, /* the memory of rank `from` has been read */
    marker,   /* from rank `from` to rank `to`, with a count of messages */
    sweep,    /* from node `from` to node `to`, along one dimension */
    logged,   /* message of rank `from` to rank `to` that crossed the cut */
    written,  /* the file of node `from` is on disk */
    commit,   /* all files are on disk; the coordinator writes the manifest */
};

/* Stands for an unknown time. Known times are nanoseconds since the request. */
inline constexpr std::int64_t unknown_time =
    std::numeric_limits<std::int64_t>::min();

struct TraceEvent {
    TraceKind kind = TraceKind::order;
    bool first_use = false; /* marker: precedes a first message */
    std::uint16_t type = 0; /* order, answer: enum ckpt_message_type */
    std::int32_t from = -1;
    std::int32_t to = -1;
    /* `at`: when the event happened or the message was sent. `arrived`: when
     * the message was received. For orders and answers, `at` is when the
     * coordinator sent or received them. */
    std::int64_t at = unknown_time;
    std::int64_t arrived = unknown_time;
    /* marker: its count; sweep: the dimension; logged: bytes; order, answer:
     * the two arguments that message_format() names. */
    std::uint64_t value = 0;
    std::uint64_t more = 0;

    /* `at`, or `arrived` if `at` is unknown. */
    std::int64_t time() const { return at != unknown_time ? at : arrived; }
};

/* The name of a message and of its two relevant arguments; null: no such
 * argument. */
struct MessageFormat {
    std::uint16_t type;
    const char *name;
    const char *value;
    const char *more;
};
/* Returns null for a message type that plays no part in checkpoints. */
const MessageFormat *message_format(std::uint16_t type);

struct TraceNode {
    std::string host;
    std::vector<std::pair<int, int>> ranks; /* first and last of each run */
    /* Nanoseconds to add to this node's CLOCK_MONOTONIC to get the
     * coordinator's, and the maximum error of this offset. Both are 0 on the
     * coordinator's node. */
    std::int64_t clock_offset = 0;
    std::int64_t clock_error = 0;

    bool has(int rank) const;
};

/* Totals; they include events that the trace leaves out. */
struct TraceTotals {
    std::map<std::uint16_t, std::uint64_t> messages; /* orders and answers */
    std::uint64_t channels = 0;                      /* used before the cut, from READY */
    std::uint64_t markers = 0;                       /* sent on these channels */
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
    std::int64_t requested = 0; /* ns since the epoch of 1970 */
    int rank_count = 0;
    std::vector<TraceNode> nodes;
    std::vector<std::uint32_t> sides; /* of the swept mesh; or empty */
    TraceTotals totals;
    /* If there were too many events, the trace has only those of ranks that are
     * multiples of `every`. `left_out` is the number of omitted events. */
    int every = 1;
    std::uint64_t left_out = 0;
    std::vector<Refusal> refusals;  /* why earlier attempts of the same request were given up */
    std::vector<TraceEvent> events; /* by time() */

    /* Returns the index of the rank's node, or -1. */
    int node_of(int rank) const;

    /* Converts to JSON text with one line per event, and back. parse() throws
     * Error unless all fields are present and each rank and node belongs to the
     * job; `name` identifies the text in errors. */
    std::string text() const;
    static CheckpointTrace parse(const std::string &text,
                                 const std::string &name);

    /* Writes or reads DIRECTORY/trace.json. write() does not wait for the disk.
     * Both throw Error; load() throws code ENOENT if there is no such file. */
    void write(const std::filesystem::path &directory) const;
    static CheckpointTrace load(const std::filesystem::path &directory);
};

} // namespace ckpt
