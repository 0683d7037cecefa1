/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cmd_gc.cpp - `ckpt gc`: removes old, damaged and incomplete checkpoints.
 */
#include "cli/jobs/checkpoints.hpp"
#include "cli/base/options.hpp"
#include "common/host.hpp"
#include "common/invariant.hpp"
#include "image/store/job_owner.hpp"
#include "image/store/node_garbage.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace ckpt::cli
{

namespace
{

/* Returns the other nodes that may have parts of the checkpoint. */
std::string elsewhere(const Checkpoint &checkpoint)
{
    CKPT_EXPECT(checkpoint.manifest); /* its record has it */
    std::set<std::string> hosts;
    for (const Piece &piece : checkpoint.manifest->pieces) {
        if (piece.host != host_name()) {
            hosts.insert(piece.host);
        }
    }
    return hosts.empty() ? ""
                         : fmt::format("; ckpt gc on {} removes its files, in {}",
                                       fmt::join(hosts, ", "), checkpoint.directory.string());
}

bool is_in(const std::set<std::filesystem::path> &directories, const std::filesystem::path &one)
{
    return std::ranges::any_of(directories, [&](const std::filesystem::path &other) {
        std::error_code error;
        return one == other || std::filesystem::equivalent(one, other, error);
    });
}

/* Returns the number of the checkpoint that a restart of the job is reading; 0:
 * none. */
std::uint64_t used_of(const Tiers &tiers, const std::string &job)
{
    const auto owner = owner_of(tiers.records(job));
    return owner ? owner->uses : 0;
}

class GcCommand : public Command
{
  public:
    void declare(CLI::App &app) override
    {
        app.add_option("JOB", job_, "Only those of this job");
        add_option(app, "--dir", directory_);
        add_option(app, "--keep", keep_);
        add_option(app, "--dry-run", dry_run_);
    }

    int run(const Words &) override
    {
        require_name_of_job(job_);
        const Tiers tiers = require_tiers(directories_of(directory_));
        std::set<std::filesystem::path> done;
        for (const std::string &job : job_.empty() ? tiers.jobs() : Words{job_}) {
            done.merge(collect_on_nodes(tiers, job));
        }
        Store::InUse in_use;
        for (const std::string &job : tiers.jobs()) {
            in_use[job] = used_of(tiers, job);
        }
        for (const Store &store : tiers.stores()) {
            collect(store, tiers.directories().has_slow(), done, in_use);
        }
        if (removed_ == 0) {
            fmt::print("{}\n", dry_run_ ? "nothing would be removed" : "nothing was to be removed");
        }
        return exit_done;
    }

  private:
    /* Collects garbage, except in the directories `done`. */
    void collect(const Store &store, bool says_where,
                 const std::set<std::filesystem::path> &done, const Store::InUse &in_use) const
    {
        const Store::Garbage garbage = store.garbage(keep_, job_, in_use);
        say_unreadable(garbage.unreadable);
        for (const Checkpoint &checkpoint : garbage.checkpoints) {
            if (is_in(done, checkpoint.directory)) {
                continue;
            }
            const Words stays = dry_run_ ? Words() : store.remove(checkpoint);
            say(checkpoint, says_where ? " in " + store.directory().string() : "");
            say_what_stays(checkpoint, stays);
        }
        for (const std::string &name : job_.empty() ? store.foreign_directories() : Words()) {
            fmt::print("left {} alone, which ckpt has not made\n",
                       (store.directory() / name).string());
        }
    }

    /* Returns the directories of recorded checkpoints. They are removed already
     * or still needed. */
    std::set<std::filesystem::path> collect_on_nodes(const Tiers &tiers,
                                                     const std::string &job) const
    {
        NodeGarbage garbage = node_garbage(tiers, job, keep_, used_of(tiers, job));

        for (const Checkpoint &checkpoint : garbage.noted) {
            if (!dry_run_) {
                say_what_stays(checkpoint, remove_noted(tiers, checkpoint));
            }
            say(checkpoint, " on nodes" + elsewhere(checkpoint));
            garbage.needed.insert(checkpoint.directory);
        }
        for (const Checkpoint &checkpoint : garbage.left) {
            if (!dry_run_) {
                say_what_stays(checkpoint, remove_left(checkpoint));
            }
            say(checkpoint, ", left in " + checkpoint.directory.string());
        }
        return std::move(garbage.needed);
    }

    /* Older checkpoints stay too, because the unreadable one may need them. */
    static void say_unreadable(const std::vector<Checkpoint> &checkpoints)
    {
        for (const Checkpoint &checkpoint : checkpoints) {
            fmt::print(stderr, "ckpt: {} and older checkpoints stay: {}\n", checkpoint.name(),
                       checkpoint.reason);
        }
    }

    static void say_what_stays(const Checkpoint &checkpoint, const Words &names)
    {
        if (!names.empty()) {
            fmt::print("left in {} these files, which are not of ckpt: {}\n",
                       checkpoint.directory.string(), fmt::join(names, ", "));
        }
    }

    void say(const Checkpoint &checkpoint, const std::string &where) const
    {
        CKPT_EXPECT(checkpoint.number > 0 && !checkpoint.job.empty());
        removed_++;
        fmt::print("{} {} ({}){}\n", dry_run_ ? "would remove" : "removed", checkpoint.name(),
                   state_name(checkpoint.state), where);
    }

    std::string job_;
    std::string directory_;
    std::size_t keep_ = 0;
    bool dry_run_ = false;
    mutable std::size_t removed_ = 0;
};

} // namespace

std::unique_ptr<Command> make_gc_command()
{
    return std::make_unique<GcCommand>();
}

} // namespace ckpt::cli
