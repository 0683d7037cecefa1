/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cmd_run.cpp - `ckpt run`: runs a job, and restarts it when it fails.
 */
#include "cli/run/batch_options.hpp"
#include "cli/run/job_name.hpp"
#include "cli/run/job_run.hpp"
#include "cli/jobs/jobs.hpp"
#include "cli/base/options.hpp"
#include "cli/launchers/program_file.hpp"
#include "cli/jobs/wait_notice.hpp"
#include "cli/base/warning.hpp"
#include "common/durations.hpp"
#include "common/invariant.hpp"
#include "image/seal/image_key.hpp"
#include "image/store/job_directory.hpp"
#include "image/store/store.hpp"
#include "protocol/cut_choice.hpp"

#include <fmt/core.h>

#include <cstring>

namespace ckpt::cli
{

namespace
{

class RunCommand : public Command
{
  public:
    std::string rest_usage() const override
    {
        return "-- mpirun ARGUMENTS... | [-n N] PROGRAM ARGUMENTS...";
    }

    bool can_omit_dashes() const override { return ranks_ > 0; }

    void declare(CLI::App &app) override
    {
        app.prefix_command(); /* with -n */
        settings_.declare(app);
        add_option(app, "--ranks", ranks_);
        add_option(app, "--bind-to", bind_to_);
        add_option(app, "--max-restarts", limits_.restarts);
        add_option(app, "--files", files_);
        add_option(app, "--back-off", back_off_);
        add_option(app, "--no-fresh-start", no_fresh_start_);
        add_option(app, "--unprotected", unprotected_);
        add_option(app, "--spares", spares_);
        add_option(app, "--min-nodes", min_nodes_);
        add_option(app, "--swap-signal", swap_signals_);
        add_option(app, "--migrate-signal", migrate_signals_);
        add_option(app, "--nodes-file", nodes_file_);
        batch_.declare(app);
    }

    int run(const Words &words) override
    {
        if (words.empty()) {
            stop_with(exit_usage,
                      "run: give the command after --: ckpt run -- mpirun "
                      "-np 2 ./app");
        }
        if (ranks_ == 0 && !bind_to_.empty()) {
            stop_with(exit_usage, "run: --bind-to needs -n: the command binds its ranks itself");
        }
        const Words command = ranks_ > 0 ? with_launcher(words) : words;
        batch_.check();
        JobName own;
        if (settings_.name().empty()) {
            own = default_job_name(command, batch_.scheduler(), settings_.directories());
            settings_.set_name(own.text);
        }
        use_key();
        require_directory();
        JobRun job(options(command), batch_);
        await_last_agent();
        job.take(way_to_take());
        if (launcher_of(command[0]) == Launcher::other) {
            look_at_program(command[0]);
        }
        return job.run();
    }

  private:
    /* Returns the command that starts the ranks. */
    Words with_launcher(const Words &program) const
    {
        if (launcher_of(program[0]) != Launcher::other) {
            stop_with(exit_usage, "run: -n starts the ranks itself: leave {} and its options out",
                      program[0]);
        }
        look_at_program(program[0]);
        Words command = {library_directory() / "ckpt-launch", "-n", std::to_string(ranks_)};
        if (!bind_to_.empty()) {
            command.insert(command.end(), {"--bind-to", bind_to_});
        }
        command.insert(command.end(), program.begin(), program.end());
        return command;
    }

    JobRun::Options options(const Words &command)
    {
        JobRun::Options options;
        limits_.back_off =
            std::chrono::duration_cast<std::chrono::milliseconds>(parse_duration(back_off_));
        try {
            options.swaps = parse_signals(swap_signals_);
        } catch (const Error &problem) {
            stop_with(exit_usage, "--swap-signal: {}", problem.what());
        }
        options.migrations = migrations(options.swaps);
        if (!options.migrations.empty()) {
            options.nodes_file = std::filesystem::absolute(nodes_file_);
        }
        CKPT_EXPECT(!command.empty() && !settings_.name().empty());
        options.command = command;
        options.job = settings_.name();
        options.directories = settings_.directories();
        options.settings = settings_.environment();
        limits_.fresh_start = !no_fresh_start_;
        options.restarts = limits_;
        options.spares = spares_;
        options.min_nodes = min_nodes_;
        options.ends_unprotected = unprotected_ == "stop";
        options.conceals = files_ == "conceal";
        if (options.conceals && options.settings.contains("CKPT_PROTOCOL") &&
            options.settings.at("CKPT_PROTOCOL") == CutChoice::independent) {
            stop_with(exit_usage, "--files conceal cannot be combined with --protocol "
                                  "independent: data that others have seen cannot be taken back");
        }
        options.files =
            options.conceals ? journal::Files::roll_back : journal::files_from(files_);
        return options;
    }

    /* Refuses a key together with the file journal, because rolled-back files would not be
     * authentic. */
    void use_key() const
    {
        const Environment settings = settings_.environment();
        const auto key = settings.find(key_variable);
        if (key == settings.end()) {
            return;
        }
        if (files_ != "ignore") {
            stop_with(exit_usage, "--key: files do not roll back to encrypted checkpoints yet; "
                                  "say --files ignore if they need not");
        }
        use_image_key(key->second);
    }

    /* Returns the signals for migrations; each signal can have only one purpose. */
    std::set<int> migrations(const std::set<int> &swaps) const
    {
        if (migrate_signals_.empty() != nodes_file_.empty()) {
            stop_with(exit_usage, "--migrate-signal and --nodes-file belong together");
        }
        std::set<int> signals;
        try {
            signals = parse_signals(migrate_signals_);
        } catch (const Error &problem) {
            stop_with(exit_usage, "--migrate-signal: {}", problem.what());
        }
        for (const std::set<int> &other : {swaps, batch_.warning_signals()}) {
            for (int signal : other) {
                if (signals.contains(signal)) {
                    stop_with(exit_usage, "--migrate-signal: {} has another meaning",
                              sigabbrev_np(signal));
                }
            }
        }
        return signals;
    }

    static void look_at_program(const std::string &program)
    {
        std::filesystem::path file = interpreter_of(found_in_path(program));
        require_preloadable(file);
        if (is_shell(file)) {
            fmt::print(stderr,
                       "ckpt: {} is a shell: only what it starts by exec or "
                       "mpirun is saved; for another program put ckpt run "
                       "before that\n",
                       file.filename().string());
        }
    }

    /* The job does not start without a usable directory for its checkpoints. */
    void require_directory() const
    {
        /* Throws if the options are invalid. */
        const auto directory = settings_.directories().lasting();
        const WaitNotice notice(directory);
        try {
            require_job_name(settings_.name());
            make_job_directory(directory / settings_.name());
        } catch (const Error &problem) {
            stop_refused(refusal_of(problem, CKPT_REFUSAL_UNUSABLE_DIRECTORY));
        }
    }

    /* The agent of the last launch may outlive the launch by a moment; after that the job is
     * free. */
    void await_last_agent() const
    {
        const auto tiers = Tiers::open(settings_.directories());
        const auto launch = tiers ? tiers->job_state(settings_.name()) : std::nullopt;

        if (launch && !batch_.has_lost(*launch)) {
            wait_for_last_agent(*tiers, settings_.name(), last_agent_ms);
        }
    }

    /* If the scheduler has given up the node of the last launch, the owner on it counts as
     * dead. */
    JobOwnership::Take way_to_take() const
    {
        const auto tiers = Tiers::open(settings_.directories());
        const auto launch = tiers ? tiers->job_state(settings_.name()) : std::nullopt;

        return launch && batch_.has_lost(*launch) ? JobOwnership::Take::insist
                                                  : JobOwnership::Take::ask;
    }

    JobSettings settings_;
    BatchOptions batch_;
    RestartPolicy::Limits limits_;
    std::string back_off_;
    bool no_fresh_start_ = false;
    int ranks_ = 0;       /* 0: the command starts them */
    std::string bind_to_; /* empty: by the number of ranks */
    std::size_t spares_ = 0;
    std::size_t min_nodes_ = 0;
    std::string swap_signals_;
    std::string migrate_signals_;
    std::string nodes_file_;
    std::string files_;
    std::string unprotected_;
};

} // namespace

std::unique_ptr<Command> make_run_command()
{
    return std::make_unique<RunCommand>();
}

} // namespace ckpt::cli
