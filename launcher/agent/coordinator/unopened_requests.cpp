/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * unopened_requests.cpp - requests that wait until the job's directories are open.
 */
#include "agent/coordinator/unopened_requests.hpp"

#include "common/invariant.hpp"

#include <utility>

namespace ckpt
{

void UnopenedRequests::add(Request request, Time now)
{
    CKPT_EXPECT(!request.clients.empty());
    waiting_.push_back({std::move(request), now + longest_});
}

void UnopenedRequests::withdraw(ClientId client)
{
    for (Waiting &waiting : waiting_) {
        std::erase_if(waiting.request.clients,
                      [client](const CheckpointRequest &one) { return one.client == client; });
    }
    std::erase_if(waiting_,
                  [](const Waiting &waiting) { return waiting.request.clients.empty(); });
}

UnopenedRequests::Clients UnopenedRequests::clients() const
{
    Clients all;

    for (const Waiting &waiting : waiting_) {
        const Clients &some = waiting.request.clients;
        all.insert(all.end(), some.begin(), some.end());
    }
    return all;
}

std::optional<UnopenedRequests::Request> UnopenedRequests::take()
{
    if (empty()) {
        return {};
    }
    Request all{clients(), waiting_.front().request.protocol};
    waiting_.clear();
    return all;
}

std::optional<UnopenedRequests::Clients> UnopenedRequests::take_overdue(Time now)
{
    if (empty() || now < overdue_at()) {
        return {};
    }
    Clients clients = std::move(waiting_.front().request.clients);
    waiting_.pop_front();
    return clients;
}

} // namespace ckpt
