/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * supervised_launch.cpp - the event loop of `ckpt run` while the job runs.
 */
#include "cli/run/supervised_launch.hpp"

#include "common/durations.hpp"
#include "common/error.hpp"
#include "common/invariant.hpp"
#include "common/pidfd.hpp"
#include "common/processes.hpp"
#include "launch/launch_options.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <utility>

#include <sys/epoll.h>

namespace ckpt::cli
{

using std::chrono::steady_clock;

namespace
{

/* Time limit for a starting job to get an agent that accepts requests. */
constexpr auto longest_start = std::chrono::seconds(10);
constexpr auto ask_again = std::chrono::milliseconds(50);
/* After more violated invariants than this, a launch is only waited for. */
constexpr int most_violations = 16;
/* Time limit for a program to end after SIGTERM. */
constexpr auto grace_period = std::chrono::seconds(10);
/* Time limits after the end of the launcher. last_answer: agents confirm the last
 * checkpoint. */
constexpr auto last_answer = std::chrono::seconds(10);
/* last_news: agents report how ranks have ended. */
constexpr auto last_news = std::chrono::milliseconds(500);
/* last_agents: agents finish writing and end, before the nodes are reported free. */
constexpr auto last_agents = std::chrono::seconds(30);
/* last_ranks: killed ranks end, or their nodes are found to be lost. */
constexpr auto last_ranks = std::chrono::seconds(5);
/* longest_adoption: ranks without a launcher go back in place. */
constexpr auto longest_adoption = std::chrono::seconds(60);
/* How often this process looks at ranks without a launcher, if no agent does. */
constexpr auto adopted_period = std::chrono::seconds(1);

/* Variables that make a launcher continue when a rank ends. The first is for Open MPI 4.1. The
 * second is for 5.0, which still ends the job when a rank exits with a non-zero code. The third is
 * for ckpt-launch. They are not options, because the options of the launcher are recorded. */
Environment recovery_variables()
{
    return {{"OMPI_MCA_orte_enable_recovery", "1"},
            {"PRTE_MCA_state_base_recoverable", "1"},
            {launch::keep_going_variable, "1"}};
}

bool asks_for_end(int signal)
{
    return signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT;
}

} // namespace

SupervisedLaunch::SupervisedLaunch(EventLoop &loop, const SignalDescriptor &signals,
                                   RunRequests &requests, Options options)
    : loop_(loop), signals_(signals), requests_(requests), options_(std::move(options))
{
    if (options_.tolerates_ended_ranks) {
        watch_.tolerate_ended_ranks();
    }
    try {
        supervisor_.emplace(loop_, options_.file, options_.host, options_.incarnation, watch_,
                            Supervisor::Hooks{
                                [this](const std::string &name) { saved(name); },
                                [this](bool is_unprotected, bool is_overdue,
                                       const std::string &why) {
                                    protection(is_unprotected, is_overdue, why);
                                },
                                [this](int rank, std::uint64_t number, double seconds) {
                                    recovered(rank, number, seconds);
                                },
                                [this](int rank, double seconds) { replayed(rank, seconds); },
                                [this](const std::string &why) { adoption_ = why; },
                                [this] { return is_asked_to_end(); }});
    } catch (const Error &problem) {
        fmt::print(stderr, "ckpt: nodes are not watched: {}\n", problem.what());
    }
    if (acts_for_launcher()) {
        watch_.act_for_launcher();
    }
    loop_.watch(signals_.descriptor(), EPOLLIN, [this](std::uint32_t) { take_signals(); });
    requests_.handle([this](std::uint64_t client, const control::Request &request) {
        take(client, request);
    });
}

SupervisedLaunch::~SupervisedLaunch()
{
    requests_.handle(nullptr);
    loop_.forget(signals_.descriptor());
    if (launcher_ && !has_launcher_ended_) {
        loop_.forget(launcher_->descriptor());
    }
}

/* ---- Signals ----------------------------------------------------------------- */

void SupervisedLaunch::take_signals()
{
    while (auto info = signals_.next()) {
        take(*info);
    }
}

void SupervisedLaunch::take(const signalfd_siginfo &info)
{
    const int signal = static_cast<int>(info.ssi_signo);

    if (signal == SIGCHLD) {
        look_whether_stopped();
        return;
    }
    if (take_wish(signal)) {
        return;
    }
    if (asks_for_end(signal)) {
        ending_.by_user = true;
        asked_by_ = asked_by_ == 0 ? signal : asked_by_;
    }
    if (signal == SIGTSTP || signal == SIGCONT) {
        is_asked_to_stop_ = signal == SIGTSTP;
    }
    if (signal == SIGCONT && ending_.last && ending_.last->signal != 0) {
        ending_.last->is_resumed = true;
    }
    /* The terminal has sent the signal to the launcher as well. SIGHUP is an exception: when
     * the terminal closes, only the session leader gets it. */
    if (info.ssi_code != SI_KERNEL || signal == SIGHUP || is_adopted_) {
        signal_launch(signal);
    }
}

/* Signals that arrived before the launcher was started have not reached it, even if the
 * terminal sent them. */
void SupervisedLaunch::take_earlier_signals()
{
    while (auto info = signals_.next()) {
        info->ssi_code = SI_USER;
        take(*info);
    }
}

/* ---- Job control ---------------------------------------------------------------- */

/* The shell regards this process as the job, and waits for it to stop. So it stops when the
 * launcher has stopped, by a terminal signal to both or by itself. A launcher may also ignore
 * the signal and continue. */
void SupervisedLaunch::look_whether_stopped()
{
    const auto signal = launcher_ ? launcher_->stop_signal() : std::nullopt;

    if (signal && (is_asked_to_stop_ || *signal == SIGTSTP || *signal == SIGTTIN ||
                   *signal == SIGTTOU)) {
        stop_as_the_launcher_has();
    }
}

/* The membership is suspended, so that other nodes do not regard this one as lost meanwhile. */
void SupervisedLaunch::stop_as_the_launcher_has()
{
    is_asked_to_stop_ = false;
    if (supervisor_) {
        supervisor_->suspend_membership();
    }
    std::raise(SIGSTOP); /* until SIGCONT, which is passed on like other signals */
    if (supervisor_) {
        supervisor_->resume_membership();
    }
}

/* Returns whether the signal requests a last checkpoint. A second warning signal is passed
 * on. */
bool SupervisedLaunch::take_wish(int signal)
{
    const bool is_warning = options_.warnings.contains(signal);
    LastCheckpoint last{};

    last.signal = signal;
    if (options_.migrations.contains(signal)) {
        if (ending_.last || watch_.failure()) {
            fmt::print(stderr, "ckpt: SIG{}: the job is ending already\n", sigabbrev_np(signal));
        } else if (auto nodes = options_.nodes(signal)) {
            last.purpose = LastCheckpoint::For::migration;
            last.nodes = std::move(*nodes);
            wish(std::move(last));
        }
        return true;
    }
    if ((!is_warning && !options_.swaps.contains(signal)) || ending_.last) {
        return false;
    }
    fmt::print(stderr, "ckpt: SIG{}: the job is saved and ended\n", sigabbrev_np(signal));
    last.purpose = is_warning ? LastCheckpoint::For::warning : LastCheckpoint::For::swap;
    wish(std::move(last));
    return true;
}

/* ---- The last checkpoint ------------------------------------------------------- */

void SupervisedLaunch::take(std::uint64_t client, const control::Request &request)
{
    LastCheckpoint last{};

    if (request.command == "status" || request.command == "checkpoint") {
        pass_on(client, request);
        return;
    }
    last.client = client;
    if (request.command == "swap") {
        last.purpose = LastCheckpoint::For::swap;
    } else if (request.command == "migrate") {
        last.purpose = LastCheckpoint::For::migration;
        last.from = request.from;
        last.to = request.to;
        const Refusal obstacle = options_.obstacle(last.from, last.to);
        if (!obstacle.empty()) {
            requests_.refuse(client, obstacle);
            return;
        }
    } else if (request.command == "resume") {
        requests_.refuse(client, {CKPT_REFUSAL_NOT_SWAPPED_OUT, "the job is not swapped out"});
        return;
    } else {
        requests_.refuse(client, refusal(CKPT_REFUSAL_UNKNOWN_REQUEST, "unknown command '{}'",
                                         request.command));
        return;
    }
    if (ending_.last || watch_.failure()) {
        requests_.refuse(client, {CKPT_REFUSAL_JOB_ENDING, "the job is ending already"});
        return;
    }
    wish(std::move(last));
}

/* Passes a request to an agent on any node. */
void SupervisedLaunch::pass_on(std::uint64_t client, const control::Request &request)
{
    const bool is_passed =
        supervisor_ &&
        supervisor_->request(
            request,
            [this, client](const control::Reply &reply) { requests_.reply(client, reply); },
            [this, client, request] {
                if (request.command == "status") {
                    /* The ranks will start another agent. */
                    requests_.reply_starting(client, request);
                } else {
                    requests_.refuse(client, {CKPT_REFUSAL_AGENT_LOST, "the agent has died"});
                }
            });

    if (!is_passed) {
        requests_.reply_starting(client, request);
    }
}

void SupervisedLaunch::wish(LastCheckpoint last)
{
    ending_.last = std::move(last);
    is_asked_ = false;
    has_lost_agent_ = false;
    ask_until_ = steady_clock::now() + longest_start;
    ask();
}

/* The ranks start another agent. If that dies too, the request itself may be the reason, so it
 * is given up. */
void SupervisedLaunch::lost_agent()
{
    if (std::exchange(has_lost_agent_, true)) {
        given_up({CKPT_REFUSAL_AGENT_LOST, "the agent has died"});
        return;
    }
    is_asked_ = false;
    ask_until_ = steady_clock::now() + longest_start;
}

void SupervisedLaunch::ask()
{
    control::Request request;

    CKPT_EXPECT(ending_.last);
    request.command = "checkpoint";
    request.then = ending_.last->purpose == LastCheckpoint::For::migration ? "move" : "kill";
    is_asked_ =
        supervisor_ && supervisor_->request(
                           request, [this](const control::Reply &reply) { answered(reply); },
                           [this] { lost_agent(); });
    if (!is_asked_ && steady_clock::now() >= ask_until_) {
        given_up({CKPT_REFUSAL_NO_COORDINATOR, "no agent has come"});
    }
}

void SupervisedLaunch::answered(const control::Reply &reply)
{
    LastCheckpoint &last = *ending_.last;

    if (last.name && reply.event != "result") {
        return; /* saved already, on request of another command */
    }
    const Refusal why = control::refusal_of(reply);
    if (why.identity() == CKPT_REFUSAL_JOB_STARTING &&
        ask_until_ && steady_clock::now() < *ask_until_) {
        is_asked_ = false; /* ask again soon */
        return;
    }
    if (!why.empty()) {
        given_up(why);
        return;
    }
    if (reply.event == "result") {
        saved(reply.result.name);
        last.answer = reply;
    } else if (last.client != 0) {
        requests_.reply(last.client, reply);
    }
}

/* All ranks are about to end, on request of this process or of `ckpt checkpoint --kill`. */
void SupervisedLaunch::saved(const std::string &name)
{
    if (!ending_.last) {
        ending_.last.emplace();
        ending_.last->purpose = LastCheckpoint::For::end;
    }
    LastCheckpoint &last = *ending_.last;
    if (last.name) {
        return;
    }
    last.name = name;
    last.answer.event = "result";
    last.answer.result.name = name;
    fmt::print(stderr, "ckpt: saved as {}\n", name);
}

/* Passes the signal to the program, as without `ckpt run`, or replies to the command. */
void SupervisedLaunch::given_up(const Refusal &why)
{
    if (!ending_.last || ending_.last->name) {
        return;
    }
    const LastCheckpoint last = *ending_.last;

    ask_until_.reset();
    if (last.client != 0) {
        ending_.last.reset();
        requests_.refuse(last.client, why);
        return;
    }
    fmt::print(stderr, "ckpt: the job was not saved: {}\n", why.text());
    if (last.purpose != LastCheckpoint::For::warning) {
        ending_.last.reset(); /* the job continues to run */
    } else if (launcher_) {
        signal_launch(last.signal);
    }
}

/* ---- The launch ------------------------------------------------------------------ */

void SupervisedLaunch::step(Time now)
{
    if (!has_told_ranks_ && options_.ranks_have_come && supervisor_ && supervisor_->has_ranks()) {
        has_told_ranks_ = true;
        options_.ranks_have_come();
    }
    if (ending_.last && ask_until_ && !is_asked_) {
        ask();
    }
    if (ending_.last && ending_.last->name) {
        return; /* all ranks are ending */
    }
    if (kill_at_ && now >= *kill_at_) {
        CKPT_INVARIANT(supervisor_);
        kill_at_.reset();
        end_ranks();
    }
    switch (watch_.step(now)) {
    case LaunchWatch::Step::none:
        break;
    case LaunchWatch::Step::end:
        CKPT_INVARIANT(supervisor_);
        if (!ending_.by_user && !ending_.was_unprotected) {
            say_failure("; the rest of the job is ended");
        }
        end_ranks(); /* the watch will learn of their end */
        break;
    case LaunchWatch::Step::terminate:
        signal_launch(SIGTERM);
        break;
    case LaunchWatch::Step::kill:
        signal_launch(SIGKILL);
        break;
    }
}

SupervisedLaunch::Time SupervisedLaunch::next_step() const
{
    Time next = std::min(watch_.next_step(), steady_clock::now() + std::chrono::hours(1));

    if (ending_.last && ask_until_ && !is_asked_) {
        next = std::min(next, steady_clock::now() + ask_again);
    }
    if (kill_at_) {
        next = std::min(next, *kill_at_);
    }
    if (is_adopted_) {
        next = std::min(next, all_ended_at_ ? *all_ended_at_ + last_news
                                            : steady_clock::now() + adopted_period);
    }
    return next;
}

void SupervisedLaunch::say_failure(const char *more)
{
    CKPT_EXPECT(watch_.failure());
    has_said_failure_ = true;
    fmt::print(stderr, "ckpt: {}{}{}\n", watch_.failure()->text(),
               watch_.failure()->salvage_text(), more);
}

void SupervisedLaunch::child_failed(pid_t child, int status)
{
    CKPT_EXPECT(supervisor_);
    if (supervisor_->is_former(child)) {
        return;
    }
    watch_.process_failed(supervisor_->rank_of(child).value_or(-1), status,
                          steady_clock::now());
}

/* Whether the end was requested by a pending signal, or because the nodes are needed. */
bool SupervisedLaunch::is_asked_to_end()
{
    if (launcher_) {
        take_signals();
    }
    return ending_.by_user || ending_.last || ending_.was_unprotected;
}

/* The user's options determine the action. */
void SupervisedLaunch::protection(bool is_unprotected, bool is_overdue, const std::string &why)
{
    if (!is_unprotected) {
        fmt::print(stderr, "ckpt: the job is protected again\n");
    } else if (!is_overdue) {
        fmt::print(stderr, "ckpt: the job is unprotected: {}\n", why);
    } else if (options_.ends_unprotected && launcher_ && !ending_.last &&
               !ending_.was_unprotected) {
        fmt::print(stderr, "ckpt: the job is ended: it could not be saved for a whole interval: "
                           "{}\n",
                   why);
        ending_.was_unprotected = true;
        kill_at_ = steady_clock::now() + grace_period;
        signal_launch(SIGTERM);
    }
}

void SupervisedLaunch::recovered(int rank, std::uint64_t number, double seconds)
{
    has_recovered_ = true;
    if (is_adopting_) {
        fmt::print(stderr,
                   "ckpt: {} has ended; all ranks have gone back to checkpoint {} in place, in "
                   "{}, and go on without it\n",
                   launcher_name_, number, format_seconds(seconds));
        has_said_adoption_ = true;
        return;
    }
    fmt::print(stderr,
               "ckpt: rank {} has died; all ranks have gone back to checkpoint {} in place, in "
               "{}\n",
               rank, number, format_seconds(seconds));
}

void SupervisedLaunch::replayed(int rank, double seconds)
{
    has_recovered_ = true;
    fmt::print(stderr,
               "ckpt: rank {} has died; it is replayed in place, and the others went on after {}\n",
               rank, format_seconds(seconds));
}

void SupervisedLaunch::end_ranks()
{
    has_ended_ranks_ = true;
    supervisor_->end_ranks();
}

/* ---- Without the launcher -------------------------------------------------------- */

void SupervisedLaunch::signal_launch(int number)
{
    if (!is_adopted_) {
        launcher_->signal(number);
        return;
    }
    for (const auto &[rank, pid] : supervisor_->processes_here()) {
        if (const Fd process = open_pidfd(pid)) {
            send_signal(process, number);
        }
    }
}

bool SupervisedLaunch::may_adopt()
{
    return options_.adopts_ranks && acts_for_launcher() && !is_adopted_ && !has_ended_ranks_ &&
           !is_asked_to_end() && violations_ <= most_violations && watch_.has_unfinished();
}

/* The launcher has ended. If ranks have not, or have only just died, agents may let them, or their
 * copies, go on. Returns whether they do. */
bool SupervisedLaunch::adopt_ranks()
{
    const Time until = steady_clock::now() + longest_adoption;

    if (!may_adopt() || !supervisor_->adopt()) {
        return false;
    }
    is_adopting_ = true;
    while (!adoption_ && supervisor_->has_agents() && !is_asked_to_end() &&
           steady_clock::now() < until) {
        turn(until);
    }
    is_adopting_ = false;
    is_adopted_ = adoption_ && adoption_->empty();
    if (is_adopted_) {
        if (!has_said_adoption_) {
            fmt::print(stderr, "ckpt: {} has ended; the ranks go on without it\n",
                       launcher_name_);
        }
        children_.reset(); /* they tell of former processes */
        ending_.exit_code = 0;
        has_ended_ = false;
    }
    return is_adopted_;
}

/* The status of a rank comes after its end, or never. If no agent is left to tell of ranks, this
 * process looks itself. */
void SupervisedLaunch::look_at_adopted(Time now)
{
    if (!supervisor_->has_agents()) {
        for (const auto &[rank, pid] : supervisor_->processes_here()) {
            if (!is_running(pid)) {
                watch_.rank_ended(rank, now);
            }
        }
    }
    if (!watch_.all_have_ended() || watch_.awaits_salvage()) {
        all_ended_at_.reset();
        return;
    }
    all_ended_at_ = all_ended_at_.value_or(now);
    has_ended_ = watch_.all_have_status() || now >= *all_ended_at_ + last_news;
}

/* Asks the coordinator for its status. If a command had ranks killed, the coordinator reports
 * that before it kills them. So when it answers this request, that report has arrived. */
void SupervisedLaunch::ask_for_news()
{
    if (supervisor_ && !ending_.last && (watch_.failure() || ending_.exit_code != 0)) {
        control::Request request;
        request.command = "status";
        (void)supervisor_->request(
            request, [](const control::Reply &) {}, [] {});
    }
}

/* Handles events until `until` at most, and then steps if `steps`. A violated invariant does not
 * end the job: the launch goes on without that event. Another launch is refused (run()). */
void SupervisedLaunch::turn(Time until, bool steps)
{
    try {
        loop_.turn(until);
        if (steps) {
            step(steady_clock::now());
        }
    } catch (const InvariantViolated &violation) {
        if (violations_++ == 0) {
            fmt::print(stderr, "ckpt: {}\n", violation.what());
        }
    }
}

/* Waits for the agents if the job was saved to free its nodes. Does not wait after a warning,
 * because the batch system does not either. */
void SupervisedLaunch::await_nodes()
{
    const Time until = steady_clock::now() + last_agents;
    const bool leaves = supervisor_ && ending_.last && ending_.last->name &&
                        ending_.last->purpose != LastCheckpoint::For::warning;

    while (leaves && supervisor_->has_agents() && steady_clock::now() < until) {
        turn(until);
    }
}

/* Waits for events that may be missing when the launcher has ended: agents confirm the last
 * checkpoint, and report how ranks ended; the loss of a node is detected; killed ranks end. */
void SupervisedLaunch::await_agents()
{
    const Time now = steady_clock::now();

    ask_for_news();
    while (supervisor_ && supervisor_->awaits_answer() &&
           steady_clock::now() < now + last_answer) {
        turn(now + last_answer);
    }
    while (supervisor_ && watch_.awaits_salvage() &&
           steady_clock::now() < now + last_answer) {
        turn(now + last_answer);
    }
    while (supervisor_ && steady_clock::now() < now + last_news &&
           supervisor_->awaits_status()) {
        turn(now + last_news);
    }
    const bool is_bad = watch_.failure() || ending_.exit_code != 0;
    const bool may_leave_ranks = acts_for_launcher() || (options_.has_exact_code && is_bad);
    if (supervisor_ && may_leave_ranks && supervisor_->has_ranks()) {
        /* ckpt-launch does if it is killed; mpirun of Open MPI 5.0 does after MPI_Abort. */
        end_ranks();
    }
    await_nodes();
    while (supervisor_ && is_bad && supervisor_->has_ranks() &&
           steady_clock::now() < now + last_ranks) {
        turn(now + last_ranks);
    }
}

void SupervisedLaunch::conclude()
{
    if (ending_.last && ask_until_) {
        given_up(has_lost_agent_ ? Refusal(CKPT_REFUSAL_AGENT_LOST, "the agent has died")
                                 : Refusal(CKPT_REFUSAL_JOB_ENDING, "the job has ended"));
    }
    ending_.failure = watch_.failure();
    if (ending_.failure && !ending_.failure->salvage_text().empty() && !has_said_failure_) {
        say_failure("");
    }
    ending_.lost = watch_.lost_nodes();
    ending_.silent_since = watch_.silent_since();
    if (ending_.exit_code != 0 && supervisor_) {
        ending_.lost.merge(supervisor_->vanished());
    }
    if (!ending_.lost.empty()) { /* all other failures follow from the lost node */
        ending_.failure.emplace();
        ending_.failure->kind = Failure::Kind::node_lost;
        ending_.failure->host = *ending_.lost.begin();
    }
    if (has_recovered_ && !ending_.failure && !ending_.by_user) {
        ending_.exit_code = 0; /* the launcher tells of the rank that has died */
    }
    if (is_adopted_ && ending_.by_user) {
        ending_.exit_code = ckpt::exit_code_of(asked_by_); /* as if it had ended a launcher */
    }
    /* Open MPI 4.1 with --enable-recovery exits with 0 even if ranks were killed. If the
     * launcher killed them on the user's request, its own exit code counts. */
    const bool has_code =
        (ending_.by_user || options_.has_exact_code) && ending_.exit_code != 0;
    if (!has_code && ending_.failure && ending_.failure->status &&
        *ending_.failure->status != 0 && !options_.tolerates_ended_ranks) {
        ending_.exit_code = ckpt::exit_code_of(*ending_.failure->status);
    }
    const bool was_ended =
        ending_.failure && !(ending_.last && ending_.last->name) &&
        (acts_for_launcher() || ending_.failure->kind != Failure::Kind::rank_ended);
    if (was_ended && ending_.exit_code == 0) {
        ending_.exit_code = exit_failed;
    }
}

/* Waits for the end of the launcher, or of ranks that have none. */
void SupervisedLaunch::await_end()
{
    while (!has_ended_) {
        const bool steps = violations_ <= most_violations;
        turn(steps ? next_step() : steady_clock::now() + std::chrono::hours(1), steps);
        if (is_adopted_) {
            look_at_adopted(steady_clock::now());
        }
    }
}

Ending SupervisedLaunch::run(const Invocation &invocation)
{
    Invocation command = invocation;
    require_sound();
    launcher_name_ = std::filesystem::path(command.command.at(0)).filename();
    CKPT_EXPECT(!launcher_ && !has_ended_);
    if (acts_for_launcher()) {
        command.environment.merge(recovery_variables());
        children_.emplace(loop_, options_.started_socket, [this](pid_t child, int status) {
            child_failed(child, status);
        });
    }
    launcher_.emplace(command, signals_.mask_before(), options_.launches);
    take_earlier_signals();
    if (children_) {
        children_->belong_to(launcher_->pid());
    }
    loop_.watch(launcher_->descriptor(), EPOLLIN, [this](std::uint32_t) {
        if (auto code = launcher_->exit_code()) {
            loop_.forget(launcher_->descriptor());
            ending_.exit_code = *code;
            has_launcher_ended_ = true;
            has_ended_ = true;
        }
    });
    do {
        await_end();
    } while (adopt_ranks());
    await_agents();
    conclude();
    return ending_;
}

} // namespace ckpt::cli
