/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * simulation.hpp - a job that runs for a while, then takes one checkpoint.
 */
#pragma once

#include "protocol/protocol.hpp"
#include "simulator/checkpoint.hpp"

#include <string>

namespace ckpt::simulator
{

struct Scenario {
    JobModel job;
    Protocol protocol = Protocol::sync_and_stop;
    CheckpointOptions checkpoint;
    Seconds at = 0; /* time of the request */
};

struct Result {
    MessageCounts messages;
    Checkpoint::Times times;
    Log log;
    Rank most_writers = 0;
    std::vector<Seconds> stop_times; /* by rank */
    std::uint64_t application_messages = 0;
    std::uint64_t events = 0;
    std::string detail;
};

/* Throws Error if the job deadlocks. */
Result simulate(const Scenario &scenario, Program &program,
                Recorder *recorder = nullptr);

} // namespace ckpt::simulator
