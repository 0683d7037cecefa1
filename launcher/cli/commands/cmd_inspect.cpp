/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cmd_inspect.cpp - `ckpt inspect`: shows the content of a checkpoint.
 */
#include "cli/jobs/checkpoints.hpp"
#include "cli/jobs/image_view.hpp"
#include "cli/base/json_text.hpp"
#include "cli/base/options.hpp"
#include "cli/run/run_line.hpp"
#include "cli/base/table.hpp"
#include "common/durations.hpp"
#include "common/invariant.hpp"
#include "image/seal/image_key.hpp"

#include <fmt/core.h>
#include <fmt/format.h>

namespace ckpt::cli
{

namespace
{

std::string text_of(const Json &value)
{
    return value.is_string() ? value.get<std::string>() : value.dump();
}

/* Returns a table with one row for each object of a list, and one column for
 * each name. Numbers in columns "stored" and "...bytes" are formatted as
 * sizes. */
std::string list_text(const Json &list, const Words &names,
                      const Words &headings)
{
    CKPT_EXPECT(names.size() == headings.size());
    Table table(headings);
    for (const Json &object : list) {
        std::vector<std::string> cells;
        for (const std::string &name : names) {
            if (!object.contains(name)) {
                cells.emplace_back();
            } else if (name.ends_with("bytes") || name == "stored") {
                cells.push_back(
                    format_bytes(object[name].get<std::uint64_t>()));
            } else {
                cells.push_back(text_of(object[name]));
            }
        }
        table.add(std::move(cells));
    }
    return table.text();
}

std::string snapshot_text(const Manifest &manifest)
{
    if (manifest.standing == 0) {
        return manifest.snapshot;
    }
    return fmt::format("{}, but stop for {} of the ranks", manifest.snapshot,
                       manifest.standing);
}

std::string manifest_text(const Manifest &manifest)
{
    const Launch &launch = manifest.launch;
    const Timings &timings = manifest.timings;
    std::string text = fmt::format(
        "checkpoint   {}/{}\ncreated      {}\nranks        {}\n"
        "size         {}, codec {}\n",
        manifest.job, manifest.number, format_time(manifest.created),
        manifest.rank_count, format_bytes(manifest.bytes()), manifest.codec);
    text += fmt::format("started by   {}\n             in {}\n",
                        shell_words(launch.launcher),
                        launch.launcher_directory);
    text += fmt::format("application  {}\n", shell_words(launch.application));
    if (!launch.waiting_parent.empty()) {
        text += fmt::format("waited for   by {}\n", shell_words(launch.waiting_parent));
    }
    for (const auto &[name, value] : launch.environment) {
        text += fmt::format("setting      {}={}\n", name, value);
    }
    for (const auto &[name, value] : launch.facts) {
        text += fmt::format("fact         {}: {}\n", name, value);
    }
    text += fmt::format("protocol     {}\n", manifest.protocol);
    text += fmt::format("snapshot     {}\n", snapshot_text(manifest));
    text += fmt::format(
        "times        {} to stop all, {} stopped, {} draining, {} capturing\n",
        format_seconds(timings.request_to_stop), format_seconds(timings.stop),
        format_seconds(timings.drain), format_seconds(timings.capture));
    if (!manifest.replayed.empty()) {
        text += fmt::format("replayed     rank {}, which had died\n",
                            fmt::join(manifest.replayed, ", "));
    }
    for (const Piece &piece : manifest.pieces) {
        text += fmt::format("file         {} ({}, {}): {}{}\n", piece.file,
                            piece.host, format_bytes(piece.bytes),
                            counted(piece.ranks.size(), "rank"),
                            piece.base == 0
                                ? std::string()
                                : fmt::format(", on top of checkpoint {}", piece.base));
    }
    return text;
}

std::string rank_text(const Json &rank)
{
    std::string text = fmt::format(
        "rank {}, process {}, {}\nworking directory {}, umask {}\n\n",
        text_of(rank["rank"]), text_of(rank["pid"]),
        text_of(rank["executable"]), text_of(rank["working_directory"]),
        text_of(rank["umask"]));
    text += list_text(
        rank["regions"],
        {"start", "end", "bytes", "stored", "protection", "kind", "path"},
        {"START", "END", "SIZE", "STORED", "PROT", "KIND", "PATH"});
    text += "\n" + list_text(rank["files"],
                             {"descriptor", "kind", "offset", "flags", "path"},
                             {"FD", "KIND", "OFFSET", "FLAGS", "PATH"});
    text += fmt::format("\nthreads: the main one");
    for (const Json &thread : rank["other_threads"]) {
        text += fmt::format(", {} ({})", text_of(thread["tid"]),
                            text_of(thread["name"]));
    }
    text += fmt::format("\nlogged: {} messages that crossed the cut, {}",
                        text_of(rank["logged_messages"]),
                        format_bytes(rank["logged_bytes"]));
    return text + fmt::format("\nMPI: {}", json_text(rank["mpi"]));
}

class InspectCommand : public Command
{
  public:
    void declare(CLI::App &app) override
    {
        app.add_option("CHECKPOINT", checkpoint_,
                       "JOB/NUMBER, JOB, or a path [newest committed one]");
        add_option(app, "--dir", directory_);
        add_option(app, "--key", key_);
        add_option(app, "--rank", rank_);
        add_option(app, "--json", json_);
    }

    int run(const Words &) override
    {
        use_image_key(key_);
        Checkpoint checkpoint =
            find_checkpoint_here(directories_of(directory_), checkpoint_);
        if (rank_ < 0) {
            show_all(checkpoint);
        } else {
            show_rank(checkpoint);
        }
        return exit_done;
    }

  private:
    void show_all(const Checkpoint &checkpoint) const
    {
        CKPT_EXPECT(rank_ < 0 && checkpoint.manifest);
        Json ranks = Json::array();
        for (const Piece &piece : checkpoint.manifest->pieces) {
            NodeFileReader reader =
                open_piece(checkpoint.directory, *checkpoint.manifest, piece);
            for (int rank : reader.ranks()) {
                ranks.push_back(view_of_rank(reader.rank(rank)));
            }
        }
        if (json_) {
            Json json = view_of_manifest(*checkpoint.manifest);
            json["ranks"] = ranks;
            fmt::print("{}", json_text(json));
            return;
        }
        fmt::print("{}\n{}", manifest_text(*checkpoint.manifest),
                   list_text(ranks,
                             {"rank", "pid", "memory_bytes", "stored_bytes",
                              "region_count", "thread_count", "file_count",
                              "logged_messages", "logged_bytes", "executable"},
                             {"RANK", "PID", "MEMORY", "STORED", "REGIONS",
                              "THREADS", "FILES", "LOGGED", "LOG", "PROGRAM"}));
    }

    void show_rank(const Checkpoint &checkpoint) const
    {
        CKPT_EXPECT(rank_ >= 0 && checkpoint.manifest);
        const Manifest &manifest = *checkpoint.manifest;
        if (rank_ >= manifest.rank_count) {
            stop_with(exit_not_found, "{} has ranks 0 to {}, not {}",
                      checkpoint.name(), manifest.rank_count - 1, rank_);
        }
        NodeFileReader reader =
            open_piece(checkpoint.directory, manifest, manifest.piece_of(rank_));
        Json json = detailed_view_of_rank(reader.rank(rank_), reader.chunk_size());
        fmt::print("{}", json_ ? json_text(json) : rank_text(json));
    }

    std::string checkpoint_;
    std::string directory_;
    std::string key_;
    int rank_ = -1;
    bool json_ = false;
};

} // namespace

std::unique_ptr<Command> make_inspect_command()
{
    return std::make_unique<InspectCommand>();
}

} // namespace ckpt::cli
