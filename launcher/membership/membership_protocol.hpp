/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * membership_protocol.hpp - the membership of a job, as the state machine of one member. Messages
 * and the passing of time go in, and actions come out. No call blocks, reads a descriptor or looks
 * at a clock (docs/membership.md).
 */
#pragma once

#include "membership/actions.hpp"
#include "membership/ring_watch.hpp"
#include "membership/view_change.hpp"

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace ckpt::membership
{

class Protocol
{
  public:
    using Time = std::chrono::steady_clock::time_point;
    using Duration = std::chrono::steady_clock::duration;

    struct Options {
        /* H: time between two heartbeats. A node is accused 2.5 H after its last one. */
        Duration heartbeat = std::chrono::milliseconds(250);
        /* How long a node may stay in the view without a process of the job. */
        Duration replacement = std::chrono::seconds(10);
        /* How much later than this member another one may start with view 1. */
        Duration start = std::chrono::seconds(5);
        /* Limit for a view change that is needed, and for a new process that waits to be
         * admitted. After this time the member gives up. At least 16 H. */
        Duration majority = std::chrono::seconds(5);
    };

    /*
     * Normal context, like all functions here. A member in its first life is in view 1 at once, and
     * gets an Install of that view. View 1 has all `members` members in their first life. A member
     * in a later life asks to be admitted. Throws Error if there are more than most_members, if
     * `self` is not below `members`, or if the options cannot work.
     */
    Protocol(MemberId self, Life life, std::size_t members, Options options, Time now);

    /* Events. Each may request actions, to be taken and performed in order. `now` must not
     * decrease. Members are judged only in tick(): call it at once when all waiting input has
     * gone to receive() and refused(). */
    void receive(const Envelope &envelope, const Message &message, Time now);
    /* The kernel of the member's node reports that the process does not exist. */
    void refused(MemberId member, Time now);
    /* An authentic refusal has come: a newer incarnation runs the job. */
    void superseded(std::uint64_t incarnation);
    /* This member wants to leave. It stays until it gets Excluded. */
    void leave(Time now);
    void tick(Time now);
    /* Latest time for the next tick(). */
    Time next_tick() const;

    std::vector<Action> take_actions() { return outbox_.take(); }

    MemberId self() const { return self_; }
    Life life() const { return life_; }
    /* The view that was installed here last; its number is 0 if there was none. */
    const View &view() const { return view_; }
    /* Whether this member was excluded or has lost the majority. It does nothing any more. */
    bool has_ended() const { return ended_; }
    /* Pairs of living members that do not receive from each other. */
    const std::set<std::pair<MemberId, MemberId>> &dead_links() const
    {
        return dead_links_;
    }

  private:
    struct Charge {
        Reason reason;
        Time expires; /* unless the accusation is repeated */
    };
    struct Arrival {
        Life life;
        Time expires;
    };

    Time awake(Time now);
    void end(Action last);
    void install(const View &view, Time now);
    std::vector<action::Install::Departure> departures(const View &next) const;
    void drop_what_is_settled();
    void announce(const View &next, Time now);

    void on(const Envelope &envelope, const message::Heartbeat &heartbeat, Time now);
    void on(const Envelope &envelope, const message::Question &question, Time now);
    void on(const Envelope &envelope, const message::Answer &answer, Time now);
    void on(const Envelope &envelope, const message::Accusation &accusation, Time now);
    void on(const Envelope &envelope, const message::Link &link, Time now);
    void on(const Envelope &envelope, const message::Prepare &prepare, Time now);
    void on(const Envelope &envelope, const message::Promise &promise, Time now);
    void on(const Envelope &envelope, const message::Proposal &proposal, Time now);
    void on(const Envelope &envelope, const message::Acceptance &acceptance, Time now);
    void on(const Envelope &envelope, const message::Denial &denial, Time now);
    template <typename Other>
    void on(const Envelope &, const Other &, Time)
    {
        /* Hello, Decision and Refusal are handled before. */
    }
    void on_decision(const Envelope &envelope, const View &view, Time now);
    void on_hello(const Envelope &envelope, Time now);
    const View &newest_known() const { return successor_ ? *successor_ : view_; }
    void compare_views(const Envelope &envelope, Time now);
    void tell_decision(MemberId member, Time now);
    void vouch(MemberId member);
    void set_link(MemberId one, MemberId other, bool dead);

    void step(Time now);
    void ask_to_be_let_in(Time now);
    void beat(Time now);
    void watch(Time now);
    void forget_the_expired(Time now);
    Outlook outlook(Time now) const;
    void change(Time now);
    void note_leader(const Outlook &outlook, Time now);
    Time may_begin_at(const Outlook &outlook) const;
    void inform(Time now);
    bool is_busy() const;
    Time next_due() const;

    const MemberId self_;
    const Life life_;
    const std::size_t members_;
    const Options options_;

    /* Time in which this process could not run does not count. */
    Duration asleep_{};
    Time due_{};        /* time of the next tick, real time */
    Time stepped_at_{}; /* time of the latest step */

    Outbox outbox_;
    View view_;
    bool ended_ = false;
    bool leaving_ = false;
    /* Decided here, and without this member: it leaves when the others know the view. */
    std::optional<View> successor_;
    RingWatch watch_;
    ViewChange change_;

    Time beat_at_{};
    /* By accused member and accuser. */
    std::map<std::pair<MemberId, MemberId>, Charge> charges_;
    std::map<MemberId, Arrival> arrivals_;
    std::set<std::pair<MemberId, MemberId>> dead_links_;
    /* Since when a change is needed, or this member waits to be admitted. */
    std::optional<Time> unsettled_since_;
    std::optional<MemberId> leader_;
    Time leader_since_{};
    /* Members that have not shown yet that they have the view that was decided here. */
    MemberSet uninformed_;
    Time inform_at_{};
    Time inform_until_{};
    std::map<MemberId, Time> told_; /* when the view was sent to a member, unrequested */
};

} // namespace ckpt::membership
