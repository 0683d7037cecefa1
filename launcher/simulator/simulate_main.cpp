/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * simulate_main.cpp - ckpt-simulate: messages and times of a checkpoint of a
 * job with up to a million ranks (docs/simulator.md).
 */
#include "config.h"

#include "simulator/result_text.hpp"

#include "common/error.hpp"

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <algorithm>
#include <exception>
#include <fstream>

namespace
{

using namespace ckpt::simulator;

struct Options {
    Scenario scenario;
    std::string pattern = "ring";
    PatternOptions pattern_options;
    std::string trace;
    /* Limit of messages of an all-to-all round; larger rounds are not
     * simulated. */
    std::uint64_t most_messages = 20'000'000;
    bool json = false;
};

void declare_checkpoint(CLI::App &app, Options &options)
{
    CheckpointOptions &checkpoint = options.scenario.checkpoint;
    app.add_option("--protocol", options.scenario.protocol, "sns, cl or ns")
        ->transform(CLI::CheckedTransformer(ckpt::protocol_names));
    app.add_flag("--stagger", checkpoint.stagger,
                 "Ranks save one after the other");
    app.add_option("--writers", checkpoint.writers,
                   "Ranks of a file system that are saved at once; 0: all");
    app.add_option("--dimensions", checkpoint.dimensions,
                   "ns: of the mesh; 0 is a hypercube");
    app.add_option("--at", options.scenario.at,
                   "Seconds before the checkpoint; default: 3 rounds");
}

void declare_program(CLI::App &app, Options &options)
{
    PatternOptions &pattern = options.pattern_options;
    app.add_option("--pattern", options.pattern, "What ranks do")
        ->check(CLI::IsMember(pattern_names()));
    app.add_option("--trace", options.trace, "Recorded run, instead")
        ->check(CLI::ExistingFile);
    app.add_option("--period", pattern.period, "Seconds of a round");
    app.add_option("--imbalance", pattern.imbalance,
                   "Spread of the period, as a fraction");
    app.add_option("--bytes", pattern.bytes, "Of a message");
    app.add_option("--peers", pattern.peers, "Of a rank: pattern random")
        ->check(CLI::PositiveNumber);
    app.add_option("--most-messages", options.most_messages,
                   "All-to-all with more in a round is not simulated");
}

void declare_job(CLI::App &app, JobModel &job)
{
    app.add_option("--ranks", job.ranks, "Number of ranks")
        ->check(CLI::Range(1U, 1U << 24));
    app.add_option("--ranks-per-node", job.ranks_per_node)
        ->check(CLI::PositiveNumber);
    app.add_option("--latency-inside", job.latency_inside,
                   "Seconds, within a node");
    app.add_option("--latency-between", job.latency_between,
                   "Seconds, between nodes");
    app.add_option("--byte-inside", job.byte_inside, "Seconds for a byte");
    app.add_option("--byte-between", job.byte_between, "Seconds for a byte");
    app.add_option("--handling", job.handling,
                   "Seconds for a message, at either end");
    app.add_option("--latency-spread", job.latency_spread,
                   "How much longer a channel may take, as a fraction");
    app.add_option("--image", job.image_bytes, "Bytes of a rank's image");
    app.add_option("--bandwidth", job.bandwidth,
                   "Bytes a second of a file system")
        ->check(CLI::PositiveNumber);
    app.add_option("--ranks-per-file-system", job.ranks_per_file_system,
                   "How many share one; 0: all");
    app.add_option("--closing", job.closing,
                   "Seconds to close the files and to write the manifest");
    app.add_option("--seed", job.seed, "Of all that is random");
}

std::unique_ptr<Program> make_program(Options &options)
{
    Scenario &scenario = options.scenario;
    if (!options.trace.empty()) {
        std::ifstream lines(options.trace);
        return read_trace(lines, scenario.job);
    }
    const std::uint64_t ranks = scenario.job.ranks;
    if (options.pattern == "all-to-all" &&
        ranks * (ranks - 1) > options.most_messages) {
        const Seconds rounds = scenario.at / options.pattern_options.period;
        scenario.checkpoint.uniform =
            std::max<std::uint64_t>(1, static_cast<std::uint64_t>(rounds));
    }
    return make_pattern(options.pattern, scenario.job, options.pattern_options);
}

int run(int argc, char **argv)
{
    Options options;
    options.scenario.at = -1;
    CLI::App app("Simulates one checkpoint of a job.", "ckpt-simulate");
    app.option_defaults()->always_capture_default();
    declare_checkpoint(app, options);
    declare_program(app, options);
    declare_job(app, options.scenario.job);
    app.add_flag("--json", options.json, "Print as JSON");
    CLI11_PARSE(app, argc, argv);
    if (options.scenario.at < 0) {
        options.scenario.at = 3 * options.pattern_options.period;
    }
    auto program = make_program(options);
    const Result result = simulate(options.scenario, *program);
    const auto text = options.json ? to_json : to_text;
    fmt::print("{}", text(options.scenario, program->name(), result));
    return 0;
}

} // namespace

int main(int argc, char **argv)
{
    try {
        return run(argc, argv);
    } catch (const std::exception &error) {
        fmt::print(stderr, "ckpt-simulate: {}\n", error.what());
        return 1;
    }
}
