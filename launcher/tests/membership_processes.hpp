/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * membership_processes.hpp - the members of a job as processes of this machine, over
 * loopback, that tell this one what they see.
 */
#pragma once

#include "common/fd.hpp"
#include "membership/membership_service.hpp"

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace ckpt::test
{

struct MemberEvent {
    enum Kind : std::uint32_t { view, excluded, lost_majority, link };

    std::uint32_t member = 0; /* who tells it */
    Kind kind = view;
    std::uint64_t number = 0;     /* of the view or the newer incarnation */
    std::uint32_t size = 0;       /* of the view */
    std::uint32_t departed = 0;   /* how many */
    membership::MemberId who = 0; /* departed or replaced first */
    membership::Reason reason = membership::Reason::unknown;
    std::int64_t when = 0; /* CLOCK_MONOTONIC, nanoseconds */
};

class MemberProcesses
{
  public:
    using Options = membership::Protocol::Options;

    /* Normal context, like all here. `address`: of loopback. */
    MemberProcesses(std::size_t members, Options options, const char *address = "::1");
    ~MemberProcesses(); /* ends them */

    void signal(membership::MemberId member, int number);
    /* Ends its process at once and waits until it has gone. */
    void kill(membership::MemberId member);
    /* After kill(): another process, at the same port. */
    void replace(membership::MemberId member);

    /* What a member tells next; nothing if none does within that time. */
    std::optional<MemberEvent> next(std::chrono::milliseconds longest);
    /* The next that fits; all others before it are thrown away. */
    std::optional<MemberEvent>
    await(const std::function<bool(const MemberEvent &)> &fits,
          std::chrono::milliseconds longest = std::chrono::seconds(30));
    /* All members that live have told of their first view. */
    bool await_all(std::uint64_t view);

    std::size_t size() const { return pids_.size(); }
    const membership::Table &table() const { return table_; }

  private:
    void start(membership::MemberId member);

    Options options_;
    membership::Table table_;
    std::vector<std::optional<membership::UdpSocket>> sockets_;
    std::vector<membership::Life> lives_;
    std::vector<pid_t> pids_;
    Fd events_, events_end_;
};

/* Nanoseconds since some time in the past, the same one in all processes. */
std::int64_t monotonic_now();

} // namespace ckpt::test
