/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * job_run.cpp - decides what follows each launch of a job.
 */
#include "cli/run/job_run.hpp"

#include "ckpt/journal.h"
#include "cli/files/file_rollback.hpp"
#include "cli/run/gathering_process.hpp"
#include "cli/files/input_state.hpp"
#include "cli/run/job_name.hpp"
#include "cli/jobs/jobs.hpp"
#include "cli/run/output_files.hpp"
#include "cli/files/output_revealer.hpp"
#include "cli/jobs/own_status.hpp"
#include "cli/run/slurm_nodes.hpp"
#include "cli/run/tune_file.hpp"
#include "agent/supervision/member_table.hpp"
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

#include <unistd.h>

#include <sys/epoll.h>
#include <sys/socket.h>

namespace ckpt::cli
{

using std::chrono::milliseconds;
using std::chrono::steady_clock;

namespace
{

/* While a file server fails or a directory is full, a job that must restart waits and
 * retries. */
constexpr auto next_try = std::chrono::seconds(1);
constexpr int most_tries = 300;

bool may_pass(int code)
{
    constexpr std::array passing = {EIO, ESTALE, EINTR, EAGAIN, ETIMEDOUT, EHOSTDOWN,
                                    EROFS, ENOSPC, EDQUOT, EREMOTEIO, ENOTCONN, ENOLCK};

    return std::ranges::find(passing, code) != passing.end();
}

std::uint64_t newest_number(const TierDirectories &directories, const std::string &job)
{
    auto tiers = Tiers::open(directories);
    auto newest = tiers ? tiers->newest_committed(job) : std::nullopt;
    return newest ? newest->number : 0;
}

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

/* If a prerequisite is missing, prints that once; the job then runs as with the protocol
 * auto. */
void JobRun::choose_recovery()
{
    const auto protocol = options_.settings.find("CKPT_PROTOCOL");
    if (protocol == options_.settings.end() || protocol->second != CutChoice::independent) {
        return;
    }
    std::string why;
    if (tolerates_ended_ranks_) {
        why = "its options say that it deals with ranks that end";
    } else if (launcher_of(options_.command.at(0)) != Launcher::open_mpi) {
        why = "only Open MPI's mpirun goes on without it";
    } else if (!LauncherChildren::can_watch()) {
        why = "this kernel does not tell how it has ended (Linux 6.15)";
    }
    acts_for_launcher_ = why.empty();
    if (!why.empty()) {
        fmt::print(stderr, "ckpt: a rank that dies will not be replayed: {}\n", why);
    }
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

/* Repeats `function` while a directory is temporarily unusable, if there was a launch already.
 * No other process would restart the job. */
template <typename Function>
auto JobRun::repeat_while_unusable(const Function &function)
{
    for (int tries = 0;; tries++) {
        try {
            return function();
        } catch (const Error &problem) {
            if (!has_launched_ || !may_pass(problem.code()) || tries == most_tries) {
                throw;
            }
            if (tries == 0) {
                fmt::print(stderr, "ckpt: {}; it is tried again\n", problem.what());
            }
            if (!rest(next_try)) {
                throw;
            }
        }
    }
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
    newest_ = before_ = newest_number(options_.directories, options_.job);
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
    options.acts_for_launcher = acts_for_launcher_;
    options.started_socket = started_socket(options_.directories, options_.job);
    options.launches = [this](pid_t launcher) { own_launcher(launcher); };
    options.ranks_have_come = [this] { input_->ranks_have_come(); };
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
        revealer.emplace(options_.directories, options_.job);
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
    if (code == 0 || newest_number(options_.directories, options_.job) == 0) {
        input_->forget();
    }
}

/* Removes the directory of a program that never became a job. */
void JobRun::forget_directory() const
{
    const auto directory = supervisor_file().parent_path();

    if (newest_number(options_.directories, options_.job) == 0) {
        journal::forget(journal::directory_in(directory));
    }
    remove_job_directory_if_empty(directory);
}

/* ---- After a launch --------------------------------------------------------------- */

/* Returns the number of the newest checkpoint. If there is none, or the directory is unusable,
 * which this function prints, returns 0. */
std::uint64_t JobRun::newest_if_readable() const
{
    try {
        return newest_number(options_.directories, options_.job);
    } catch (const Error &problem) {
        fmt::print(stderr, "ckpt: {}\n", problem.what());
        return 0;
    }
}

int JobRun::after_warning(const Ending &ending, bool is_saved) const
{
    const bool gets_on = newest_if_readable() > newest_;

    return batch_.end(ending, is_saved, gets_on, options_.job);
}

std::optional<Invocation> JobRun::after_last(const Ending &ending, int &code)
{
    CKPT_EXPECT(ending.last);
    const LastCheckpoint &last = *ending.last;

    if (last.purpose == LastCheckpoint::For::warning) {
        code = after_warning(ending, last.name.has_value());
        return std::nullopt;
    }
    if (!last.name) { /* the job ended before the checkpoint was committed */
        return code == 0 || ending.by_user ? std::nullopt : after_failure(ending);
    }
    nodes_are_free(last);
    if (last.purpose == LastCheckpoint::For::end) {
        fmt::print(stderr, "ckpt: the job was ended, as it was asked for; ckpt restart {} goes "
                           "on from there\n",
                   *last.name);
        code = exit_resume;
        return std::nullopt;
    }
    if (!last.nodes.empty()) {
        nodes_.use_only(last.nodes);
    } else if (last.purpose == LastCheckpoint::For::migration) {
        nodes_.move(last.from, last.to);
    } else if (!last.is_resumed && !wait_until_resumed()) {
        code = exit_resume;
        return std::nullopt;
    }
    const auto next = start_from_newest(code);
    if (!next && code == 0) { /* the launch ended after its checkpoint, not by itself */
        code = exit_failed;
    }
    return next;
}

/* Once the directory is usable again, the job can continue from its newest checkpoint there. */
int JobRun::after_unprotected(int code) const
{
    const std::uint64_t newest = newest_if_readable();

    if (newest == 0) {
        return code;
    }
    fmt::print(stderr, "ckpt: ckpt restart {} goes on from {}/{}\n", options_.job, options_.job,
               newest);
    return exit_resume;
}

void JobRun::await_last_agent() const
{
    if (auto tiers = Tiers::open(options_.directories)) {
        wait_for_last_agent(*tiers, options_.job, last_agent_ms);
    }
}

/* Tells the requester that the nodes are free. */
void JobRun::nodes_are_free(const LastCheckpoint &last)
{
    CKPT_EXPECT(requests_);
    await_last_agent();
    if (auto tiers = Tiers::open(options_.directories)) {
        wait_for_end_of_agent(*tiers, options_.job, last_agent_ms);
    }
    if (last.client != 0) {
        requests_->reply(last.client, last.answer);
    }
}

Prospects JobRun::prospects() const
{
    return {before_, not_on_nodes_, lost_nodes_, not_replayed_, options_.files};
}

std::optional<Checkpoint> JobRun::checkpoint_to_restart()
{
    return repeat_while_unusable([this] { return look_for_checkpoint(); });
}

std::optional<Checkpoint> JobRun::look_for_checkpoint()
{
    /* The checkpoint of a failed restart gets a full check, because a quick one may miss
     * damage. */
    const bool is_once_more =
        last_ > 0 && newest_number(options_.directories, options_.job) == last_;

    await_last_agent();
    try {
        return newest_usable(options_.directories, options_.job,
                             prospects(),
                             is_once_more ? Verification::full : Verification::quick);
    } catch (const Error &problem) {
        if (may_pass(problem.code())) {
            throw; /* a checkpoint may exist, so the job must not start from the beginning */
        }
        return std::nullopt; /* all unusable checkpoints were named on stderr */
    }
}

/* If damaged files are the reason that no checkpoint is usable, the job does not start from the
 * beginning, because that would repeat all of its work. */
bool JobRun::may_start_over()
{
    return !repeat_while_unusable([this] {
        return has_damaged(options_.directories, options_.job, prospects());
    });
}

/* Starts the job again without counting another failure of it: after a swap or a migration, or
 * if the last checkpoint could not be gathered. code: of the last launch. */
std::optional<Invocation> JobRun::start_from_newest(int code)
{
    const auto checkpoint = checkpoint_to_restart();

    if (!checkpoint && (!policy_.limits().fresh_start || !may_start_over())) {
        say_end(code, "there is no checkpoint to restart from");
        return std::nullopt;
    }
    if (!checkpoint) {
        fmt::print(stderr, "ckpt: no checkpoint is left; the job starts from the beginning\n");
        last_ = 0;
        return start_over();
    }
    last_ = checkpoint->number;
    fmt::print(stderr, "ckpt: the job goes on from {}\n", checkpoint->name());
    return restart(*checkpoint);
}

bool JobRun::has_enough_nodes() const
{
    CKPT_INVARIANT(nodes_.left() <= nodes_.all());
    return !nodes_.is_known() || nodes_.left() >= std::max<std::size_t>(options_.min_nodes, 1);
}

/* A rank that fails during its replay behaves differently than before, and would fail again;
 * the failing rank may not be known yet. The cause remains the failure that led to the
 * replay. */
Failure JobRun::cause_of(const Ending &ending)
{
    Failure failure = ending.failure.value_or(Failure());

    failure.exit_code = ending.exit_code;
    if (newest_number(options_.directories, options_.job) != last_ || !salvage_) {
        salvage_.reset();
    } else if (failure.kind == Failure::Kind::rank_ended && !failure.is_from_outside() &&
               (failure.rank < 0 || failure.rank == salvage_->rank)) {
        not_replayed_.insert(last_);
        failure = *salvage_;
        failure.salvaged = 0;
    }
    if (failure.salvaged != 0) {
        salvage_ = failure;
    }
    CKPT_INVARIANT(failure.salvaged == 0 || salvage_);
    return failure;
}

std::optional<Invocation> JobRun::after_failure(const Ending &ending)
{
    Failure failure = repeat_while_unusable([&] { return cause_of(ending); });
    for (const std::string &host : ending.lost) {
        nodes_.lose(host);
        lost_nodes_.insert(host);
    }
    const auto checkpoint = checkpoint_to_restart();
    if (!has_enough_nodes()) {
        say_end(ending.exit_code, fmt::format("{} of {} nodes are left", nodes_.left(),
                                              nodes_.all()));
        return std::nullopt;
    }
    if (!checkpoint && !may_start_over()) {
        say_end(ending.exit_code, "there is no checkpoint to restart from");
        return std::nullopt;
    }
    const auto decision = policy_.after(failure, checkpoint ? checkpoint->number : 0);
    if (!decision.restart) {
        say_end(ending.exit_code, decision.why_not);
        return std::nullopt;
    }
    CKPT_INVARIANT(policy_.restarts() <= policy_.limits().restarts);
    fmt::print(stderr, "ckpt: {}; restart {} of at most {}, from {}\n",
               ending.failure ? failure.text()
                              : fmt::format("the job ended with code {}", ending.exit_code),
               policy_.restarts(), policy_.limits().restarts,
               checkpoint ? checkpoint->name() : "the beginning");
    if (!rest(std::max(decision.delay, time_to_fence(ending)))) {
        return std::nullopt;
    }
    last_ = checkpoint ? checkpoint->number : 0;
    return checkpoint ? restart(*checkpoint) : start_over();
}

/* Returns the time until all ranks on cut-off nodes have ended (fencing). */
milliseconds JobRun::time_to_fence(const Ending &ending)
{
    using std::chrono::ceil;

    if (!ending.silent_since) {
        return milliseconds(0);
    }
    return ceil<milliseconds>(*ending.silent_since + fencing_time - steady_clock::now());
}

void JobRun::say_end(int code, const std::string &why) const
{
    fmt::print(stderr, "ckpt: the job ended with code {}; {}\n", code, why);
}

/* ---- Between two launches ---------------------------------------------------------- */

/* Returns false if a request to end the job arrives meanwhile. */
bool JobRun::rest(milliseconds time)
{
    const auto until = steady_clock::now() + time;
    bool goes_on = true;

    loop_.watch(signals_.descriptor(), EPOLLIN, [&](std::uint32_t) {
        while (auto info = signals_.next()) {
            const int signal = static_cast<int>(info->ssi_signo);
            goes_on = goes_on && (take_job_control(signal) || signal == SIGCONT ||
                                  take_nodes_between(signal));
            is_warned_ = is_warned_ || batch_.warning_signals().contains(signal);
        }
    });
    do {
        loop_.turn(until);
    } while (goes_on && steady_clock::now() < until);
    loop_.forget(signals_.descriptor());
    return goes_on;
}

/* Returns false if the job is to end instead. Its nodes are free meanwhile. */
bool JobRun::wait_until_resumed()
{
    CKPT_EXPECT(requests_);
    const double since = static_cast<double>(now_nanoseconds()) * 1e-9;
    std::optional<bool> resumed;

    fmt::print(stderr, "ckpt: the job is swapped out; ckpt resume {} brings it back\n",
               options_.job);
    loop_.watch(signals_.descriptor(), EPOLLIN, [&](std::uint32_t) {
        while (auto info = signals_.next()) {
            const int signal = static_cast<int>(info->ssi_signo);
            if (take_job_control(signal)) {
                continue;
            }
            if (signal == SIGCONT) {
                resumed = true;
            } else if (!options_.swaps.contains(signal) && !take_nodes_between(signal)) {
                resumed = false;
            }
        }
    });
    requests_->handle([&](std::uint64_t client, const control::Request &request) {
        control::Reply reply;
        if (request.command == "resume") {
            reply.event = "result";
            reply.result.job = options_.job;
            requests_->reply(client, reply);
            resumed = true;
        } else if (request.command == "status") {
            reply.event = "status";
            reply.status = swapped_out_status(options_.directories, options_.job, since);
            requests_->reply(client, reply);
        } else {
            requests_->refuse(client, {CKPT_REFUSAL_SWAPPED_OUT, "the job is swapped out"});
        }
    });
    while (!resumed) {
        loop_.turn(steady_clock::now() + std::chrono::hours(1));
    }
    requests_->handle(nullptr);
    loop_.forget(signals_.descriptor());
    return *resumed;
}

Refusal JobRun::obstacle(const std::string &from, const std::string &to) const
{
    if (!nodes_.is_known()) {
        return {CKPT_REFUSAL_UNSUITABLE_NODE, "the command names no nodes (--host, --hostfile)"};
    }
    try {
        NodePlan(nodes_).move(from, to);
        return {};
    } catch (const Error &problem) {
        return refusal_of(problem, CKPT_REFUSAL_UNSUITABLE_NODE);
    }
}

/* Returns nothing if no rank has to move, or if that is impossible, which it prints. */
std::optional<Words> JobRun::nodes_to_move_to(int signal)
{
    try {
        const Words names = read_node_names(options_.nodes_file);
        NodePlan plan(nodes_);
        if (plan.use_only(names) > 0) {
            fmt::print(stderr, "ckpt: SIG{}: the job moves to nodes of {}\n",
                       sigabbrev_np(signal), options_.nodes_file.string());
            return names;
        }
        nodes_ = plan;
        fmt::print(stderr, "ckpt: SIG{}: all ranks are on nodes of {}\n", sigabbrev_np(signal),
                   options_.nodes_file.string());
    } catch (const Error &problem) {
        fmt::print(stderr, "ckpt: SIG{}: the job stays where it is: {}\n", sigabbrev_np(signal),
                   problem.what());
    }
    return std::nullopt;
}

/* Between two launches the shell stops and continues only this process, so its SIGCONT is not
 * for the job. Returns false if the signal has another purpose. */
bool JobRun::take_job_control(int signal)
{
    if (signal == SIGTSTP) {
        was_stopped_ = true;
        std::raise(SIGSTOP);
        return true;
    }
    return signal == SIGCHLD || (signal == SIGCONT && std::exchange(was_stopped_, false));
}

/* Handles a migration signal between two launches. Returns false if the signal has another
 * purpose. */
bool JobRun::take_nodes_between(int signal)
{
    if (!options_.migrations.contains(signal)) {
        return false;
    }
    if (const auto names = nodes_to_move_to(signal)) {
        nodes_.use_only(*names);
        has_other_nodes_ = true;
    }
    return true;
}

} // namespace ckpt::cli
