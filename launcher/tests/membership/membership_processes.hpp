/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * membership_processes.hpp - the members of a job as processes of this machine, over loopback; they
 * report their views to this process.
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
    enum Kind : std::uint32_t {
        view,
        excluded,
        lost_majority,
        link
    };

    std::uint32_t member = 0; /* the reporting member */
    Kind kind = view;
    std::uint64_t number = 0;     /* of the view or of the newer incarnation */
    std::uint32_t size = 0;       /* of the view */
    std::uint32_t departed = 0;   /* how many members */
    membership::MemberId who = 0; /* first departed or replaced member */
    membership::Reason reason = membership::Reason::unknown;
    std::int64_t when = 0; /* CLOCK_MONOTONIC, nanoseconds */
};

class MemberProcesses
{
  public:
    using Options = membership::Protocol::Options;

    /* Normal context, like all functions here. `address`: a loopback address. */
    MemberProcesses(std::size_t members, Options options, const char *address = "::1");
    ~MemberProcesses(); /* ends the members */

    void signal(membership::MemberId member, int number);
    /* Kills the member's process and waits until it is gone. */
    void kill(membership::MemberId member);
    /* After kill(): starts another process at the same port. */
    void replace(membership::MemberId member);

    /* Returns the next report of any member; nothing if none comes within that time. */
    std::optional<MemberEvent> next(std::chrono::milliseconds longest);
    /* Returns the next report that fits; discards all reports before it. */
    std::optional<MemberEvent>
    await(const std::function<bool(const MemberEvent &)> &fits,
          std::chrono::milliseconds longest = std::chrono::seconds(30));
    /* Waits until all living members have reported this view or a later one. */
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

/* Nanoseconds since a fixed time in the past, the same in all processes. */
std::int64_t monotonic_now();

} // namespace ckpt::test
