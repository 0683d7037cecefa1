/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ring_watch.hpp - which members are alive, as far as one member can tell. It watches both its
 * neighbours in the ring, so that each member has a watcher and a witness. The two ask each other
 * before one of them accuses (docs/membership.md, section 3).
 */
#pragma once

#include "membership/actions.hpp"
#include "membership/view.hpp"

#include <chrono>
#include <map>
#include <optional>
#include <vector>

namespace ckpt::membership
{

class RingWatch
{
  public:
    using Time = std::chrono::steady_clock::time_point;
    using Duration = std::chrono::steady_clock::duration;

    struct Options {
        Duration heartbeat;   /* H */
        Duration replacement; /* how long a node may be without a process of the job */
        Duration start;       /* how much later than others a member may start */
    };

    /* Normal context, like all functions here. All times are from the same clock, which never
     * decreases. */
    RingWatch(MemberId self, std::size_t members, Options options);

    /* The neighbours may change. A new neighbour does not count as silent before this view. */
    void install(const View &view, Time now);

    /* Events: heard(): the member's present process has sent a message. refused(): the kernel of
     * its node reports that the process does not exist. vouched(): another member reports a sign
     * of life that is `answer.silent_ms` old. */
    void heard(MemberId member, Time now);
    void refused(MemberId member, Time now);
    void vouched(const message::Answer &answer, Time now);

    /* A living neighbour and this member do not receive from each other any more, or do so
     * again. */
    struct LinkChange {
        MemberId neighbour;
        bool dead;
    };
    /* Asks about neighbours, accuses them, and withdraws accusations. */
    std::vector<LinkChange> tick(Time now, Outbox &outbox);
    /* Time of the next action if no message arrives before. */
    Time next_tick() const;

    /* Returns this member's evidence about a member, if that is its neighbour. */
    std::optional<message::Answer> testimony(MemberId member, Time now) const;
    std::optional<Time> heard_at(MemberId member) const
    {
        return signs_[member].heard;
    }
    /* Whether the member's node lives and its process does not. The process may still be
     * replaced. */
    bool is_gone(MemberId member, Time now) const;
    /* Whether the member may not have started yet. */
    bool is_awaited(MemberId member, Time now) const;
    /* Members that this member accuses, and the reasons. */
    const std::map<MemberId, Reason> &accused() const { return accused_; }

  private:
    struct Signs {
        std::optional<Time> heard;   /* time of the latest message */
        std::optional<Time> refused; /* when its living node last reported that the process does
                                        not exist */
        std::optional<Time> gone_since;
    };
    struct Neighbour {
        std::optional<MemberId> witness; /* its other neighbour */
        /* since when this member watches it; older signs do not count */
        Time since;
        Time vouched; /* time of the latest sign that the witness has reported */
        Time ask_at{};
        Time accuse_at{};
        Time tell_at{};
        bool link_dead = false;
    };

    Time last_heard(MemberId member, const Neighbour &neighbour) const;
    Time last_sign(MemberId member, const Neighbour &neighbour) const;
    std::optional<Reason> verdict(MemberId member, const Neighbour &neighbour,
                                  Time now) const;
    void ask(MemberId member, Neighbour &neighbour, Time now, Outbox &outbox);
    void tell_if_gone(MemberId member, Neighbour &neighbour, Time now, Outbox &outbox);
    void judge(MemberId member, Neighbour &neighbour, Time now, Outbox &outbox);
    bool is_link_dead(MemberId member, const Neighbour &neighbour, Time now) const;

    MemberId self_;
    Options options_;
    View view_;
    std::vector<Signs> signs_; /* by member */
    std::map<MemberId, Neighbour> neighbours_;
    std::map<MemberId, Reason> accused_;
    Time judged_{};        /* the latest tick */
    Time awaited_until_{}; /* for members from which no message has come */
};

} // namespace ckpt::membership
