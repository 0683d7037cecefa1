/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * settings.cpp - options of a job, and the variables that carry them.
 */
#include "cli/jobs/settings.hpp"

#include "cli/jobs/checkpoints.hpp"
#include "cli/base/options.hpp"
#include "cli/base/usage.hpp"
#include "common/durations.hpp"
#include "common/switch.hpp"
#include "fabric/choice.hpp"
#include "image/codec/codec.hpp"
#include "image/seal/image_key.hpp"
#include "image/memory/page_pool.hpp"
#include "image/model/snapshot_method.hpp"
#include "image/store/store.hpp"
#include "protocol/checkpoint_interval.hpp"
#include "protocol/cut_choice.hpp"

#include <cstdlib>

namespace fs = std::filesystem;

namespace ckpt::cli
{

namespace
{

/* Runs a check that throws Error if an option's value is invalid. */
template <typename Check>
void require_valid(const char *option, Check check)
{
    try {
        check();
    } catch (const Error &problem) {
        stop_with(exit_usage, "{}: {}", option, problem.what());
    }
}

void require_number(const std::string &text)
{
    if (text.find_first_not_of("0123456789") != std::string::npos || text.size() > 9) {
        fail("{} is not a whole number", text);
    }
}

void require_count(const std::string &text)
{
    require_number(text);
    if (std::stoul(text) == 0) {
        fail("{} is not above 0", text);
    }
}

void require_way_of_puts(const std::string &text)
{
    if (text != "staged" && text != "direct") {
        fail("'{}' is none of staged, direct", text);
    }
}

void require_above_zero(const std::string &time)
{
    if (parse_duration(time).count() == 0) {
        fail("invalid duration '{}': must be greater than 0", time);
    }
}

} // namespace

void JobSettings::declare(CLI::App &app)
{
    add_option(app, "--dir", directory_,
               std::string("Directory of the checkpoints, or a fast and a slow one; checkpoints "
                           "are copied to the slow one [") +
                   default_directory + "]")
        ->type_name("DIR[,SLOW]");
    add_option(app, "--levels", levels_,
               "Where checkpoints are kept: memory or local of each node; partner, parity or "
               "rsLOSSES, which survive lost nodes; disk:TIME, the directory")
        ->type_name("LEVEL[:every|:TIME],...");
    add_option(app, "--domains", domains_,
               "File that says which nodes fail together: lines NODE... : DOMAIN, or Slurm's "
               "topology.conf")
        ->type_name("FILE");
    add_option(app, "--fabric", fabric_,
               "Network over which nodes read each other's pieces: auto, off (TCP), or a "
               "provider of libfabric")
        ->type_name("PROVIDER");
    add_option(app, "--interval", interval_,
               "Take a checkpoint every TIME: 90, 10m, 1.5h, or auto")
        ->type_name("TIME");
    add_option(app, "--mtbf", mtbf_,
               "Mean time between failures, for --interval auto [observed]")
        ->type_name("TIME");
    add_option(app, "--name", name_, "Name of the job")->type_name("NAME");
    add_option(app, "--protocol", protocol_,
               "How the ranks agree on a checkpoint: sns, cl, ns, auto or independent")
        ->type_name("PROTOCOL");
    add_option(app, "--windows", windows_,
               "When puts are in their target's memory (independent): staged, with the next "
               "synchronisation, or direct, at once")
        ->type_name("WHEN");
    add_option(
        app, "--stagger", stagger_,
        "Ranks saved one after the other: no, node, storage, job or auto")
        ->type_name("WHICH");
    add_option(app, "--sweep-dimensions", sweep_dimensions_,
               "Dimensions of the mesh of nodes [a hypercube]")
        ->type_name("N");
    add_key_option(app, key_);
    add_option(app, "--codec", codec_,
               "Compression: none, lz4, zstd, zstd:LEVEL or auto")
        ->type_name("CODEC");
    add_option(app, "--snapshot", snapshot_,
               "How long ranks stand still: stop, memory, cow, cll or auto")
        ->type_name("METHOD");
    add_option(app, "--pool", pool_,
               "Memory of a node for copies of pages that ranks write to before they are saved "
               "(cll) [up to a quarter of the free memory]")
        ->transform(byte_size())
        ->type_name("BYTES");
    add_option(app, "--granule", granule_, "Bytes that are copied at once (cll)")
        ->transform(byte_size())
        ->type_name("BYTES");
    add_option(app, "--share-pages", share_pages_,
               "Store pages that are alike on a node once: auto, on or off")
        ->type_name("WHEN");
    add_option(app, "--direct-io", direct_io_,
               "Write past the page cache: auto, on or off")
        ->type_name("WHEN");
    add_option(app, "--write-rate", write_rate_,
               "Write at most so many bytes per second on a node: 200M, 1G")
        ->transform(byte_size())
        ->type_name("BYTES");
    app.add_flag("--incremental{16}", incremental_,
                 "Incremental: up to N (16) checkpoints with only the changed pages after each "
                 "full one")
        ->envname("CKPT_INCREMENTAL");
    add_option(app, "--keep", keep_, "Checkpoints to keep of the job")
        ->type_name("N");
    add_option(app, "--timeout", timeout_,
               "Give up a checkpoint that takes longer than TIME")
        ->type_name("TIME");
    add_option(app, "--metrics", metrics_,
               "Keep a file with metrics of the job for Prometheus; %h is the host, %j the "
               "job")
        ->type_name("FILE");
}

Environment JobSettings::environment() const
{
    Environment variables;
    if (!directory_.empty() || !levels_.empty()) {
        variables["CKPT_DIR"] = directories().text();
    }
    if (!levels_.empty()) {
        if (!incremental_.empty() && incremental_ != "0") {
            stop_with(exit_usage, "--levels: increments are for one directory that all nodes "
                                  "see, not with --incremental");
        }
        variables["CKPT_REDUNDANCY"] = levels().redundancy;
        variables["CKPT_COPY_INTERVAL"] =
            fmt::format("{}", std::chrono::duration<double>(levels().disk).count());
    }
    if (!domains_.empty()) {
        variables["CKPT_DOMAINS"] = fs::absolute(domains_);
    }
    if (!fabric_.empty()) {
        require_valid("--fabric", [&] { fabric::Choice::parse(fabric_); });
        variables["CKPT_FABRIC"] = fabric_;
    }
    if (!interval_.empty()) {
        require_valid("--interval", [&] { CheckpointInterval::parse(interval_); });
        variables["CKPT_INTERVAL"] = interval_;
    }
    if (!mtbf_.empty()) {
        require_valid("--mtbf", [&] { require_above_zero(mtbf_); });
        variables["CKPT_MTBF"] = mtbf_;
    }
    if (!name_.empty()) {
        require_valid("--name", [&] { require_job_name(name_); });
        variables["CKPT_NAME"] = name_;
    }
    if (!protocol_.empty()) {
        require_valid("--protocol",
                      [&] { CutChoice::protocol_from(protocol_); });
        variables["CKPT_PROTOCOL"] = protocol_;
    }
    if (!windows_.empty()) {
        require_valid("--windows", [&] { require_way_of_puts(windows_); });
        variables["CKPT_WINDOWS"] = windows_;
    }
    if (!stagger_.empty()) {
        require_valid("--stagger", [&] { CutChoice::stagger_from(stagger_); });
        variables["CKPT_STAGGER"] = stagger_;
    }
    if (!sweep_dimensions_.empty()) {
        require_valid("--sweep-dimensions",
                      [&] { require_count(sweep_dimensions_); });
        variables["CKPT_SWEEP_DIMENSIONS"] = sweep_dimensions_;
    }
    if (!key_.empty()) {
        variables[key_variable] = absolute_key_source(key_);
        if (!protocol_.empty() && protocol_ != "sns" && protocol_ != "auto") {
            stop_with(exit_usage, "--protocol {} does not take a key yet: only sns does",
                      protocol_);
        }
    }
    if (!codec_.empty()) {
        require_valid("--codec", [&] { Codec::parse(codec_); });
        variables["CKPT_CODEC"] = codec_;
    }
    if (!snapshot_.empty()) {
        require_valid("--snapshot", [&] { snapshot_method_from(snapshot_); });
        variables["CKPT_SNAPSHOT"] = snapshot_;
    }
    if (!pool_.empty()) {
        variables["CKPT_POOL"] = pool_;
    }
    if (!granule_.empty()) {
        require_valid("--granule", [&] { require_granule(std::stoull(granule_)); });
        variables["CKPT_GRANULE"] = granule_;
    }
    if (!share_pages_.empty()) {
        require_valid("--share-pages", [&] { switch_from(share_pages_); });
        variables["CKPT_SHARE_PAGES"] = share_pages_;
    }
    if (!direct_io_.empty()) {
        require_valid("--direct-io", [&] { switch_from(direct_io_); });
        variables["CKPT_DIRECT_IO"] = direct_io_;
    }
    if (!write_rate_.empty()) {
        variables["CKPT_WRITE_RATE"] = write_rate_;
    }
    if (!incremental_.empty()) {
        require_valid("--incremental", [&] { require_number(incremental_); });
        variables["CKPT_INCREMENTAL"] = incremental_;
    }
    if (!keep_.empty()) {
        require_valid("--keep", [&] { require_count(keep_); });
        variables["CKPT_KEEP"] = keep_;
    }
    if (!timeout_.empty()) {
        require_valid("--timeout", [&] { parse_duration(timeout_); });
        variables["CKPT_TIMEOUT"] = timeout_;
    }
    if (!metrics_.empty()) {
        variables["CKPT_METRICS"] = fs::absolute(metrics_);
    }
    return variables;
}

TierDirectories JobSettings::directories() const
{
    TierDirectories directories =
        directories_of(directory_.empty() ? default_directory : directory_);
    if (!levels_.empty() && !directories.has_slow()) {
        directories = directories_of(levels().on_nodes.string() + "," + directories.text());
    }
    return directories;
}

/* Throws CommandError(exit_usage) if --levels is invalid. */
Levels JobSettings::levels() const
{
    try {
        return Levels::parse(levels_);
    } catch (const Error &problem) {
        stop_with(exit_usage, "--levels: {}", problem.what());
    }
}

fs::path library_directory()
{
    std::string given = variable("CKPT_LIBDIR");
    return given.empty() ? CKPT_LIBRARY_DIRECTORY : given;
}

std::string variable(const char *name)
{
    const char *value = std::getenv(name);
    return value != nullptr ? value : "";
}

} // namespace ckpt::cli
