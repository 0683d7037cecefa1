/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cmd_list.cpp - `ckpt list`: the checkpoints of a directory.
 */
#include "cli/checkpoints.hpp"
#include "cli/json_text.hpp"
#include "cli/table.hpp"
#include "common/durations.hpp"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace ckpt::cli
{

namespace
{

using Json = nlohmann::ordered_json;

Json to_json(const Checkpoint &checkpoint)
{
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
    return json;
}

/* Cells of the table; what is not known is "-". */
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
        add_directory_option(app, directory_);
        add_flag(app, "--json", json_, "Print as JSON");
    }

    int run(const Words &) override
    {
        std::vector<Checkpoint> all = checkpoints();
        if (json_) {
            print_json(all);
        }
        if (all.empty()) {
            stop_with(exit_not_found, "there is no checkpoint in {}",
                      (std::filesystem::path(directory_) / job_).string());
        }
        if (!json_) {
            print_table(all);
        }
        return exit_done;
    }

  private:
    std::vector<Checkpoint> checkpoints() const
    {
        std::vector<Checkpoint> all;
        auto store = open_store(directory_);
        auto jobs = !store         ? Words{}
                    : job_.empty() ? store->jobs()
                                   : Words{job_};
        for (const std::string &job : jobs) {
            for (Checkpoint &checkpoint : store->checkpoints(job)) {
                all.push_back(std::move(checkpoint));
            }
        }
        return all;
    }

    static void print_json(const std::vector<Checkpoint> &checkpoints)
    {
        Json json = Json::array();
        for (const Checkpoint &checkpoint : checkpoints) {
            json.push_back(to_json(checkpoint));
        }
        fmt::print("{}", json_text(json));
    }

    static void print_table(const std::vector<Checkpoint> &checkpoints)
    {
        Table table({"CHECKPOINT", "CREATED", "RANKS", "SIZE", "STATE"});
        for (const Checkpoint &checkpoint : checkpoints) {
            table.add(to_row(checkpoint));
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
