/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * unopened_requests.hpp - requests that wait until the job's directories are open. No I/O. Part of
 * the coordinator.
 */
#pragma once

#include "agent/coordinator/checkpoint_request.hpp"
#include "protocol/protocol.hpp"

#include <chrono>
#include <deque>
#include <optional>
#include <vector>

namespace ckpt
{

/* Context, for all functions: normal. */
class UnopenedRequests
{
  public:
    using Time = std::chrono::steady_clock::time_point;
    using Clients = std::vector<CheckpointRequest>;

    /* One checkpoint for some clients. */
    struct Request {
        Clients clients;
        Protocol protocol;
    };

    /* longest: a request does not wait longer than this. */
    explicit UnopenedRequests(std::chrono::nanoseconds longest)
        : longest_(longest) {}

    bool empty() const { return waiting_.empty(); }
    /* A request begins to wait. It has at least one client. */
    void add(Request request, Time now);
    /* The client has gone. A request without clients is dropped. */
    void withdraw(ClientId client);
    /* Returns all clients, in the order of their requests. */
    Clients clients() const;

    /* Removes all requests. Returns one for the clients of all, with the protocol of the first;
     * nothing if none waits. */
    std::optional<Request> take();
    /* Removes the first request if it must not wait any longer at `now`, and returns its
     * clients. */
    std::optional<Clients> take_overdue(Time now);
    /* When the first request must not wait any longer; Time::max() if none waits. */
    Time overdue_at() const { return empty() ? Time::max() : waiting_.front().until; }

  private:
    struct Waiting {
        Request request;
        Time until;
    };

    const std::chrono::nanoseconds longest_;
    std::deque<Waiting> waiting_; /* `until` increases */
};

} // namespace ckpt
