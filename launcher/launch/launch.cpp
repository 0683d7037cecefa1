/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * launch.cpp - starts ranks, waits for them, and ends all when one fails.
 */
#include "launch/launch.hpp"

#include "common/error.hpp"
#include "common/host.hpp"
#include "common/invariant.hpp"
#include "common/processes.hpp"
#include "supervise/failure.hpp"
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
    return world::merged(world::environment_without_launcher(), additions);
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
      signals_({SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT}),
      server_(loop_, server_command(options_, libraries), world::environment_without_launcher(),
              signals_.mask_before(),
              {[this](const world::Message &message) { received(message); },
               [this](const std::string &why) { server_gone(why); }})
{
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
        break;
    case world::RankEvent::Kind::finalized:
        connected_.erase(event.rank);
        break;
    case world::RankEvent::Kind::aborted: /* MPICH's rank waits for its end */
        rank_failed(event.rank, event.status == 0 ? 1 : event.status & exit_code_mask,
                    fmt::format("has called MPI_Abort with code {}", event.status));
        break;
    case world::RankEvent::Kind::lost:
        connected_.erase(event.rank);
        lost_.insert(event.rank);
        look_whether_finalized(event.rank);
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
    start.mask = signals_.mask_before();
    start.input = rank == 0 ? STDIN_FILENO : -1;
    const Fd endpoint = std::move(endpoints_[rank]);
    if (endpoint) {
        start.endpoint = endpoint.get();
        start.environment.push_back(fmt::format("PMI_FD={}", endpoint.get()));
    }
    const auto [place, is_new] = ranks_.emplace(rank, ChildProcess(start));
    CKPT_INVARIANT(is_new);
    if (!server_.send(world::Process{world_name(), rank, place->second.pid()})) {
        fail("ckpt-world has ended");
    }
    loop_.watch(place->second.descriptor(), EPOLLIN,
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
    const int descriptor = found->second.descriptor();
    const auto status = found->second.take_status();
    if (!status) {
        return; /* a stopped process is not an ended one */
    }
    loop_.forget(descriptor);
    const pid_t pid = found->second.pid();
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

/* Of several failures only the first counts: others may follow from it. */
void Launch::rank_failed(int rank, int code, const std::string &how)
{
    CKPT_EXPECT(code != 0);
    if (exit_code_) {
        return;
    }
    exit_code_ = code;
    fmt::print(stderr, "ckpt: rank {} {}{}\n", rank, how,
               ranks_.empty() ? "" : "; the other ranks are ended");
    end_all();
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
        default:
            signal_all(number);
            break;
        }
    }
}

void Launch::signal_all(int number)
{
    for (const auto &[rank, process] : ranks_) {
        process.signal(number);
    }
}

void Launch::end_all()
{
    if (!kill_at_) {
        kill_at_ = steady_clock::now() + grace_period;
        signal_all(SIGTERM);
        signal_all(SIGCONT); /* a stopped process takes SIGTERM only then */
    }
}

/* ---- The whole ---------------------------------------------------------------------------- */

Launch::Time Launch::next_turn() const
{
    const Time later = steady_clock::now() + std::chrono::hours(1);

    return kill_at_ && !ranks_.empty() ? std::min(*kill_at_, later) : later;
}

int Launch::run()
{
    while (!ranks_.empty() || (!has_started_ && obstacle_.empty() && !exit_code_) ||
           !connected_.empty()) {
        loop_.turn(next_turn());
        if (kill_at_ && steady_clock::now() >= *kill_at_) {
            signal_all(SIGKILL);
            kill_at_ = steady_clock::now() + grace_period;
        }
    }
    if (!obstacle_.empty()) {
        fail("{}", obstacle_);
    }
    return exit_code_.value_or(0);
}

} // namespace ckpt::launch
