/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * timed_members.hpp - the members of a job in this process, over loopback, in simulated time. Time
 * passes when all sent datagrams have arrived and have been processed, so a busy machine makes no
 * member silent.
 */
#pragma once

#include "membership/membership_service.hpp"

#include <sched.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace ckpt::test
{

struct Told {
    enum Kind {
        view,
        excluded,
        lost_majority
    };

    membership::MemberId member = 0; /* the reporting member */
    Kind kind = view;
    std::uint64_t number = 0;     /* of the view or of the newer incarnation */
    std::size_t size = 0;         /* of the view */
    std::size_t departed = 0;     /* how many members */
    membership::MemberId who = 0; /* first departed or replaced member */
    membership::Reason reason = membership::Reason::unknown;
    std::chrono::milliseconds when{}; /* since the beginning */
};

class TimedMembers
{
  public:
    using Options = membership::Protocol::Options;
    using Duration = std::chrono::milliseconds;

    /* Normal context, like all functions here. Keeps this thread on one processor while the object
     * lives, so that its loopback datagrams arrive in order. `address`: a loopback address. */
    TimedMembers(std::size_t members, Options options, const char *address);
    ~TimedMembers();
    TimedMembers(const TimedMembers &) = delete;
    TimedMembers &operator=(const TimedMembers &) = delete;

    /* Stops all actions of a member until thaw(); its socket stays. */
    void freeze(membership::MemberId member);
    void thaw(membership::MemberId member);
    /* The member's process is gone, but its node lives. */
    void kill(membership::MemberId member);
    /* After kill(): another process at the same port. */
    void replace(membership::MemberId member);

    Duration now() const;
    /* Returns the next report that fits; discards all reports before it. Lets no more time pass
     * than that takes. */
    std::optional<Told> await(const std::function<bool(const Told &)> &fits,
                              Duration longest = std::chrono::seconds(30));

  private:
    struct Member;

    void start(membership::MemberId member, membership::UdpSocket socket);
    membership::Service::Handlers handlers(membership::MemberId member);
    void await_delivery();
    void settle();
    void pass(Duration duration);

    cpu_set_t processors_; /* this thread's, before */
    Options options_;
    membership::Table table_;
    membership::Alarm::Time began_, now_;
    membership::UdpSocket probe_{0}; /* sends to itself, after all others */
    membership::Endpoint probed_;
    std::vector<std::unique_ptr<Member>> members_;
    std::vector<Told> told_;
    std::size_t read_ = 0; /* how many of told_ */
};

} // namespace ckpt::test
