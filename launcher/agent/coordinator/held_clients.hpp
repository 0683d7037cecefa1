/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * held_clients.hpp - clients that wait because ranks refuse to be saved at present. It tells
 * clients why they wait, and ranks at which safe point to wait (docs/user-defined.md). Part of the
 * coordinator.
 */
#pragma once

#include "agent/control/control.hpp"
#include "agent/coordinator/checkpoint_request.hpp"
#include "protocol/cut/rank_pages.hpp"
#include "protocol/held_request.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

namespace ckpt
{

/* Context, for all functions: the thread of the event loop. */
class HeldClients
{
  public:
    using Time = HeldRequest::Time;
    using Requests = std::vector<CheckpointRequest>;
    struct Hooks {
        /* Gives a client a reply. */
        std::function<void(const CheckpointRequest &client, const control::Reply &reply)> answer;
        /* Tells all ranks the number of the safe point at which to wait, or CKPT_HELD_OVER. A rank
         * that could be saved may wait there for the others. */
        std::function<void(std::uint64_t number)> safe_point;
    };

    /* longest: a request does not wait longer than this. */
    HeldClients(int rank_count, std::chrono::nanoseconds longest, Hooks hooks);

    /* Whether clients wait because ranks refuse. */
    bool is_holding() const { return !clients_.empty(); }

    /* An attempt begins: no rank has refused yet. */
    void attempt_begins() { request_.begin(); }
    /* Whether a rank has refused the latest attempt for now. */
    bool is_refused() const { return request_.any(); }
    /* The attempt, which ranks have refused, is over: its clients wait from now on. Without
     * clients nothing waits, and end() has to follow. */
    void hold(Requests clients, Time now);
    /* Another client waits as well. Requires is_holding(). */
    void add(const CheckpointRequest &client);
    /* The client has gone. Returns true if it waited and no other client does; then end() has to
     * follow. */
    bool withdraw(ClientId client);
    /* The clients wait no more: returns them. */
    Requests take();
    /* The request is over, with any result: no rank waits at a safe point for it any more. */
    void end();

    /* A message of a rank. epoch: of the latest attempt. Returns whether the message concerns only
     * this request, and not the cut. */
    bool rank_said(int rank, const ckpt_message &message, std::uint64_t epoch);
    void rank_exited(int rank) { request_.exited(rank); }
    /* Lets waiting ranks go on to another safe point if a rank that refuses stays inside a
     * collective. */
    void look(const RankPages &pages, Time now);

    /* Time of the next attempt; Time::max() while a rank refuses. */
    Time due() const { return request_.due(); }
    /* Why the clients have waited too long; else nothing. */
    Refusal overdue(Time now) const;
    /* Why the clients wait. */
    Refusal reason() const { return request_.reason(); }

  private:
    void tell() const;

    const int rank_count_;
    const std::chrono::nanoseconds longest_;
    const Hooks hooks_;
    HeldRequest request_; /* of the latest attempt */
    Requests clients_;
    Time since_{}; /* since when the present request waits; Time(): it has not waited */
};

} // namespace ckpt
