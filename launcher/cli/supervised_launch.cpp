/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * supervised_launch.cpp - the event loop of `ckpt run` while the job runs.
 */
#include "cli/supervised_launch.hpp"

#include "common/error.hpp"

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

/* For a job that is just starting to have an agent that takes requests. */
constexpr auto longest_start = std::chrono::seconds(10);
constexpr auto ask_again = std::chrono::milliseconds(50);
/* For a program that is told to end. */
constexpr auto last_words = std::chrono::seconds(10);
/* For the agents, behind the launcher's end: to answer that what it has ended with is saved, */
constexpr auto last_answer = std::chrono::seconds(10);
/* to tell how ranks have ended, */
constexpr auto last_news = std::chrono::milliseconds(500);
/* to end themselves, with what they still have to write, before nodes are called free, */
constexpr auto last_agents = std::chrono::seconds(30);
/* and to see those end that were killed, or find that their nodes are lost. */
constexpr auto last_ranks = std::chrono::seconds(5);

/* By which mpirun goes on when a rank ends: of Open MPI 4.1, and of 5.0, which still ends the
 * job when one ends with another code than 0. No options: those are recorded. */
Environment recovery_variables()
{
    return {{"OMPI_MCA_orte_enable_recovery", "1"}, {"PRTE_MCA_state_base_recoverable", "1"}};
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
    if (launcher_) {
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
    ending_.by_user |= asks_for_end(signal);
    if (signal == SIGTSTP || signal == SIGCONT) {
        is_asked_to_stop_ = signal == SIGTSTP;
    }
    if (signal == SIGCONT && ending_.last && ending_.last->signal != 0) {
        ending_.last->is_resumed = true;
    }
    /* The terminal has sent it to the launcher as well; but the end of a terminal is told only to
     * the leader of its session. */
    if (info.ssi_code != SI_KERNEL || signal == SIGHUP) {
        launcher_->signal(signal);
    }
}

/* What has come before there was a launcher, from the terminal, too, has not come to that. */
void SupervisedLaunch::take_earlier_signals()
{
    while (auto info = signals_.next()) {
        info->ssi_code = SI_USER;
        take(*info);
    }
}

/* ---- Job control ---------------------------------------------------------------- */

/* A shell has us for the job, and waits for us to stop: when the launcher does, by what the
 * terminal has sent to both, or by itself. A program may as well go on. */
void SupervisedLaunch::look_whether_stopped()
{
    const auto signal = launcher_ ? launcher_->stop_signal() : std::nullopt;

    if (signal && (is_asked_to_stop_ || *signal == SIGTSTP || *signal == SIGTTIN ||
                   *signal == SIGTTOU)) {
        stop_as_the_launcher_has();
    }
}

/* Other nodes do not take us for lost meanwhile. */
void SupervisedLaunch::stop_as_the_launcher_has()
{
    is_asked_to_stop_ = false;
    if (supervisor_) {
        supervisor_->suspend_membership();
    }
    std::raise(SIGSTOP); /* until SIGCONT, which is sent on like other signals */
    if (supervisor_) {
        supervisor_->resume_membership();
    }
}

/* True if that is what it is for. A warning may come twice: then it is passed on. */
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
        const std::string obstacle = options_.obstacle(last.from, last.to);
        if (!obstacle.empty()) {
            requests_.reply_error(client, obstacle);
            return;
        }
    } else if (request.command == "resume") {
        requests_.reply_error(client, "the job is not swapped out");
        return;
    } else {
        requests_.reply_error(client, "unknown command '" + request.command + "'");
        return;
    }
    if (ending_.last || watch_.failure()) {
        requests_.reply_error(client, "the job is ending already");
        return;
    }
    wish(std::move(last));
}

/* What an agent is for, wherever it is. */
void SupervisedLaunch::pass_on(std::uint64_t client, const control::Request &request)
{
    const bool is_passed =
        supervisor_ &&
        supervisor_->request(
            request,
            [this, client](const control::Reply &reply) { requests_.reply(client, reply); },
            [this, client, request] {
                if (request.command == "status") {
                    requests_.reply_starting(client, request); /* ranks start another one */
                } else {
                    requests_.reply_error(client, "the agent has died");
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

/* Its ranks start another one. If that dies as well it may be because of what it is asked. */
void SupervisedLaunch::lost_agent()
{
    if (std::exchange(has_lost_agent_, true)) {
        given_up("the agent has died");
        return;
    }
    is_asked_ = false;
    ask_until_ = steady_clock::now() + longest_start;
}

void SupervisedLaunch::ask()
{
    control::Request request;

    request.command = "checkpoint";
    request.then = ending_.last->purpose == LastCheckpoint::For::migration ? "move" : "kill";
    is_asked_ = supervisor_ && supervisor_->request(
        request, [this](const control::Reply &reply) { answered(reply); },
        [this] { lost_agent(); });
    if (!is_asked_ && steady_clock::now() >= ask_until_) {
        given_up("no agent has come");
    }
}

void SupervisedLaunch::answered(const control::Reply &reply)
{
    LastCheckpoint &last = *ending_.last;

    if (last.name && reply.event != "result") {
        return; /* it has been saved meanwhile, as another command has asked */
    }
    if (reply.event == "error" && reply.error.starts_with(control::still_starting) &&
        ask_until_ && steady_clock::now() < *ask_until_) {
        is_asked_ = false; /* once more, soon */
        return;
    }
    if (reply.event == "error") {
        given_up(reply.error);
        return;
    }
    if (reply.event == "result") {
        saved(reply.result.name);
        last.answer = reply;
    } else if (last.client != 0) {
        requests_.reply(last.client, reply);
    }
}

/* All ranks are about to end: as we have asked, or a `ckpt checkpoint --kill` has. */
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

/* The program gets the signal, as it would without us; a command its answer. */
void SupervisedLaunch::given_up(const std::string &why)
{
    if (!ending_.last || ending_.last->name) {
        return;
    }
    const LastCheckpoint last = *ending_.last;

    ask_until_.reset();
    if (last.client != 0) {
        ending_.last.reset();
        requests_.reply_error(last.client, why);
        return;
    }
    fmt::print(stderr, "ckpt: the job was not saved: {}\n", why);
    if (last.purpose != LastCheckpoint::For::warning) {
        ending_.last.reset(); /* it runs on */
    } else if (launcher_) {
        launcher_->signal(last.signal);
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
        return; /* all ranks end */
    }
    if (kill_at_ && now >= *kill_at_) {
        kill_at_.reset();
        supervisor_->end_ranks();
    }
    switch (watch_.step(now)) {
    case LaunchWatch::Step::none:
        break;
    case LaunchWatch::Step::end:
        if (!ending_.by_user && !ending_.was_unprotected) {
            say_failure("; what is left of the job is ended");
        }
        supervisor_->end_ranks(); /* from which the watch knows */
        break;
    case LaunchWatch::Step::terminate:
        launcher_->signal(SIGTERM);
        break;
    case LaunchWatch::Step::kill:
        launcher_->signal(SIGKILL);
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
    return next;
}

void SupervisedLaunch::say_failure(const char *more)
{
    has_said_failure_ = true;
    fmt::print(stderr, "ckpt: {}{}{}\n", watch_.failure()->text(),
               watch_.failure()->salvage_text(), more);
}

void SupervisedLaunch::child_failed(pid_t child, int status)
{
    watch_.process_failed(supervisor_->rank_of(child).value_or(-1), status,
                          steady_clock::now());
}

/* By a signal that may just have come, or because nodes are wanted back. */
bool SupervisedLaunch::is_asked_to_end()
{
    if (launcher_) {
        take_signals();
    }
    return ending_.by_user || ending_.last || ending_.was_unprotected;
}

/* The user has said what is to be done then. */
void SupervisedLaunch::protection(bool is_unprotected, bool is_overdue, const std::string &why)
{
    if (!is_unprotected) {
        fmt::print(stderr, "ckpt: the job is protected again\n");
    } else if (!is_overdue) {
        fmt::print(stderr, "ckpt: the job is unprotected: {}\n", why);
    } else if (options_.ends_unprotected && launcher_ && !ending_.last &&
               !ending_.was_unprotected) {
        fmt::print(stderr, "ckpt: the job is ended: it could not be saved for a whole interval: "
                           "{}\n", why);
        ending_.was_unprotected = true;
        kill_at_ = steady_clock::now() + last_words;
        launcher_->signal(SIGTERM);
    }
}

/* Of ranks that were killed because a command has asked for that the coordinator tells before
 * it kills them: whatever it has told has come when it answers once more. */
void SupervisedLaunch::ask_for_news()
{
    if (supervisor_ && !ending_.last && (watch_.failure() || ending_.exit_code != 0)) {
        control::Request request;
        request.command = "status";
        (void)supervisor_->request(request, [](const control::Reply &) {}, [] {});
    }
}

/* Of a job that was saved to leave them; a batch system that has warned waits for nobody. */
void SupervisedLaunch::await_nodes()
{
    const Time until = steady_clock::now() + last_agents;
    const bool leaves = supervisor_ && ending_.last && ending_.last->name &&
                        ending_.last->purpose != LastCheckpoint::For::warning;

    while (leaves && supervisor_->has_agents() && steady_clock::now() < until) {
        loop_.turn(until);
    }
}

/* A launcher can end before the agents have told that the last checkpoint exists, or how ranks
 * have ended; before a node is known to be lost, that it has missed itself; and before all
 * have ended, if it was killed. */
void SupervisedLaunch::await_agents()
{
    const Time now = steady_clock::now();

    ask_for_news();
    while (supervisor_ && supervisor_->awaits_answer() &&
           steady_clock::now() < now + last_answer) {
        loop_.turn(now + last_answer);
    }
    while (supervisor_ && watch_.awaits_salvage() &&
           steady_clock::now() < now + last_answer) {
        loop_.turn(now + last_answer);
    }
    while (supervisor_ && steady_clock::now() < now + last_news &&
           supervisor_->awaits_status()) {
        loop_.turn(now + last_news);
    }
    if (acts_for_launcher() && supervisor_->has_ranks()) {
        supervisor_->end_ranks(); /* Open MPI 5.0 may leave them behind (MPI_Abort) */
    }
    await_nodes();
    const bool is_bad = watch_.failure() || ending_.exit_code != 0;
    while (supervisor_ && is_bad && supervisor_->has_ranks() &&
           steady_clock::now() < now + last_ranks) {
        loop_.turn(now + last_ranks);
    }
}

void SupervisedLaunch::conclude()
{
    if (ending_.last && ask_until_) {
        given_up(has_lost_agent_ ? "the agent has died" : "the job has ended");
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
    if (!ending_.lost.empty()) { /* what else has ended has followed from that */
        ending_.failure.emplace();
        ending_.failure->kind = Failure::Kind::node_lost;
        ending_.failure->host = *ending_.lost.begin();
    }
    /* Open MPI 4.1 with --enable-recovery ends with 0 though ranks were killed. If the launcher has
     * killed them as the user wished, it has its own code for that. */
    const bool has_code = ending_.by_user && ending_.exit_code != 0;
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

Ending SupervisedLaunch::run(const Invocation &invocation)
{
    Invocation command = invocation;
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
            ending_.exit_code = *code;
            has_ended_ = true;
        }
    });
    while (!has_ended_) {
        loop_.turn(next_step());
        step(steady_clock::now());
    }
    await_agents();
    conclude();
    return ending_;
}

} // namespace ckpt::cli
