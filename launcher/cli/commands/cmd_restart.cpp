/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cmd_restart.cpp - `ckpt restart`: restarts a job from a checkpoint.
 */
#include "cli/jobs/checkpoints.hpp"
#include "cli/files/file_rollback.hpp"
#include "cli/run/gathering_process.hpp"
#include "cli/jobs/jobs.hpp"
#include "cli/run/launch_process.hpp"
#include "cli/base/options.hpp"
#include "cli/run/output_files.hpp"
#include "cli/base/progress_line.hpp"
#include "cli/files/restart_input.hpp"
#include "cli/run/restart_line.hpp"
#include "common/invariant.hpp"
#include "image/seal/image_key.hpp"
#include "image/store/job_directory.hpp"
#include "image/store/job_owner.hpp"

#include "ckpt/input.h"

#include <fmt/core.h>

#include <unistd.h>

namespace ckpt::cli
{

namespace
{

constexpr int last_agent_ms = 10000;
constexpr const char *lazy_variable = "CKPT_LAZY";

class RestartCommand : public Command
{
  public:
    std::string rest_usage() const override
    {
        return "[-- LAUNCHER-OPTIONS...]";
    }

    void declare(CLI::App &app) override
    {
        app.add_option("CHECKPOINT", checkpoint_,
                       "JOB/NUMBER, JOB, or a path [newest committed one]");
        add_option(app, "--dir", directory_);
        add_option(app, "--mpirun", mpirun_);
        add_option(app, "--verify", verify_);
        settings::declare(app, settings::option_of(app.get_name(), "--lazy"), lazy_,
                          settings::Target::keeps_empty);
        add_option(app, "--key", key_);
        add_option(app, "--files", files_);
        settings::declare(app, components_setting(), components_, settings::Target::keeps_empty);
        add_option(app, "--force", force_);
        add_option(app, "--print", print_);
    }

    int run(const Words &rest) override
    {
        use_image_key(key_);
        if (image_key() && files_ == "check") {
            stop_with(exit_usage, "--files check: nothing is known of files beside encrypted "
                                  "checkpoints");
        }
        const FoundCheckpoint found =
            find_checkpoint(directories_of(directory_), checkpoint_);
        const journal::Files files = journal::files_from(files_);
        const Checkpoint checkpoint = verified(found, files);
        CKPT_INVARIANT(checkpoint.manifest && checkpoint.job == found.checkpoint.job);
        RestartOptions options;
        options.mpirun = mpirun_;
        options.replace_options = !rest.empty();
        options.options = rest;
        options.libraries = library_directory();
        options.current = ckpt_variables(environ);
        if (!components_.empty()) { /* else the recorded value remains */
            options.current[components_setting().variable] = components_;
        }
        const RestartInput input = restart_input(found.directories, checkpoint);
        options.supervision[CKPT_INPUT_VARIABLE] = input.variable;
        options.supervision[owner_variable] = token_;
        if (!lazy_.empty()) { /* else as the job was started */
            options.supervision[lazy_variable] = lazy_;
        }
        if (!key_.empty()) {
            options.supervision[key_variable] = absolute_key_source(key_);
        }
        Invocation invocation =
            restart_invocation(found.directories, checkpoint, options);
        continue_output_files(invocation, options.libraries);
        if (print_) {
            print(invocation, input.path);
            return exit_done;
        }
        const JobOwnership ownership = take_job(found.directories, checkpoint);
        bring_files_back(found.directories, checkpoint.job, &checkpoint, files);
        end_concealing(found.directories, checkpoint.job);
        if (checkpoint.is_on_nodes) {
            start_gathering(gather_file(found.directories, checkpoint.job),
                            NodeRecord::load(found.directories.lasting() / checkpoint.job,
                                             checkpoint.number));
        }
        for (const auto &warning : {input.warning, left_out(*checkpoint.manifest)}) {
            if (!warning.empty()) {
                fmt::print(stderr, "ckpt: {}\n", warning);
            }
        }
        invocation.input = input.given.get();
        become(invocation);
    }

  private:
    static const settings::Setting &components_setting()
    {
        return settings::option_of("restart", "--components");
    }

    /* Returns the checkpoint that was found. If the user asked for the newest and
     * it is unusable, returns an older one. */
    Checkpoint verified(const FoundCheckpoint &found, journal::Files files) const
    {
        ProgressLine line;
        auto how = verify_ == "full"    ? Verification::full
                   : verify_ == "quick" ? Verification::quick
                                        : Verification::none;
        auto progress = [&](std::uint64_t done, std::uint64_t all) {
            line.show(fmt::format("verified {} of {}", format_bytes(done),
                                  format_bytes(all)));
        };
        if (!found.is_newest) {
            verify_checkpoint(found.checkpoint, how, progress);
            return found.checkpoint;
        }
        return newest_usable(found.directories, found.checkpoint.job, {.files = files}, how,
                             progress)
            .value_or(found.checkpoint);
    }

    /* Two running copies of a job would write the same files. */
    JobOwnership take_job(const TierDirectories &directories,
                          const Checkpoint &checkpoint) const
    {
        const std::string &job = checkpoint.job;
        const std::filesystem::path directory = directories.lasting() / job;

        if (auto tiers = Tiers::open(directories); tiers && !force_) {
            wait_for_last_agent(*tiers, job, last_agent_ms);
        }
        make_job_directory(directory);
        try {
            return JobOwnership(directory, {.token = token_, .uses = checkpoint.number},
                                force_ ? JobOwnership::Take::insist : JobOwnership::Take::ask);
        } catch (const Error &error) {
            if (error.code() != EBUSY) {
                throw;
            }
            refuse(job, error.what());
        }
    }

    [[noreturn]] static void refuse(const std::string &job, const std::string &why)
    {
        stop_refused(CKPT_REFUSAL_JOB_RUNNING,
                     "job {} is still running ({}); end it first, or use --force if you know "
                     "that it is not",
                     job, why);
    }

    static void print(const Invocation &invocation, const std::filesystem::path &input)
    {
        if (!invocation.directory.empty()) {
            fmt::print("cd {} &&\n",
                       shell_words({invocation.directory.string()}));
        }
        for (const auto &[name, value] : invocation.environment) {
            fmt::print("{}={} \\\n", name, shell_words({value}));
        }
        const std::string from = input.empty() ? "" : " < " + shell_words({input.string()});
        fmt::print("{}{}\n", shell_words(invocation.command), from);
    }

    std::string checkpoint_;
    std::string directory_;
    std::string mpirun_;
    std::string key_;
    std::string files_;
    std::string components_;
    std::string verify_;
    std::string lazy_;
    std::string token_ = make_owner_token();
    bool force_ = false;
    bool print_ = false;
};

} // namespace

std::unique_ptr<Command> make_restart_command()
{
    return std::make_unique<RestartCommand>();
}

} // namespace ckpt::cli
