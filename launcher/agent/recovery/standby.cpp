/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * standby.cpp - one `ckpt-restart --thaw --stand` for each copy.
 */
#include "agent/recovery/standby.hpp"

#include "common/error.hpp"
#include "common/fault_injection.hpp"
#include "common/invariant.hpp"
#include "common/sockets/descriptor_passing.hpp"
#include "image/memory/copy_packet.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>
#include <utility>

#include <sys/epoll.h>
#include <sys/socket.h>

namespace ckpt
{

namespace
{

/* From the order to stand to the last answer. MPI_Init has no time limit. A recovery waits
 * for copies that are on the way. */
constexpr auto longest_stand = std::chrono::seconds(10);

} // namespace

Standby::Standby(EventLoop &loop, WorldService &worlds, Hooks hooks)
    : loop_(loop), worlds_(worlds), hooks_(std::move(hooks)), timer_(loop, [this] {
          trouble_ = "the copies do not come to stand";
          is_late_ = true;
      })
{
}

Standby::~Standby()
{
    for (const auto &[rank, copy] : copies_) {
        copy.thawing->kill();
        if (copy.control) {
            loop_.forget(copy.control.get());
        }
    }
}

void Standby::begin(KeptCopies::ByRank copies, std::uint64_t number, const std::string &name)
{
    CKPT_EXPECT(copies_.empty() && !is_ending());
    NextWorld world = worlds_.take();
    number_ = number;
    world_ = world.name;
    trouble_.clear();
    owner_ = std::make_shared<Owner>();
    owner_->failed = [this](const std::string &why) {
        trouble_ = trouble_.empty() ? why : trouble_;
    };
    try {
        for (const auto &[rank, copy] : copies) {
            start(rank, copy, name, std::move(world.environments.at(rank)));
        }
        timer_.start(fault_strikes("standby-late") ? std::chrono::seconds(0) : longest_stand);
    } catch (const std::exception &problem) {
        trouble_ = problem.what();
    }
}

void Standby::start(int rank, const KeptCopy &copy, const std::string &name,
                    std::vector<std::string> environment)
{
    auto [own, theirs] = connected_pair(
        SOCK_SEQPACKET, fmt::format("no connection to the copy of rank {}", rank));
    const Streams none;
    Thawing::Order order{rank, copy, name, std::move(environment), none, std::move(theirs), true};
    Copy started;
    started.thawing = std::make_unique<Thawing>(
        loop_, std::move(order),
        Thawing::Hooks{[owner = owner_](const std::string &why) { owner->failed(why); }});
    worlds_.process_of(world_, rank, started.thawing->pid());
    loop_.watch(own.get(), EPOLLIN, [this, rank](std::uint32_t) { said(rank); });
    started.control = std::move(own);
    copies_.emplace(rank, std::move(started));
}

void Standby::said(int rank)
{
    Copy &copy = copies_.at(rank);
    std::string why = fmt::format("ckpt-restart for rank {} has ended", rank);

    try {
        const auto packet = receive_copy_packet(copy.control.get());
        if (packet && packet->order.type == CKPT_COPY_STANDING && !copy.stands) {
            copy.stands = true;
            hooks_.stands(copy.thawing->pid());
            why.clear();
        } else if (packet) {
            why = fmt::format("rank {}: {}", rank, packet->text);
        }
    } catch (const std::exception &problem) {
        why = problem.what();
    }
    if (!why.empty()) {
        loop_.forget(copy.control.get());
        copy.control.reset();
        trouble_ = trouble_.empty() ? why : trouble_;
    } else if (all_stand()) {
        timer_.stop();
        spdlog::info("copies of all ranks stand by in world {}", world_);
    }
}

bool Standby::all_stand() const
{
    return !copies_.empty() && std::ranges::all_of(copies_, [](const auto &entry) {
        return entry.second.stands;
    });
}

std::uint64_t Standby::number() const
{
    return all_stand() && trouble_.empty() ? number_ : 0;
}

Standby::Standing Standby::take(Failed failed)
{
    Standing standing;

    CKPT_EXPECT(number() != 0);
    owner_->failed = std::move(failed);
    standing.world = std::exchange(world_, {});
    for (auto &[rank, copy] : copies_) {
        loop_.forget(copy.control.get());
        standing.copies.emplace(rank, std::move(copy.thawing));
        standing.controls.emplace(rank, std::move(copy.control));
    }
    copies_.clear();
    return standing;
}

void Standby::end()
{
    if (copies_.empty()) {
        return;
    }
    Ending ending{std::exchange(world_, {}), {}};
    timer_.stop();
    owner_->failed = [](const std::string &) {};
    for (auto &[rank, copy] : copies_) {
        copy.thawing->kill();
        if (copy.control) {
            loop_.forget(copy.control.get());
        }
        ending.copies.push_back(std::move(copy.thawing));
    }
    copies_.clear();
    ending_.push_back(std::move(ending));
}

void Standby::look()
{
    if (!trouble_.empty()) {
        spdlog::warn("no copies stand by: {}", trouble_);
        trouble_.clear();
        end();
        if (std::exchange(is_late_, false)) {
            hooks_.late();
        }
    }
    std::erase_if(ending_, [this](const Ending &ending) {
        const bool is_over = std::ranges::none_of(
            ending.copies, [](const auto &thawing) { return thawing->is_alive(); });
        if (is_over) {
            worlds_.forget(ending.world);
        }
        return is_over;
    });
}

std::string Standby::go(const Fd &control, const Fd &connection, const Streams &streams)
{
    ckpt_copy_order order{};
    std::vector<int> descriptors = {connection.get()};

    order.type = CKPT_COPY_GO;
    for (std::size_t i = 0; i < streams.size(); i++) {
        if (streams[i]) {
            order.value |= std::uint64_t{1} << i;
            descriptors.push_back(streams[i].get());
        }
    }
    const int error = send_copy_packet(control.get(), order, {}, descriptors);
    return error == 0 ? std::string()
                      : fmt::format("a copy cannot be told to go on: {}", std::strerror(error));
}

} // namespace ckpt
