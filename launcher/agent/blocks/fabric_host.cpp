/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fabric_host.cpp - an endpoint in an event loop.
 */
#include "config.h"
#include "agent/blocks/fabric_host.hpp"

#include "common/fault_injection.hpp"

#include <spdlog/spdlog.h>

#include <sys/epoll.h>

namespace ckpt::redundancy
{

FabricHost::~FabricHost()
{
    loop_.forget(descriptor_);
}

std::unique_ptr<fabric::Endpoint::Loan> FabricHost::lend(std::span<const std::byte> memory,
                                                         const std::string &provider,
                                                         const std::string &local)
{
    if (choice_.is_off()) {
        throw fabric::Failure("fabrics are off on that node");
    }
    if (failure_) {
        throw fabric::Failure(*failure_);
    }
    if (!endpoint_) {
        open(local);
    }
    if (endpoint_->provider() != provider) {
        throw fabric::Failure(
            fmt::format("that node has {}, not {}", endpoint_->provider(), provider));
    }
    if (fault_strikes("fabric-still")) {
        is_still_ = true;
        loop_.forget(descriptor_);
    }
    return endpoint_->lend(memory);
}

void FabricHost::open(const std::string &local)
try {
    endpoint_ = std::make_unique<fabric::Endpoint>(choice_, local);
    descriptor_ = endpoint_->descriptor();
    if (descriptor_ >= 0) {
        /* run() calls drive() at each turn of the loop */
        loop_.watch(descriptor_, EPOLLIN, [](std::uint32_t) {});
    }
} catch (const fabric::Failure &failure) {
    failure_ = failure.what();
    throw;
}

/* Stops to serve the endpoint; readers run into their time limit. The endpoint stays open, as
 * the loans need it. */
void FabricHost::end(const std::string &why)
{
    spdlog::warn("nothing is lent to other nodes over the fabric any more: {}", why);
    failure_ = why;
    loop_.forget(descriptor_);
}

bool FabricHost::drive(bool is_lent)
{
    if (!endpoint_ || failure_ || is_still_) {
        return true;
    }
    try {
        endpoint_->progress();
        return descriptor_ >= 0 ? endpoint_->may_wait() : !is_lent;
    } catch (const fabric::Failure &failure) {
        end(failure.what());
        return true;
    }
}

} // namespace ckpt::redundancy
