/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * world_service.cpp - the agent's end of the socket to its ckpt-world.
 */
#include "agent/recovery/world_service.hpp"

#include "agent/control/control.hpp"
#include "agent/recovery/programs.hpp"
#include "common/error.hpp"
#include "common/invariant.hpp"
#include "common/sockets/descriptor_passing.hpp"
#include "world/rank_environment.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
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
    auto [own, theirs] = connected_pair(SOCK_STREAM, "cannot make a socket for ckpt-world");
    if (process_ && process_->descriptor() >= 0) { /* of a server that has closed its socket */
        loop_.forget(process_->descriptor());
    }
    directory_ = world::make_temporary_directory();
    process_.emplace(
        std::vector<std::string>{own_program("ckpt-world"), "--host", settings_.host,
                                 "--directory", directory_, "--remove-directory",
                                 "--end-lone-ranks", "--pmix", library},
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

void WorldService::prepare(const std::vector<world::WorldNode> &nodes, const std::string &library)
{
    names_worlds_ = !nodes.empty();
    if (next_ || (channel_ && channel_->is_open())) {
        return; /* registered, or about to be */
    }
    if (names_worlds_) {
        nodes_ = nodes;
        name_next();
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

void WorldService::prepare_as(const std::string &name, const std::vector<world::WorldNode> &nodes)
{
    if (std::ranges::find(nodes, settings_.host, &world::WorldNode::host) == nodes.end()) {
        fail("world {} does not have the node {}", name, settings_.host);
    }
    nodes_ = nodes;
    wanted_ = name;
    if (next_) {
        forget(std::exchange(next_, std::nullopt)->name);
    }
    if (has_started_) {
        register_next();
    }
}

void WorldService::gone(const std::string &why)
{
    is_coming_ = false;
    forgetting_ = 0;
    has_started_ = false;
    trouble_ = fmt::format("ckpt-world has ended{}{}", why.empty() ? "" : ": ", why);
    spdlog::warn("{}", trouble_);
    next_.reset();
    for (const std::string &name : std::exchange(former_, {})) {
        hooks_.forgets(name);
    }
    hooks_.gone();
}

bool WorldService::send(const world::Message &message)
{
    return channel_ && channel_->is_open() && channel_->send(message);
}

/* ---- Worlds ---------------------------------------------------------------------- */

void WorldService::name_next()
{
    wanted_ = fmt::format("ckpt-{}.{}.{}", control::namespace_hash(settings_.launch_namespace),
                          getpid(), ++count_);
}

/* Of nodes_. */
std::size_t WorldService::own_node() const
{
    const auto own = std::ranges::find(nodes_, settings_.host, &world::WorldNode::host);

    CKPT_EXPECT(own != nodes_.end());
    return static_cast<std::size_t>(own - nodes_.begin());
}

void WorldService::register_next()
{
    if (wanted_.empty()) {
        is_coming_ = false;
        trouble_ = "the coordinator has named no world";
        return;
    }
    const world::World world{
        wanted_, nodes_, own_node(),
        directory_ / std::to_string(++directories_)}; /* libpmix cannot share one */
    trouble_ = "the next world is being registered";
    is_coming_ = false;
    std::error_code error;
    std::filesystem::create_directory(world.directory, error);
    if (error) {
        trouble_ = fmt::format("cannot make {}: {}", world.directory.string(), error.message());
        spdlog::warn("no recovery in place: {}", trouble_);
        return;
    }
    if (names_worlds_) {
        hooks_.registers(world);
    }
    is_coming_ = send(world::Register{world, false}); /* gone() tells of its end */
}

void WorldService::received(const world::Message &message)
{
    if (std::holds_alternative<world::Started>(message)) {
        has_started_ = true;
        register_next();
    } else if (const auto *answer = std::get_if<world::Registered>(&message)) {
        if (answer->name != wanted_) {
            forget(answer->name); /* another one was named meanwhile */
            return;
        }
        CKPT_INVARIANT(!next_ &&
                       answer->environments.size() == nodes_.at(own_node()).ranks.size());
        is_coming_ = false;
        next_.emplace(NextWorld{answer->name, {}, answer->environments});
        for (const auto &[rank, variables] : answer->environments) {
            next_->environments[rank] =
                world::merged(world::environment_without_launcher(), variables);
        }
        spdlog::info("world {} is registered", answer->name);
    } else if (std::holds_alternative<world::Forgotten>(message)) {
        CKPT_INVARIANT(forgetting_ > 0);
        forgetting_--;
    } else if (const auto *refusal = std::get_if<world::Refused>(&message)) {
        is_coming_ = false;
        trouble_ = refusal->why;
        spdlog::warn("ckpt-world: {}", trouble_);
    } else if (const auto *part = std::get_if<world::FencePart>(&message)) {
        hooks_.fence(*part);
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

NextWorld WorldService::take()
{
    CKPT_EXPECT(next_);
    NextWorld world = *std::exchange(next_, std::nullopt);

    wanted_.clear();
    if (names_worlds_) {
        name_next();
    }
    register_next();
    return world;
}

NextWorld WorldService::enter()
{
    if (!next_) {
        fail("{}", trouble_);
    }
    NextWorld world = take();

    entered(world.name);
    return world;
}

void WorldService::process_of(const std::string &world, int rank, pid_t process)
{
    CKPT_EXPECT(rank >= 0);
    (void)send(world::Process{world, rank, process});
}

void WorldService::entered(const std::string &world)
{
    former_.push_back(world);
}

void WorldService::forget(const std::string &world)
{
    forgetting_ += send(world::Forget{world}) ? 1 : 0;
    hooks_.forgets(world);
}

void WorldService::forget_former()
{
    while (former_.size() > 1) {
        forget(former_.front());
        former_.erase(former_.begin());
    }
}

} // namespace ckpt
