/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * job_run.cpp - launches a job under `ckpt run`, and what each launch needs.
 */
#include "cli/run/job_run.hpp"

#include "ckpt/journal.h"
#include "cli/files/file_rollback.hpp"
#include "cli/run/gathering_process.hpp"
#include "cli/files/input_state.hpp"
#include "cli/run/job_name.hpp"
#include "cli/run/output_files.hpp"
#include "cli/files/output_revealer.hpp"
#include "cli/run/slurm_nodes.hpp"
#include "cli/run/tune_file.hpp"
#include "agent/supervision/supervisor_file.hpp"
#include "common/durations.hpp"
#include "common/host.hpp"
#include "common/invariant.hpp"
#include "common/processes.hpp"
#include "image/seal/image_key.hpp"
#include "image/store/job_directory.hpp"
#include "journal/concealed.hpp"
#include "journal/drop.hpp"
#include "journal/place.hpp"
#include "protocol/cut_choice.hpp"

#include "ckpt/input.h"
#include "ckpt/wire.h"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <functional>
#include <utility>

#include <sys/socket.h>

namespace ckpt::cli
{

using std::chrono::milliseconds;
using std::chrono::steady_clock;

namespace
{

constexpr const char *components_failed_variable = "CKPT_COMPONENTS_FAILED";
constexpr const char *copies_variable = "CKPT_KEEP_COPIES";

std::optional<LaunchLine> try_parse(const Words &command)
{
    try {
        return parse_launch_line(command);
    } catch (const CommandError &) {
        return std::nullopt;
    }
}

/* Returns 0 if the command does not tell the number of ranks. */
int ranks_of(const LaunchLine &line)
{
    const LaunchOption *np = line.find("np");
    return np == nullptr ? 0 : std::atoi(np->values.at(0).c_str());
}

/* Whether the launcher's options let the job continue when ranks end. */
bool tolerates_ended_ranks(const LaunchLine &line)
{
    static const std::set<std::string> names = {"enable-recovery", "continuous", "with-ft",
                                                "disable-auto-cleanup"};
    return std::any_of(line.options.begin(), line.options.end(), [](const auto &option) {
        return names.contains(option.name);
    });
}

} // namespace

JobRun::JobRun(Options options, const BatchOptions &batch)
    : options_(std::move(options)), batch_(batch),
      signals_({SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT,
                SIGCHLD}),
      policy_(options_.restarts)
{
    const auto line = try_parse(options_.command);
    NodeList nodes = line && !line->several_programs ? nodes_of(*line) : NodeList();

    if (options_.spares > 0 && nodes.empty()) {
        stop_with(exit_usage, "--spares: the command names no nodes (--host, --hostfile)");
    }
    if (!options_.migrations.empty() && nodes.empty()) {
        stop_with(exit_usage, "--migrate-signal: the command names no nodes (--host, --hostfile)");
    }
    try {
        nodes_ = NodePlan(std::move(nodes), options_.spares);
    } catch (const Error &problem) {
        stop_with(exit_usage, "--spares: {}", problem.what());
    }
    /* No log messages about the agents' connections. */
    spdlog::set_level(spdlog::level::off);
    tolerates_ended_ranks_ = line && tolerates_ended_ranks(*line);
    choose_recovery();
}

/* Returns whether the user has chosen this value of a setting. */
bool JobRun::is_set(const char *variable, std::string_view value) const
{
    const auto found = options_.settings.find(variable);
    return found != options_.settings.end() && found->second == value;
}

/* Returns why the launcher cannot go on when a rank ends, although it should; "" if it can. */
std::string JobRun::obstacle_to_recovery(bool is_in_place) const
{
    const Launcher launcher = launcher_of(options_.command.at(0));

    if (tolerates_ended_ranks_) {
        return "its options say that it deals with ranks that end";
    }
    if (is_in_place && launcher != Launcher::ckpt && launcher != Launcher::open_mpi) {
        return "only ckpt run --ranks and Open MPI's mpirun can";
    }
    /* a rank that alone goes back keeps the files, as others have gone on with them */
    if (is_in_place && (options_.conceals || (options_.files != journal::Files::roll_back &&
                                              !is_set("CKPT_PROTOCOL", CutChoice::independent)))) {
        return "it needs --files rollback";
    }
    if (launcher != Launcher::open_mpi && launcher != Launcher::ckpt) {
        return "only Open MPI's mpirun and ckpt-launch go on without it";
    }
    if (!LauncherChildren::can_watch()) {
        return "this kernel does not tell how it has ended (Linux 6.15)";
    }
    return {};
}

/* If a prerequisite of the protocol independent is missing, prints that once. The job then runs as
 * with the protocol auto. Copies are kept automatically where nothing is missing. */
void JobRun::choose_recovery()
{
    if (is_set("CKPT_PROTOCOL", CutChoice::independent)) {
        const std::string why = obstacle_to_recovery(false);
        acts_for_launcher_ = why.empty();
        if (!why.empty()) {
            fmt::print(stderr, "ckpt: a rank that dies will not be replayed: {}\n", why);
        }
    }
    if (is_set(copies_variable, "no")) {
        return;
    }
    const std::string why = obstacle_to_recovery(true);
    if (!why.empty() && is_set(copies_variable, "yes")) {
        stop_with(exit_usage, "--keep-copies: {}", why);
    } else if (!why.empty()) {
        options_.settings[copies_variable] = "no";
    }
    acts_for_launcher_ = acts_for_launcher_ || why.empty();
}

/* ---- Command lines ------------------------------------------------------------ */

/* In the directory that outlives the nodes. */
std::filesystem::path JobRun::supervisor_file() const
{
    return options_.directories.lasting() / options_.job / "supervisor";
}

/* checkpoint: number of the checkpoint about to be restarted; 0: none. */
void JobRun::take_for(std::uint64_t checkpoint, JobOwnership::Take take)
{
    uses_ = checkpoint;
    take_as("", take);
}

/* launcher: see JobOwner. */
void JobRun::take_as(const std::string &launcher, JobOwnership::Take take)
{
    try {
        ownership_ = JobOwnership(options_.directories.lasting() / options_.job,
                                  JobOwnership::As{token_, true, true, uses_, launcher}, take);
    } catch (const Error &error) {
        if (error.code() != EBUSY) {
            throw;
        }
        stop_refused(CKPT_REFUSAL_JOB_RUNNING, "job {} is running already: {}", options_.job,
                     error.what());
    }
}

/* Called before the launcher executes its program. If `ckpt run` is killed before an agent owns
 * the job, the record names a living process, and no other command takes the job. An unwritable
 * directory does not prevent the launch. */
void JobRun::own_launcher(pid_t launcher)
{
    try {
        take_as(process_identity(launcher), JobOwnership::Take::ask);
    } catch (const CommandError &) {
        throw; /* the job belongs to another command */
    } catch (const Error &problem) {
        fmt::print(stderr, "ckpt: {}\n", problem.what());
    }
}

/* The incarnation numbers of a job's launches ascend, also across several `ckpt run`. */
Environment JobRun::supervision()
{
    using namespace std::chrono;
    const auto now = duration_cast<milliseconds>(system_clock::now().time_since_epoch());

    incarnation_ = std::max(incarnation_ + 1, static_cast<std::uint64_t>(now.count()));
    CKPT_INVARIANT(incarnation_ > 0);
    Environment all = {{supervisor_variable, supervisor_file().string()},
                       {incarnation_variable, std::to_string(incarnation_)},
                       {command_variable, command_identity(options_.command)},
                       {owner_variable, token_},
                       {CKPT_INPUT_VARIABLE, input_->variable()}};
    if (const auto key = options_.settings.find(key_variable); key != options_.settings.end()) {
        all.insert(*key); /* needed for a restart too */
    }
    if (acts_for_launcher_) {
        all[CKPT_STARTED_VARIABLE] = started_socket(options_.directories, options_.job);
    }
    return all;
}

Invocation JobRun::first_start()
{
    Words command = options_.command;
    Environment variables = options_.settings;
    CKPT_EXPECT(input_);

    gathering_.reset();
    has_all_input_ = false;
    has_other_nodes_ = false;
    next_from_.reset();
    variables.merge(supervision());
    const auto journal = provide_journal(options_.directories, options_.job);
    if (!journal.empty()) {
        variables[CKPT_JOURNAL_VARIABLE] = journal;
    }
    if (nodes_.differs()) {
        auto line = parse_launch_line(command);
        set_nodes(line, nodes_.now(ranks_of(line)));
        command = join_launch_line(line);
    }
    Invocation first =
        with_plugin(command, library_directory(), variable("LD_PRELOAD"), variables);
    first.environment.insert(variables.begin(), variables.end());
    if (has_launched_) {
        continue_output_files(first, library_directory());
    }
    return first;
}

/* Starts the job from the beginning, with its files as they were then. */
Invocation JobRun::start_over()
{
    bring_files_back(options_.directories, options_.job, nullptr, options_.files);
    return first_start();
}

Invocation JobRun::restart(const Checkpoint &checkpoint)
{
    return repeat_while_unusable([&] { return restart_now(checkpoint); });
}

Invocation JobRun::restart_now(const Checkpoint &checkpoint)
{
    CKPT_EXPECT(input_ && checkpoint.manifest.has_value());
    RestartOptions options;

    take_for(checkpoint.number, JobOwnership::Take::ask); /* from the last launch's agent */
    bring_files_back(options_.directories, options_.job, &checkpoint, options_.files);
    options.libraries = library_directory();
    options.current = ckpt_variables(environ);
    for (const auto &[name, value] : options_.settings) {
        options.current[name] = value;
    }
    options.supervision = supervision();
    if (checkpoint.number <= failed_to_come_) { /* newer ones have other components */
        options.supervision.insert_or_assign(components_failed_variable, std::string("1"));
    }
    has_other_nodes_ = false;
    next_from_ = checkpoint;
    if (nodes_.differs()) {
        options.nodes = nodes_.now(checkpoint.manifest->rank_count);
    }
    take_srun(options_.command, options);
    const auto input = input_state(checkpoint);
    has_all_input_ = input && input->has_ended;
    for (const std::string &warning : {input_->lost(), left_out(*checkpoint.manifest)}) {
        if (!warning.empty()) {
            fmt::print(stderr, "ckpt: {}\n", warning);
        }
    }
    prepare_gathering(checkpoint);
    Invocation again = restart_invocation(options_.directories, checkpoint, options);
    again.environment.merge(slurm_nodes_left());
    continue_output_files(again, options.libraries);
    return again;
}

/* ---- Pieces on nodes ------------------------------------------------------------- */

/* The next launch restarts this checkpoint. */
void JobRun::prepare_gathering(const Checkpoint &checkpoint)
{
    gathering_.reset();
    if (checkpoint.is_on_nodes) {
        const auto records = options_.directories.lasting() / options_.job;
        gathering_.emplace(loop_, gather_file(options_.directories, options_.job), host_name(),
                           NodeRecord::load(records, checkpoint.number), say_gathered);
    }
}

/* Whether the last launch failed because its checkpoint could not be gathered. Then that
 * checkpoint is useless, but nothing else is wrong. */
bool JobRun::could_not_gather()
{
    CKPT_EXPECT(!gathering_ || last_ > 0);
    if (!gathering_ || gathering_->failure().empty()) {
        return false;
    }
    fmt::print(stderr, "ckpt: {}/{} cannot be gathered from the nodes: {}\n", options_.job,
               last_, gathering_->failure());
    not_on_nodes_.insert(last_);
    gathering_.reset();
    return true;
}

/* ---- Launches ------------------------------------------------------------------ */

int JobRun::run()
{
    const auto socket = run_socket(options_.directories, options_.job);
    if (is_listening(socket, SOCK_STREAM)) {
        stop_refused(CKPT_REFUSAL_JOB_RUNNING, "job {} is run by another ckpt run",
                     options_.job);
    }
    requests_.emplace(loop_, options_.directories, options_.job);
    newest_ = before_ = newest_number();
    std::optional<Invocation> next;
    std::optional<Checkpoint> checkpoint;
    if (batch_.resumes()) {
        checkpoint = newest_usable(options_.directories, options_.job,
                                   {.files = options_.files}, Verification::quick);
    }
    open_input(checkpoint.has_value());
    if (checkpoint) {
        fmt::print(stderr, "ckpt: the job goes on from {}\n", checkpoint->name());
        before_ = 0;
        last_ = checkpoint->number;
        /* Also reveals outputs that an earlier run has concealed. */
        next = restart(*checkpoint);
        conceal();
    }
    if (!next) {
        begin_journal();
        conceal();
        next = first_start();
    }
    int code = 0;
    Ending ending;
    while (next && (!has_launched_ || may_launch(*next))) {
        ending = launch(*next);
        code = ending.exit_code;
        /* Must be known before the next checkpoint is chosen. */
        const bool is_in_pieces = could_not_gather();
        if (ending.last) {
            next = after_last(ending, code);
        } else if (code == 0 || ending.by_user) {
            next.reset();
        } else if (ending.was_unprotected) {
            code = after_unprotected(code);
            next.reset();
        } else if (ending.lost.empty() && is_in_pieces) {
            next = start_from_newest(code);
        } else {
            next = after_failure(ending);
        }
    }
    if (is_warned_) {
        code = after_warning(ending, false);
    }
    leave_directory(code);
    return code;
}

/* Handles the signals that have arrived while the launch was prepared. If one of them has changed
 * the nodes, prepares the launch again, because it names the old nodes. Returns false if the job
 * is to end. */
bool JobRun::may_launch(Invocation &next)
{
    bool goes_on;

    while ((goes_on = rest(milliseconds(0))) && has_other_nodes_) {
        remove_launch_file(next.tune_file);
        next = next_from_ ? restart(Checkpoint(*next_from_)) : start_over();
    }
    if (!goes_on) {
        remove_launch_file(next.tune_file);
    }
    return goes_on;
}

/* A directory that has become unusable does not change the outcome of the job. */
void JobRun::leave_directory(int code)
{
    const std::array<std::function<void()>, 4> steps = {[&] { reveal_outputs(code); },
                                                        [&] { forget_input(code); },
                                                        [&] { ownership_->release(); },
                                                        [&] { forget_directory(); }};

    for (const auto &step : steps) {
        try {
            step();
        } catch (const std::exception &problem) {
            fmt::print(stderr, "ckpt: {}\n", problem.what());
        }
    }
}

Ending JobRun::launch(const Invocation &invocation)
{
    CKPT_EXPECT(requests_ && input_ && incarnation_ > 0);
    SupervisedLaunch::Options options;

    options.file = supervisor_file();
    options.host = host_name();
    options.incarnation = incarnation_;
    options.tolerates_ended_ranks = tolerates_ended_ranks_;
    options.has_exact_code = launcher_of(options_.command.at(0)) == Launcher::ckpt;
    options.acts_for_launcher = acts_for_launcher_;
    options.adopts_ranks = !is_set(copies_variable, "no");
    options.started_socket = started_socket(options_.directories, options_.job);
    options.launches = [this](pid_t launcher) { own_launcher(launcher); };
    have_ranks_come_ = false;
    options.ranks_have_come = [this] {
        have_ranks_come_ = true;
        input_->ranks_have_come();
    };
    options.ends_unprotected = options_.ends_unprotected;
    options.warnings = batch_.warning_signals();
    options.swaps = options_.swaps;
    options.obstacle = [this](const std::string &from, const std::string &to) {
        return obstacle(from, to);
    };
    options.migrations = options_.migrations;
    options.nodes = [this](int signal) { return nodes_to_move_to(signal); };
    SupervisedLaunch launch(loop_, signals_, *requests_, std::move(options));
    Invocation with_input = invocation;
    has_launched_ = true;
    with_input.input = input_->begin_launch(has_all_input_);
    std::optional<OutputRevealer> revealer;
    if (options_.conceals) {
        revealer.emplace(options_.directories, options_.job,
                         next_from_ ? next_from_->manifest->files_mark : 0);
    }
    Ending ending = launch.run(with_input);
    revealer.reset();
    input_->end_launch();
    remove_launch_file(invocation.tune_file);
    return ending;
}

/* ---- Outputs ------------------------------------------------------------------------ */

/* For a job that starts from the beginning. */
void JobRun::begin_journal() const
{
    const auto journal = provide_journal(options_.directories, options_.job);
    if (!journal.empty()) {
        journal::begin_run(journal);
    }
}

/* The processes of the job read this when they start. */
void JobRun::conceal() const
{
    if (image_key()) {
        return; /* no file in the journal's directory is authenticated */
    }
    if (!options_.conceals) {
        reveal_all_outputs(options_.directories, options_.job); /* of an earlier run */
    }
    journal::set_concealed(provide_journal(options_.directories, options_.job),
                           options_.conceals);
}

void JobRun::reveal_outputs(int code) const
{
    if (options_.conceals && code == 0) {
        reveal_all_outputs(options_.directories, options_.job);
    } else if (options_.conceals) {
        reveal_committed_outputs(options_.directories, options_.job);
    }
}

/* ---- Standard input ---------------------------------------------------------------- */

void JobRun::open_input(bool is_resumed)
{
    LaunchLine line;
    line.launcher = launcher_of(options_.command.at(0));
    input_.emplace(loop_, options_.directories.lasting() / options_.job,
                   try_parse(options_.command).value_or(line), is_resumed);
}

/* Keeps the input if a manual restart may need it. */
void JobRun::forget_input(int code)
{
    if (code == 0 || newest_number() == 0) {
        input_->forget();
    }
}

/* Removes the directory of a program that never became a job. */
void JobRun::forget_directory() const
{
    const auto directory = supervisor_file().parent_path();

    if (newest_number() == 0) {
        journal::forget(journal::directory_in(directory));
    }
    remove_job_directory_if_empty(directory);
}

} // namespace ckpt::cli
