/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cmd_list.cpp - `ckpt list`: lists the checkpoints of a directory.
 */
#include "cli/jobs/checkpoints.hpp"
#include "cli/base/json_text.hpp"
#include "cli/base/options.hpp"
#include "cli/base/table.hpp"
#include "cli/jobs/wait_notice.hpp"
#include "common/durations.hpp"
#include "common/invariant.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace ckpt::cli
{

namespace
{

using Json = nlohmann::ordered_json;

/* Returns the places where the checkpoint is complete. */
std::string tiers_of(const TierCheckpoint &entry, bool has_tiers)
{
    std::string places;
    for (const auto &[is_there, name] : {std::pair(entry.is_in_fast,
                                                   has_tiers ? "fast" : "disk"),
                                         std::pair(entry.on_nodes.has_value(), "nodes"),
                                         std::pair(entry.is_in_slow, "slow")}) {
        if (is_there) {
            places += (places.empty() ? "" : ", ") + std::string(name);
        }
    }
    return places.empty() ? "-" : places;
}

Json to_json(const TierCheckpoint &entry, bool has_tiers)
{
    const Checkpoint &checkpoint = entry.checkpoint;
    CKPT_EXPECT(checkpoint.manifest || checkpoint.state != Checkpoint::State::committed);
    Json json = {{"name", checkpoint.name()},
                 {"job", checkpoint.job},
                 {"number", checkpoint.number},
                 {"path", checkpoint.directory.string()},
                 {"state", state_name(checkpoint.state)}};
    if (checkpoint.manifest) {
        json["created"] = format_time(checkpoint.manifest->created);
        json["ranks"] = checkpoint.manifest->rank_count;
        json["bytes"] = checkpoint.manifest->bytes();
        json["codec"] = checkpoint.manifest->codec;
        json["hosts"] = checkpoint.manifest->hosts;
    } else {
        json["reason"] = checkpoint.reason;
    }
    if (has_tiers) {
        json["in_fast"] = entry.is_in_fast;
        json["in_slow"] = entry.is_in_slow;
    } else {
        json["on_disk"] = entry.is_in_fast;
    }
    json["on_nodes"] = entry.on_nodes.has_value();
    return json;
}

/* Returns the cells of a table row; unknown values are "-". */
std::vector<std::string> to_row(const Checkpoint &checkpoint)
{
    std::string state = state_name(checkpoint.state);
    if (!checkpoint.manifest) {
        if (!checkpoint.reason.empty()) {
            state += ": " + checkpoint.reason;
        }
        return {checkpoint.name(), "-", "-", "-", state};
    }
    const Manifest &manifest = *checkpoint.manifest;
    std::string created = format_time(manifest.created);
    return {checkpoint.name(),
            created.substr(0, created.find('.')) + "Z",
            std::to_string(manifest.rank_count),
            format_bytes(manifest.bytes()),
            state};
}

class ListCommand : public Command
{
  public:
    void declare(CLI::App &app) override
    {
        app.add_option("JOB", job_, "Only those of this job");
        add_option(app, "--dir", directory_);
        add_option(app, "--json", json_);
    }

    int run(const Words &) override
    {
        require_name_of_job(job_);
        const TierDirectories directories = directories_of(directory_);
        const std::vector<TierCheckpoint> all = checkpoints(directories);
        if (json_) {
            print_json(all, directories.has_slow());
        }
        if (all.empty() && job_.empty() && !directories.has_slow()) {
            require_no_job_directory(directories.fast);
        }
        if (all.empty()) {
            stop_with(exit_not_found, "there is no checkpoint in {}",
                      job_.empty() ? directories.text()
                                   : (directories.fast / job_).string());
        }
        if (!json_) {
            print_table(all, directories.has_slow());
        }
        return exit_done;
    }

  private:
    std::vector<TierCheckpoint> checkpoints(const TierDirectories &directories) const
    {
        const WaitNotice notice(directories.text());
        std::vector<TierCheckpoint> all;
        auto tiers = Tiers::open(directories);
        auto jobs = !tiers         ? Words{}
                    : job_.empty() ? tiers->jobs()
                                   : Words{job_};
        if (tiers) {
            say_foreign(*tiers);
        }
        for (const std::string &job : jobs) {
            for (TierCheckpoint &checkpoint : tiers->checkpoints(job)) {
                all.push_back(std::move(checkpoint));
            }
        }
        return all;
    }

    /* In directories that ckpt has not created, only entries with a manifest
     * are surely checkpoints. */
    void say_foreign(const Tiers &tiers) const
    {
        for (const Store &store : tiers.stores()) {
            for (const std::string &name : store.foreign_directories()) {
                if (job_.empty() || name == job_) {
                    fmt::print(stderr, "ckpt: {} was not made by ckpt: only whole checkpoints "
                                       "in it are listed\n",
                               (store.directory() / name).string());
                }
            }
        }
    }

    static void print_json(const std::vector<TierCheckpoint> &checkpoints, bool has_tiers)
    {
        Json json = Json::array();
        for (const TierCheckpoint &checkpoint : checkpoints) {
            json.push_back(to_json(checkpoint, has_tiers));
        }
        fmt::print("{}", json_text(json));
    }

    static void print_table(const std::vector<TierCheckpoint> &checkpoints, bool has_tiers)
    {
        Words head = {"CHECKPOINT", "CREATED", "RANKS", "SIZE", "STATE"};
        const bool has_levels =
            has_tiers || std::ranges::any_of(checkpoints, [](const auto &entry) {
                return entry.on_nodes.has_value();
            });
        if (has_levels) {
            head.emplace(head.end() - 1, "TIERS");
        }
        Table table(head);
        for (const TierCheckpoint &checkpoint : checkpoints) {
            Words row = to_row(checkpoint.checkpoint);
            if (has_levels) {
                row.emplace(row.end() - 1, tiers_of(checkpoint, has_tiers));
            }
            table.add(row);
        }
        fmt::print("{}", table.text());
    }

    std::string job_;
    std::string directory_;
    bool json_ = false;
};

} // namespace

std::unique_ptr<Command> make_list_command()
{
    return std::make_unique<ListCommand>();
}

} // namespace ckpt::cli
