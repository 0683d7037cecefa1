/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cmd_run.cpp - `ckpt run`: run a job, and restart it when it fails.
 */
#include "cli/batch_options.hpp"
#include "cli/checkpoints.hpp"
#include "cli/job_name.hpp"
#include "cli/jobs.hpp"
#include "cli/launch_process.hpp"
#include "cli/program_file.hpp"
#include "cli/restart_line.hpp"
#include "cli/slurm_nodes.hpp"
#include "cli/warning.hpp"

#include <fmt/core.h>

#include <unistd.h>

namespace ckpt::cli
{

namespace
{

constexpr int last_agent_ms = 30000;
/* Restarts from one and the same checkpoint before we give up. */
constexpr int tries_from_one_checkpoint = 2;

/* The program, if it writes to the same file, has opened it for itself since its
 * restart: our position there is an old one. */
void go_to_end_of_stderr()
{
    (void)lseek(STDERR_FILENO, 0, SEEK_END); /* or it is no file */
}

std::uint64_t newest_number(const TierDirectories &directories, const std::string &job)
{
    auto tiers = Tiers::open(directories);
    auto newest = tiers ? tiers->newest_committed(job) : std::nullopt;
    return newest ? newest->number : 0;
}

class RunCommand : public Command
{
  public:
    std::string rest_usage() const override
    {
        return "-- mpirun ARGUMENTS... | PROGRAM ARGUMENTS...";
    }

    void declare(CLI::App &app) override
    {
        settings_.declare(app);
        add_option(app, "--max-restarts", max_restarts_,
                   "Give up after N restarts")
            ->check(CLI::NonNegativeNumber)
            ->capture_default_str()
            ->type_name("N");
        batch_.declare(app);
    }

    int run(const Words &command) override
    {
        if (command.empty()) {
            stop_with(exit_usage,
                      "run: give the command after --: ckpt run -- mpirun "
                      "-np 2 ./app");
        }
        batch_.check();
        command_ = command;
        JobName own;
        if (settings_.name().empty()) {
            own = default_job_name(command, batch_.scheduler(), settings_.directories());
            settings_.set_name(own.text);
        }
        LastCheckpoint last(batch_.warning_signals(), settings_.directories(),
                            settings_.name());
        require_name_is_free();
        if (launcher_of(command[0]) == Launcher::other) {
            look_at_program(command[0]);
        }
        if (const auto checkpoint = checkpoint_to_resume()) {
            fmt::print(stderr, "ckpt: the job goes on from {}\n", checkpoint->name());
            return supervise(restart(*checkpoint), checkpoint->number, last);
        }
        return supervise(first_start(), 0, last);
    }

  private:
    /* What the job is told. */
    Environment environment() const
    {
        Environment variables = settings_.environment();
        variables[command_variable] = command_identity(command_);
        return variables;
    }

    Invocation first_start() const
    {
        const Environment variables = environment();
        Invocation first = with_plugin(command_, library_directory(),
                                       variable("LD_PRELOAD"), variables);
        first.environment.insert(variables.begin(), variables.end());
        return first;
    }

    std::optional<Checkpoint> checkpoint_to_resume() const
    {
        return batch_.resumes() ? newest_usable(settings_.directories(), settings_.name(), 0,
                                                Verification::quick)
                                : std::nullopt;
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

    void require_name_is_free() const
    {
        auto tiers = Tiers::open(settings_.directories());
        auto launch = tiers ? tiers->job_state(settings_.name()) : std::nullopt;
        if (!launch || batch_.has_lost(*launch)) {
            return;
        }
        wait_for_last_agent(*tiers, settings_.name(), last_agent_ms);
        if (tiers->is_live(settings_.name())) {
            stop_with(exit_refused, "job {} is running already in {}",
                      settings_.name(), settings_.directories().text());
        }
    }

    /* resumed: the number of the checkpoint that it begins with; 0: none. */
    int supervise(Invocation next, std::uint64_t resumed, LastCheckpoint &warned) const
    {
        const std::uint64_t newest =
            newest_number(settings_.directories(), settings_.name());
        /* Checkpoints from before this command are not its own, unless it resumes one. */
        const std::uint64_t before = resumed > 0 ? 0 : newest;
        std::uint64_t last = resumed; /* that it was restarted from */
        int restarts = 0;
        int tries = resumed > 0 ? 1 : 0; /* from that one */
        for (;;) {
            Ending ending = run_and_wait(next, &warned);
            go_to_end_of_stderr();
            if (warned.is_announced()) {
                const bool gets_on =
                    newest_number(settings_.directories(), settings_.name()) > newest;
                return batch_.end(ending, warned.is_saved(), gets_on, settings_.name());
            }
            if (ending.exit_code == 0 || ending.by_user) {
                return ending.exit_code;
            }
            /* What has failed once may be damaged where a quick look does not see it. */
            const bool is_once_more =
                last > 0 && newest_number(settings_.directories(), settings_.name()) == last;
            auto checkpoint = checkpoint_to_restart(
                before, is_once_more ? Verification::full : Verification::quick);
            tries = checkpoint && checkpoint->number == last ? tries + 1 : 1;
            if (!checkpoint || restarts == max_restarts_ ||
                tries > tries_from_one_checkpoint) {
                say_end(ending, checkpoint.has_value(), restarts);
                return ending.exit_code;
            }
            restarts++;
            last = checkpoint->number;
            fmt::print(stderr,
                       "ckpt: the job ended with code {}; restart {} of at "
                       "most {}, from {}\n",
                       ending.exit_code, restarts, max_restarts_,
                       checkpoint->name());
            next = restart(*checkpoint);
        }
    }

    std::optional<Checkpoint> checkpoint_to_restart(std::uint64_t above,
                                                    Verification how) const
    {
        const std::string &job = settings_.name();
        if (auto tiers = Tiers::open(settings_.directories())) {
            wait_for_last_agent(*tiers, job, last_agent_ms);
        }
        try {
            return newest_usable(settings_.directories(), job, above, how);
        } catch (const Error &) {
            return std::nullopt; /* all have been named */
        }
    }

    Invocation restart(const Checkpoint &checkpoint) const
    {
        RestartOptions options;
        options.libraries = library_directory();
        options.current = ckpt_variables(environ);
        for (const auto &[name, value] : environment()) {
            options.current[name] = value;
        }
        take_srun(command_, options);
        Invocation again = restart_invocation(settings_.directories(), checkpoint, options);
        again.environment.merge(slurm_nodes_left());
        return again;
    }

    void say_end(const Ending &ending, bool has_own, int restarts) const
    {
        const char *why = !has_own ? "there is no checkpoint to restart from"
                          : restarts == max_restarts_
                              ? "no restart is left"
                              : "it fails again and again without a new "
                                "checkpoint";
        fmt::print(stderr, "ckpt: the job ended with code {}; {}\n",
                   ending.exit_code, why);
    }

    JobSettings settings_;
    BatchOptions batch_;
    Words command_;
    int max_restarts_ = 10;
};

} // namespace

std::unique_ptr<Command> make_run_command()
{
    return std::make_unique<RunCommand>();
}

} // namespace ckpt::cli
