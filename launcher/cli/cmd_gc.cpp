/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cmd_gc.cpp - `ckpt gc`: remove old, damaged and unfinished checkpoints.
 */
#include "cli/checkpoints.hpp"

#include <fmt/core.h>

namespace ckpt::cli
{

namespace
{

class GcCommand : public Command
{
  public:
    void declare(CLI::App &app) override
    {
        app.add_option("JOB", job_, "Only those of this job");
        add_directory_option(app, directory_);
        add_option(app, "--keep", keep_,
                   "Committed checkpoints to keep of each job")
            ->check(CLI::PositiveNumber)
            ->capture_default_str()
            ->type_name("N");
        add_flag(app, "--dry-run", dry_run_, "Print only what would go");
    }

    int run(const Words &) override
    {
        const Tiers tiers = require_tiers(directories_of(directory_));
        for (const Store &store : tiers.stores()) {
            collect(store, tiers.directories().has_slow());
        }
        return exit_done;
    }

  private:
    void collect(const Store &store, bool says_where) const
    {
        for (const Checkpoint &checkpoint : store.garbage(keep_, job_)) {
            if (!dry_run_) {
                store.remove(checkpoint);
            }
            fmt::print("{} {} ({}){}\n", dry_run_ ? "would remove" : "removed",
                       checkpoint.name(), state_name(checkpoint.state),
                       says_where ? " in " + store.directory().string() : "");
        }
    }

    std::string job_;
    std::string directory_;
    std::size_t keep_ = 2;
    bool dry_run_ = false;
};

} // namespace

std::unique_ptr<Command> make_gc_command()
{
    return std::make_unique<GcCommand>();
}

} // namespace ckpt::cli
