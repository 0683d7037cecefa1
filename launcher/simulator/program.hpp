/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * program.hpp - the operations of the simulated ranks: a synthetic
 * communication pattern, or a recorded trace.
 */
#pragma once

#include "simulator/job_model.hpp"

#include <istream>
#include <memory>
#include <string>
#include <vector>

namespace ckpt::simulator
{

struct Operation {
    enum class Kind {
        compute,     /* for `duration` */
        send,        /* `bytes` to `peer`; does not wait for the receiver */
        reply,       /* sends to the sender of the last received message */
        receive,     /* waits for the next message from `peer` */
        receive_any, /* waits for the next message from any rank */
        collective,  /* of all ranks; no rank leaves before all have entered */
        end,
    };
    Kind kind;
    Rank peer = 0;
    std::uint64_t bytes = 0;
    Seconds duration = 0;
};

class Program
{
  public:
    virtual ~Program() = default;
    virtual std::string name() const = 0;
    /* Returns the rank's next operation. */
    virtual Operation next(Rank rank) = 0;
};

struct PatternOptions {
    Seconds period = 1e-3;      /* average computation per round */
    double imbalance = 0.2;     /* least to most, as part of the period */
    std::uint64_t bytes = 1024; /* per message */
    Rank peers = 4;             /* per rank and round: pattern random */
};

/*
 * Returns the names of the patterns. Each is a round that repeats without end:
 *   independent  compute
 *   ring         compute, send to the next rank, receive from the one before
 *   all-to-all   compute, send to all others, receive from all others
 *   wildcard     rank 0 answers messages from any rank; others compute, send
 *                to rank 0 and wait for the answer
 *   collective   compute, a collective of all ranks
 *   random       compute, send to some ranks, receive from as many: the same
 *                distances for all ranks, different ones in each round
 */
const std::vector<std::string> &pattern_names();
/* Throws Error for an unknown name. */
std::unique_ptr<Program> make_pattern(const std::string &name,
                                      const JobModel &job,
                                      const PatternOptions &options);

/* Reads a recorded run (format: docs/simulator.md). Between two operations a
 * rank computes as long as it did not communicate in the trace. Sets job.ranks.
 * Throws Error naming the line. */
std::unique_ptr<Program> read_trace(std::istream &lines, JobModel &job);

} // namespace ckpt::simulator
