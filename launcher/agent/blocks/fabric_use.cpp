/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fabric_use.cpp - opens endpoints, and logs the result once.
 */
#include "agent/blocks/fabric_use.hpp"

#include <spdlog/spdlog.h>

#include <utility>

namespace ckpt
{

std::unique_ptr<fabric::Endpoint> FabricUse::open(const std::string &host,
                                                  const std::string &local)
{
    const std::lock_guard lock(mutex_);

    if (choice_.is_off() || !is_there_ || given_up_.contains(host)) {
        return nullptr;
    }
    try {
        auto endpoint = std::make_unique<fabric::Endpoint>(choice_, local);
        provider_ = endpoint->provider();
        return endpoint;
    } catch (const fabric::Failure &failure) {
        is_there_ = false;
        const bool is_usual = choice_.is_auto() && failure.code() == ENODEV;
        spdlog::log(is_usual ? spdlog::level::debug : spdlog::level::warn,
                    "checkpoints of other nodes are read over TCP: {}", failure.what());
        return nullptr;
    }
}

void FabricUse::give_up(const std::string &host, const std::string &why)
{
    const std::lock_guard lock(mutex_);

    if (given_up_.insert(host).second) {
        spdlog::warn("checkpoints of {} are read over TCP: {}", host, why);
    }
}

void FabricUse::tell_use()
{
    const std::lock_guard lock(mutex_);

    if (!std::exchange(is_told_, true)) {
        spdlog::info("checkpoints of other nodes are read over the fabric ({})", provider_);
    }
}

} // namespace ckpt
