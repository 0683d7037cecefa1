/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * view_change.hpp - how the members of a view agree on the next one: Lamport's synod (Paxos), once
 * per view. The members of that view are the acceptors, and the coordinator is the proposer
 * (docs/membership.md, section 4).
 */
#pragma once

#include "membership/actions.hpp"
#include "membership/view.hpp"

#include <chrono>
#include <map>
#include <optional>

namespace ckpt::membership
{

/* A coordinator's knowledge about the members when it makes a proposal. */
struct Outlook {
    MemberSet accused;                /* to be removed, unless replaced */
    MemberSet gone;                   /* to be kept, but not waited for */
    MemberSet unheard;                /* silent since the change began */
    std::map<MemberId, Life> arrived; /* processes that replace others */

    bool asks_for_change() const { return !accused.empty() || !arrived.empty(); }
    bool may_lead(MemberId member) const
    {
        return !accused.contains(member) && !gone.contains(member);
    }
};

class ViewChange
{
  public:
    using Time = std::chrono::steady_clock::time_point;
    using Duration = std::chrono::steady_clock::duration;

    /* Normal context, like all functions here. */
    ViewChange(MemberId self, Duration heartbeat)
        : self_(self), heartbeat_(heartbeat) {}

    /* Starts from a new view: promises for another view are void. */
    void install(const View &view);

    /* The acceptor. `number` of the message must be the next view's, and the sender a member of
     * the present view. */
    void on(MemberId from, const message::Prepare &prepare, Time now, Outbox &outbox);
    void on(MemberId from, const message::Proposal &proposal, Time now, Outbox &outbox);

    /* The proposer. */
    void begin(Time now, Outbox &outbox);
    void on(MemberId from, const message::Promise &promise);
    void on(MemberId from, const message::Acceptance &acceptance);
    void on(MemberId from, const message::Denial &denial, Time now);
    /* Proceeds as far as possible. Returns the next view as soon as it is decided here. */
    std::optional<View> step(const Outlook &outlook, Time now, Outbox &outbox);

    bool is_leading() const { return phase_ != Phase::idle; }
    /* Since when this member leads the present attempt. */
    Time began() const { return began_; }
    /* Another member that leads an attempt, and when its latest message came. */
    struct Rival {
        MemberId proposer;
        Time seen;
    };
    const std::optional<Rival> &rival() const { return rival_; }

  private:
    enum class Phase {
        idle,
        prepare,
        propose
    };

    std::uint64_t next_number() const { return view_.number + 1; }
    void follow(Ballot ballot, Time now);
    bool may_propose(const Outlook &outlook, Time now) const;
    View choose(const Outlook &outlook, Time now) const;
    void propose(View view, Outbox &outbox);
    void remind(const Message &message, Time now, Outbox &outbox);

    MemberId self_;
    Duration heartbeat_;
    View view_;

    /* State of the acceptor. */
    Ballot promised_;
    Ballot accepted_;
    std::optional<View> accepted_view_;

    /* State of the proposer. */
    Phase phase_ = Phase::idle;
    Ballot ballot_;
    Time began_{};
    Time remind_at_{};
    MemberSet answered_;       /* in this phase */
    Ballot best_accepted_;     /* highest in the promises */
    std::optional<View> best_; /* the view proposed with it */
    View proposed_;
    std::uint32_t highest_round_ = 0;
    std::optional<Rival> rival_;
};

} // namespace ckpt::membership
