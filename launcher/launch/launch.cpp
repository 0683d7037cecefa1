/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * launch.cpp - starts ranks, waits for them, and ends all when one fails, unless it keeps going.
 */
#include "launch/launch.hpp"

#include "common/error.hpp"
#include "common/host.hpp"
#include "common/invariant.hpp"
#include "common/processes.hpp"
#include "world/rank_environment.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ckpt::launch
{

using std::chrono::steady_clock;

namespace
{

/* Time for a rank to end after SIGTERM. */
constexpr auto grace_period = std::chrono::seconds(5);
constexpr int exit_code_mask = 0xff;

/* The host's name may be replaced, for tests that have several nodes on one machine. */
std::string node_name()
{
    const char *given = std::getenv("CKPT_HOST");
    return given != nullptr && *given != '\0' ? given : host_name();
}

/* Unique on this node. */
std::string world_name()
{
    return fmt::format("ckpt-{}", process_identity(getpid()));
}

world::World world_of(const LaunchOptions &options, const std::filesystem::path &directory)
{
    world::World world;
    world.name = world_name();
    world.nodes.resize(1);
    world.nodes.front().host = node_name();
    for (int rank = 0; rank < options.ranks; rank++) {
        world.nodes.front().ranks.push_back(rank);
    }
    world.directory = directory;
    return world;
}

std::vector<std::string> server_command(const LaunchOptions &options,
                                        const std::filesystem::path &libraries)
{
    return {libraries / "ckpt-world", "--host", node_name(), "--pmix", options.pmix};
}

std::vector<std::string> environment_of(const LaunchOptions &options)
{
    std::vector<std::string> additions = options.variables;

    additions.push_back("CKPT_WORLD_LIBRARY=" + options.pmix); /* for the agents' worlds */
    auto all = world::merged(world::environment_without_launcher(), additions);
    std::erase_if(all, [](const std::string &entry) {
        return entry.starts_with(keep_going_variable); /* for this process only */
    });
    return all;
}

std::string how_it_ended(int status)
{
    if (WIFSIGNALED(status)) {
        return fmt::format("was ended by signal {} ({})", WTERMSIG(status),
                           strsignal(WTERMSIG(status)));
    }
    return fmt::format("ended with code {}", WEXITSTATUS(status));
}

} // namespace

Launch::Launch(LaunchOptions options, const std::filesystem::path &libraries)
    : options_(std::move(options)), environment_(environment_of(options_)),
      signals_({SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT,
                SIGCHLD}),
      server_(loop_, server_command(options_, libraries), world::environment_without_launcher(),
              signals_.mask_before(),
              {[this](const world::Message &message) { received(message); },
               [this](const std::string &why) { server_gone(why); }}),
      processors_(bind_ranks(options_.bind_to, options_.ranks)), /* while the server starts */
      start_by_(steady_clock::now() + options_.start_limit)
{
    if (options_.keeps_going) {
        adopted_.emplace();
    }
    loop_.watch(signals_.descriptor(), EPOLLIN, [this](std::uint32_t) { take_signals(); });
}

/* ---- The server --------------------------------------------------------------------- */

void Launch::received(const world::Message &message)
{
    if (std::holds_alternative<world::Started>(message)) {
        if (!server_.send(world::Register{world_of(options_, server_.directory()),
                                          world::uses_mpich(environment_)})) {
            obstacle_ = "ckpt-world has ended";
        }
    } else if (const auto *endpoint = std::get_if<world::Endpoint>(&message)) {
        endpoints_[endpoint->rank] = server_.take_descriptor();
    } else if (const auto *answer = std::get_if<world::Registered>(&message)) {
        start_ranks(*answer);
    } else if (const auto *refusal = std::get_if<world::Refused>(&message)) {
        obstacle_ = refusal->why;
    } else if (const auto *event = std::get_if<world::RankEvent>(&message)) {
        rank_event(*event);
    }
}

/* Ranks that run do not notice; they cannot enter or leave MPI any more. */
void Launch::server_gone(const std::string &why)
{
    const std::string text = fmt::format("ckpt-world has ended{}{}", why.empty() ? "" : ": ", why);

    if (!has_started_) {
        obstacle_ = text;
    } else if (!ranks_.empty()) {
        fmt::print(stderr, "ckpt: {}; the ranks run on\n", text);
    }
    connected_.clear();
}

void Launch::rank_event(const world::RankEvent &event)
{
    switch (event.kind) {
    case world::RankEvent::Kind::connected:
        connected_.insert(event.rank);
        lost_.erase(event.rank); /* another process may be this rank now */
        if (adopted_) {
            adopted_->look();
        }
        break;
    case world::RankEvent::Kind::finalized:
        connected_.erase(event.rank);
        break;
    case world::RankEvent::Kind::aborted:
        if (const auto found = ranks_.find(event.rank); found != ranks_.end()) {
            end(found->second); /* MPICH's rank waits for its end */
        }
        rank_failed(event.rank, event.status == 0 ? 1 : event.status & exit_code_mask,
                    fmt::format("has called MPI_Abort with code {}", event.status));
        break;
    case world::RankEvent::Kind::lost:
        connected_.erase(event.rank);
        lost_.insert(event.rank);
        look_whether_finalized(event.rank);
        break;
    case world::RankEvent::Kind::closed: /* never sent */
        break;
    }
}

/* ---- Ranks ---------------------------------------------------------------------------- */

void Launch::start_rank(int rank, const std::vector<std::string> &variables)
{
    ChildStart start;
    start.program = options_.program;
    start.environment = world::merged(environment_, variables);
    start.directory = options_.directory;
    start.processors = processors_.at(static_cast<std::size_t>(rank));
    start.mask = signals_.mask_before();
    start.input = rank == 0 ? STDIN_FILENO : -1;
    const Fd endpoint = std::move(endpoints_[rank]);
    if (endpoint) {
        start.endpoint = endpoint.get();
        start.environment.push_back(fmt::format("PMI_FD={}", endpoint.get()));
    }
    const auto [place, is_new] = ranks_.emplace(rank, Running{ChildProcess(start), {}});
    const ChildProcess &process = place->second.process;
    CKPT_INVARIANT(is_new);
    if (!server_.send(world::Process{world_name(), rank, process.pid()})) {
        fail("ckpt-world has ended");
    }
    loop_.watch(process.descriptor(), EPOLLIN,
                [this, rank](std::uint32_t) { rank_ended(rank); });
}

void Launch::start_ranks(const world::Registered &answer)
{
    CKPT_EXPECT(!has_started_);
    has_started_ = true;
    try {
        for (const auto &[rank, variables] : answer.environments) {
            start_rank(rank, variables);
        }
    } catch (const Error &problem) {
        obstacle_ = problem.what();
        end_all();
    }
}

void Launch::rank_ended(int rank)
{
    const auto found = ranks_.find(rank);
    CKPT_EXPECT(found != ranks_.end());
    ChildProcess &process = found->second.process;
    const auto status = process.take_status();
    if (!status) {
        return; /* a stopped process is not an ended one */
    }
    loop_.forget(process.descriptor());
    const pid_t pid = process.pid();
    ranks_.erase(found);
    if (*status == 0) {
        look_whether_finalized(rank);
    } else {
        connected_.erase(rank);
        rank_failed(rank, exit_code_of(*status),
                    fmt::format("(process {}) {}", pid, how_it_ended(*status)));
    }
}

/* This process and the server learn in any order that a process has ended. */
void Launch::look_whether_finalized(int rank)
{
    if (lost_.contains(rank) && !ranks_.contains(rank)) {
        rank_failed(rank, 1, "ended without MPI_Finalize");
    }
}

/* Of several failures only the first counts: others may follow from it. A launch that keeps going
 * leaves it to `ckpt run` to end the others. */
void Launch::rank_failed(int rank, int code, const std::string &how)
{
    CKPT_EXPECT(code != 0);
    if (exit_code_) {
        return;
    }
    exit_code_ = code;
    if (adopted_) {
        adopted_->look();
    }
    const bool ends_others = !options_.keeps_going;
    fmt::print(stderr, "ckpt: rank {} {}{}\n", rank, how,
               !ends_others || ranks_.empty() ? "" : "; the other ranks are ended");
    if (ends_others) {
        end_all();
    }
}

/* ---- Signals ---------------------------------------------------------------------------- */

void Launch::take_signals()
{
    while (const auto info = signals_.next()) {
        const int number = static_cast<int>(info->ssi_signo);
        switch (number) {
        case SIGINT:
        case SIGTERM:
        case SIGHUP:
        case SIGQUIT:
            exit_code_ = exit_code_.value_or(128 + number);
            end_all();
            break;
        case SIGCHLD:
            if (adopted_) {
                reap();
            }
            break;
        default:
            signal_all(number);
            break;
        }
    }
}

/* Reaps all processes that have ended. */
void Launch::reap()
{
    siginfo_t info{};

    while (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0) {
        const auto found = std::ranges::find_if(ranks_, [&](const auto &entry) {
            return entry.second.process.pid() == info.si_pid;
        });
        if (found != ranks_.end()) {
            rank_ended(found->first);
        } else if (!server_.reap(info.si_pid)) {
            adopted_->reap(info.si_pid);
        }
        info = {};
    }
}

void Launch::signal_all(int number)
{
    for (const auto &[rank, running] : ranks_) {
        running.process.signal(number);
    }
    if (adopted_) {
        adopted_->signal(number);
    }
}

/* Requests the end of a rank. */
void Launch::end(Running &rank)
{
    if (!rank.kill_at) {
        rank.kill_at = steady_clock::now() + grace_period;
        rank.process.signal(SIGTERM);
        rank.process.signal(SIGCONT); /* a stopped process takes SIGTERM only then */
    }
}

void Launch::end_all()
{
    if (std::exchange(is_ending_, true)) {
        return;
    }
    for (auto &[rank, running] : ranks_) {
        end(running);
    }
    if (adopted_) {
        kill_copies_ = steady_clock::now() + grace_period;
        adopted_->look();
        adopted_->end();
    }
}

/* Kills processes that SIGTERM has not ended in time. */
void Launch::kill_overdue()
{
    const auto now = steady_clock::now();

    for (auto &[rank, running] : ranks_) {
        if (running.kill_at && now >= *running.kill_at) {
            running.process.signal(SIGKILL);
            running.kill_at = now + grace_period;
        }
    }
    if (kill_copies_ && now >= *kill_copies_) {
        adopted_->signal(SIGKILL);
        kill_copies_ = now + grace_period;
    }
}

/* ---- The whole ---------------------------------------------------------------------------- */

Launch::Time Launch::next_turn() const
{
    Time next = has_started_ ? steady_clock::now() + std::chrono::hours(1) : start_by_;

    for (const auto &[rank, running] : ranks_) {
        next = std::min(next, running.kill_at.value_or(next));
    }
    return std::min(next, kill_copies_.value_or(next));
}

/* A frozen copy can replace a rank that has failed, until the launch is ended. */
bool Launch::is_over()
{
    if (!has_started_) {
        return ranks_.empty() && (!obstacle_.empty() || exit_code_);
    }
    if (!ranks_.empty() || !connected_.empty()) {
        return false;
    }
    if (!adopted_ || !exit_code_) {
        return true;
    }
    adopted_->look();
    return is_ending_ ? !adopted_->has_living() : !adopted_->has_any();
}

/* Ranks need not call MPI_Init, but they need a world for it. */
void Launch::give_up_late_server()
{
    if (!has_started_ && obstacle_.empty() && steady_clock::now() >= start_by_) {
        obstacle_ = fmt::format("ckpt-world has not started within {} s",
                                std::chrono::duration<double>(options_.start_limit).count());
    }
}

int Launch::run()
{
    while (!is_over()) {
        loop_.turn(next_turn());
        give_up_late_server();
        kill_overdue();
    }
    if (!obstacle_.empty()) {
        fail("{}", obstacle_);
    }
    return exit_code_.value_or(0);
}

} // namespace ckpt::launch
