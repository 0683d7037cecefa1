/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * world_service.cpp - the agent's end of the socket to its ckpt-world.
 */
#include "agent/recovery/world_service.hpp"

#include "agent/control/control.hpp"
#include "agent/recovery/programs.hpp"
#include "common/error.hpp"
#include "common/invariant.hpp"
#include "world/rank_environment.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <numeric>
#include <system_error>
#include <utility>

namespace ckpt
{

WorldService::WorldService(EventLoop &loop, const Settings &settings, Hooks hooks)
    : loop_(loop), settings_(settings), hooks_(std::move(hooks))
{
}

WorldService::~WorldService()
{
    if (process_ && process_->descriptor() >= 0) {
        loop_.forget(process_->descriptor());
    }
}

/* ---- The server ----------------------------------------------------------------- */

void WorldService::start(const std::string &library)
{
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        fail_errno(errno, "cannot make a socket for ckpt-world");
    }
    Fd own(ends[0]);
    const Fd theirs(ends[1]);
    if (process_ && process_->descriptor() >= 0) { /* of a server that has closed its socket */
        loop_.forget(process_->descriptor());
    }
    directory_ = world::make_temporary_directory();
    process_.emplace(
        std::vector<std::string>{own_program("ckpt-world"), "--host", settings_.host,
                                 "--directory", directory_, "--remove-directory", "--pmix",
                                 library},
        world::environment_without_launcher(), std::vector<int>{theirs.get()});
    channel_.emplace(
        loop_, std::move(own), [this](const world::Message &message) { received(message); },
        [this](const std::string &why) { gone(why); });
    loop_.watch(process_->descriptor(), EPOLLIN, [this](std::uint32_t) {
        const int descriptor = process_->descriptor();
        if (process_->take_status()) {
            loop_.forget(descriptor);
        }
    });
}

void WorldService::prepare(int rank_count, const std::string &library)
{
    CKPT_EXPECT(rank_count > 0);
    rank_count_ = rank_count;
    if (next_ || (channel_ && channel_->is_open())) {
        return; /* registered, or about to be */
    }
    try {
        trouble_ = "ckpt-world is starting";
        start(library);
        is_coming_ = true;
    } catch (const std::exception &problem) {
        trouble_ = problem.what();
        spdlog::warn("no recovery in place: {}", trouble_);
    }
}

void WorldService::gone(const std::string &why)
{
    is_coming_ = false;
    trouble_ = fmt::format("ckpt-world has ended{}{}", why.empty() ? "" : ": ", why);
    spdlog::warn("{}", trouble_);
    next_.reset();
    former_.clear();
}

bool WorldService::send(const world::Message &message)
{
    return channel_ && channel_->is_open() && channel_->send(message);
}

/* ---- Worlds ---------------------------------------------------------------------- */

void WorldService::register_next()
{
    world::World world;

    count_++;
    world.name = fmt::format("ckpt-{}.{}.{}", control::namespace_hash(settings_.launch_namespace),
                             getpid(), count_);
    world.directory = directory_ / std::to_string(count_); /* libpmix cannot share one */
    world.nodes.resize(1);
    world.nodes.front().host = settings_.host;
    world.nodes.front().ranks.resize(rank_count_);
    std::iota(world.nodes.front().ranks.begin(), world.nodes.front().ranks.end(), 0);
    trouble_ = "the next world is being registered";
    is_coming_ = false;
    std::error_code error;
    std::filesystem::create_directory(world.directory, error);
    if (error) {
        trouble_ = fmt::format("cannot make {}: {}", world.directory.string(), error.message());
        spdlog::warn("no recovery in place: {}", trouble_);
        return;
    }
    is_coming_ = send(world::Register{world, false}); /* gone() tells of its end */
}

void WorldService::received(const world::Message &message)
{
    if (std::holds_alternative<world::Started>(message)) {
        register_next();
    } else if (const auto *answer = std::get_if<world::Registered>(&message)) {
        CKPT_INVARIANT(!next_ && std::ssize(answer->environments) == rank_count_);
        is_coming_ = false;
        next_.emplace(NextWorld{answer->name, {}});
        for (const auto &[rank, variables] : answer->environments) {
            next_->environments[rank] =
                world::merged(world::environment_without_launcher(), variables);
        }
        spdlog::info("world {} is registered", answer->name);
    } else if (const auto *refusal = std::get_if<world::Refused>(&message)) {
        is_coming_ = false;
        trouble_ = refusal->why;
        spdlog::warn("ckpt-world: {}", trouble_);
    } else if (const auto *event = std::get_if<world::RankEvent>(&message)) {
        if (event->kind == world::RankEvent::Kind::aborted && !former_.empty() &&
            event->name == former_.back()) {
            hooks_.aborted(event->rank, event->status);
        }
    }
}

std::string WorldService::obstacle() const
{
    return next_ ? std::string() : trouble_;
}

NextWorld WorldService::enter()
{
    CKPT_EXPECT(next_);
    NextWorld world = *std::exchange(next_, std::nullopt);

    former_.push_back(world.name);
    register_next();
    return world;
}

void WorldService::process_of(int rank, pid_t process)
{
    CKPT_EXPECT(!former_.empty() && rank >= 0 && rank < rank_count_);
    (void)send(world::Process{former_.back(), rank, process});
}

void WorldService::forget_former()
{
    while (former_.size() > 1) {
        (void)send(world::Forget{former_.front()});
        former_.erase(former_.begin());
    }
}

} // namespace ckpt
