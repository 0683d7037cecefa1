/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * protector.cpp - which ranks are saved behind write protection.
 */
#include "agent/ranks/protector.hpp"

#include "common/error.hpp"
#include "common/invariant.hpp"
#include "image/memory/page_watch.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace ckpt
{

namespace
{

/* A program that fails only at its start must not lose protection for long. */
constexpr unsigned longest_pause = 64;

std::string refusal(int error)
{
    return fmt::format("it has no userfaultfd ({}{})", std::strerror(error),
                       error == EPERM ? ": vm.unprivileged_userfaultfd is not set" : "");
}

} // namespace

Protector::Protector(bool is_wanted, std::size_t pool_bytes, std::size_t granule)
{
    if (is_wanted) {
        pool_.emplace(pool_bytes, granule);
    }
}

void Protector::add(int rank, pid_t pid, Fd descriptor, int error)
{
    CKPT_EXPECT(pool_);
    protections_.erase(rank);
    if (error != 0) {
        tell(rank, refusal(error));
        return;
    }
    try {
        if (std::string why_not = PageWatch::obstacle(pid); !why_not.empty()) {
            fail("{}", why_not);
        }
        protections_[rank] =
            std::make_shared<WriteProtection>(pid, std::move(descriptor));
    } catch (const Error &problem) {
        tell(rank, problem.what());
    }
}

std::shared_ptr<WriteProtection> Protector::take(int rank)
{
    auto found = protections_.extract(rank);
    return found ? std::move(found.mapped()) : nullptr;
}

/* Logs the obstacle once for each rank: it does not go away. */
void Protector::tell(int rank, const std::string &obstacle)
{
    spdlog::warn("rank {} is saved with cow instead of cll: {}", rank, obstacle);
    refused_.insert(rank);
}

void Protector::pause(const std::string &reason)
{
    pause_ = next_pause_;
    next_pause_ = std::min(2 * next_pause_, longest_pause);
    CKPT_INVARIANT(next_pause_ >= 1 && next_pause_ <= longest_pause);
    spdlog::warn("cow instead of cll for {} checkpoints: {}", pause_, reason);
}

void Protector::pause_too(const std::string &reason)
{
    if (pool_ && pause_ == 0) {
        pause(reason);
    }
}

void Protector::committed()
{
    pause_ -= pause_ > 0;
}

void Protector::forget(int rank)
{
    protections_.erase(rank);
    refused_.erase(rank);
}

} // namespace ckpt
