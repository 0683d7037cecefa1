/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * program.hpp - what the ranks of the simulated job do: a synthetic pattern of
 * communication, or what a trace has recorded.
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
        reply,       /* to the sender of the message received last */
        receive,     /* waits for the next message from `peer` */
        receive_any, /* waits for the next message from anybody */
        collective,  /* of all ranks; nobody leaves before all have entered */
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
    /* What a rank does next. */
    virtual Operation next(Rank rank) = 0;
};

struct PatternOptions {
    Seconds period = 1e-3;      /* of computation in a round, on average */
    double imbalance = 0.2;     /* least to most, as a fraction of the period */
    std::uint64_t bytes = 1024; /* of a message */
    Rank peers = 4;             /* of a rank in a round: pattern random */
};

/* The names of the patterns, each a round that is repeated without end:
 *   independent  compute
 *   ring         compute, send to the next rank, receive from the one before
 *   all-to-all   compute, send to all others, receive from all others
 *   wildcard     rank 0 answers whoever has sent; others compute, send to it
 *                and wait for the answer
 *   collective   compute, a collective of all
 *   random       compute, send to some ranks, receive from as many: the same
 *                distances for all ranks, other ones in each round */
const std::vector<std::string> &pattern_names();
/* Throws Error for a name that is none of them. */
std::unique_ptr<Program> make_pattern(const std::string &name,
                                      const JobModel &job,
                                      const PatternOptions &options);

/* A recorded run (docs/simulator.md has the format). Between two operations a
 * rank computes as long as it did not communicate in the trace. Sets job.ranks.
 * Throws Error that names the line. */
std::unique_ptr<Program> read_trace(std::istream &lines, JobModel &job);

} // namespace ckpt::simulator
