/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ring_watch.hpp - who is alive, as far as one member can tell: it watches both its
 * neighbours in the ring, so that each member has a watcher and a witness, and the two
 * ask each other before one accuses (docs/membership.md, section 3).
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
        Duration replacement; /* how long a node may be without a process of ours */
        Duration start;       /* by how much some may begin later than others */
    };

    /* Normal context, like all here. All times are of the same clock, which never goes
     * back. */
    RingWatch(MemberId self, std::size_t members, Options options);

    /* The neighbours may be others now; those have not been silent before. */
    void install(const View &view, Time now);

    /* Events: a message of the member's present process; its node's kernel says that
     * there is no such process; another member has had a sign of life `ago`. */
    void heard(MemberId member, Time now);
    void refused(MemberId member, Time now);
    void vouched(const message::Answer &answer, Time now);

    /* A neighbour that lives does not hear us any more, nor we it; or again. */
    struct LinkChange {
        MemberId neighbour;
        bool dead;
    };
    /* Asks, accuses, withdraws. */
    std::vector<LinkChange> tick(Time now, Outbox &outbox);
    /* When there is something to do if nothing is heard until then. */
    Time next_tick() const;

    /* What we can say about a member, if it is a neighbour of ours. */
    std::optional<message::Answer> testimony(MemberId member, Time now) const;
    std::optional<Time> heard_at(MemberId member) const
    {
        return signs_[member].heard;
    }
    /* Its node lives and its process does not; it may still be replaced. */
    bool is_gone(MemberId member, Time now) const;
    /* It may not have begun yet. */
    bool is_awaited(MemberId member, Time now) const;
    /* Whom we accuse, and of what. */
    const std::map<MemberId, Reason> &accused() const { return accused_; }

  private:
    struct Signs {
        std::optional<Time> heard;   /* a message */
        std::optional<Time> refused; /* no such process, says a living node */
        std::optional<Time> gone_since;
    };
    struct Neighbour {
        std::optional<MemberId> witness; /* its other neighbour */
        Time since;   /* we watch it since; older signs do not matter */
        Time vouched; /* the last sign that the witness had */
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
    Time judged_{};        /* the last tick */
    Time awaited_until_{}; /* who has not been heard from at all */
};

} // namespace ckpt::membership
