/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * timed_members.hpp - the members of a job in this process, over loopback, in a time of
 * their own: it passes when all that was sent has come and been seen to, so a busy
 * machine makes nobody silent.
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
    enum Kind { view, excluded, lost_majority };

    membership::MemberId member = 0; /* who tells it */
    Kind kind = view;
    std::uint64_t number = 0;     /* of the view or the newer incarnation */
    std::size_t size = 0;         /* of the view */
    std::size_t departed = 0;     /* how many */
    membership::MemberId who = 0; /* departed or replaced first */
    membership::Reason reason = membership::Reason::unknown;
    std::chrono::milliseconds when{}; /* since the beginning */
};

class TimedMembers
{
  public:
    using Options = membership::Protocol::Options;
    using Duration = std::chrono::milliseconds;

    /* Normal context, like all here. Keeps this thread on one processor, until it dies:
     * what that sends over loopback arrives in order. `address`: of loopback. */
    TimedMembers(std::size_t members, Options options, const char *address);
    ~TimedMembers();
    TimedMembers(const TimedMembers &) = delete;
    TimedMembers &operator=(const TimedMembers &) = delete;

    /* Nothing of a member runs until thaw(); its socket stays. */
    void freeze(membership::MemberId member);
    void thaw(membership::MemberId member);
    /* Nothing is left of its process, but its node lives. */
    void kill(membership::MemberId member);
    /* After kill(): another process, at the same port. */
    void replace(membership::MemberId member);

    Duration now() const;
    /* The next that a member tells and that fits; all before it are thrown away. Lets
     * time pass for it, but no more than that. */
    std::optional<Told> await(const std::function<bool(const Told &)> &fits,
                              Duration longest = std::chrono::seconds(30));

  private:
    struct Member;

    void start(membership::MemberId member, membership::UdpSocket socket);
    membership::Service::Handlers handlers(membership::MemberId member);
    void await_delivery();
    void settle();
    void pass(Duration duration);

    cpu_set_t processors_; /* that this thread had */
    Options options_;
    membership::Table table_;
    membership::Alarm::Time began_, now_;
    membership::UdpSocket probe_{0}; /* sends to itself, behind all others */
    membership::Endpoint probed_;
    std::vector<std::unique_ptr<Member>> members_;
    std::vector<Told> told_;
    std::size_t read_ = 0; /* of these */
};

} // namespace ckpt::test
