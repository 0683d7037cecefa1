/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cmd_trace.cpp - `ckpt trace`: shows the timeline of a checkpoint, as tables,
 * as a space-time diagram, or as recorded.
 */
#include "cli/jobs/checkpoints.hpp"
#include "cli/base/options.hpp"
#include "cli/jobs/trace_text.hpp"
#include "diagram/space_time.hpp"
#include "image/store/checkpoint_trace.hpp"

#include <fmt/core.h>

#include <cerrno>
#include <fstream>

namespace ckpt::cli
{

namespace
{

CheckpointTrace load_trace(const Checkpoint &checkpoint)
{
    try {
        return CheckpointTrace::load(checkpoint.directory);
    } catch (const Error &problem) {
        if (problem.code() == ENOENT) {
            stop_with(exit_not_found, "checkpoint {} has no trace",
                      checkpoint.name());
        }
        throw;
    }
}

/* Writes a file of the user, which may exist already or be a device. */
void write_file(const std::string &path, const std::string &text)
{
    std::ofstream file(path);

    file << text;
    file.close();
    if (!file) {
        fail_errno(errno, "cannot write {}", path);
    }
}

class TraceCommand : public Command
{
  public:
    void declare(CLI::App &app) override
    {
        app.add_option("CHECKPOINT", checkpoint_,
                       "JOB/NUMBER, JOB, or a path [newest committed one]");
        add_option(app, "--dir", directory_);
        add_option(app, "--svg", svg_);
        add_option(app, "--json", json_);
    }

    int run(const Words &) override
    {
        Checkpoint checkpoint =
            find_checkpoint_here(directories_of(directory_), checkpoint_);
        CheckpointTrace trace = load_trace(checkpoint);

        if (!svg_.empty()) {
            write_file(svg_, diagram::space_time_diagram(trace));
        }
        if (json_) {
            fmt::print("{}", trace.text());
        } else if (svg_.empty()) {
            fmt::print("{}", trace_text(trace));
        } else {
            fmt::print("{}: drawn in {}\n", checkpoint.name(), svg_);
        }
        return exit_done;
    }

  private:
    std::string checkpoint_;
    std::string directory_;
    std::string svg_;
    bool json_ = false;
};

} // namespace

std::unique_ptr<Command> make_trace_command()
{
    return std::make_unique<TraceCommand>();
}

} // namespace ckpt::cli
