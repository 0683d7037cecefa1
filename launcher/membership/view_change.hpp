/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * view_change.hpp - how the members of a view agree on the next one: Lamport's synod
 * (Paxos), once per view, with the members of that view as acceptors and whoever
 * coordinates as the proposer (docs/membership.md, section 4).
 */
#pragma once

#include "membership/actions.hpp"
#include "membership/view.hpp"

#include <chrono>
#include <map>
#include <optional>

namespace ckpt::membership
{

/* What a coordinator knows about the members when it has to make a proposal. */
struct Outlook {
    MemberSet accused;                /* to go, unless replaced */
    MemberSet gone;                   /* not to be waited for, but to stay */
    MemberSet unheard;                /* since the change has begun */
    std::map<MemberId, Life> arrived; /* processes that take the place of others */

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

    /* Normal context, like all here. */
    ViewChange(MemberId self, Duration heartbeat) : self_(self), heartbeat_(heartbeat) {}

    /* Begins anew: what was promised for another view does not matter any more. */
    void install(const View &view);

    /* The acceptor. `number` of the message must be that of the next view, and its
     * sender a member of the present one. */
    void on(MemberId from, const message::Prepare &prepare, Time now, Outbox &outbox);
    void on(MemberId from, const message::Proposal &proposal, Time now, Outbox &outbox);

    /* The proposer. */
    void begin(Time now, Outbox &outbox);
    void on(MemberId from, const message::Promise &promise);
    void on(MemberId from, const message::Acceptance &acceptance);
    void on(MemberId from, const message::Denial &denial, Time now);
    /* Goes on as far as it can. The next view, as soon as it is decided here. */
    std::optional<View> step(const Outlook &outlook, Time now, Outbox &outbox);

    bool is_leading() const { return phase_ != Phase::idle; }
    /* Since when this member has led the present attempt. */
    Time began() const { return began_; }
    /* Who is at it besides us, and when that was last to be seen. */
    struct Rival {
        MemberId proposer;
        Time seen;
    };
    const std::optional<Rival> &rival() const { return rival_; }

  private:
    enum class Phase { idle, prepare, propose };

    std::uint64_t next_number() const { return view_.number + 1; }
    void follow(Ballot ballot, Time now);
    bool may_propose(const Outlook &outlook, Time now) const;
    View choose(const Outlook &outlook, Time now) const;
    void propose(View view, Outbox &outbox);
    void remind(const Message &message, Time now, Outbox &outbox);

    MemberId self_;
    Duration heartbeat_;
    View view_;

    /* As an acceptor. */
    Ballot promised_;
    Ballot accepted_;
    std::optional<View> accepted_view_;

    /* As a proposer. */
    Phase phase_ = Phase::idle;
    Ballot ballot_;
    Time began_{};
    Time remind_at_{};
    MemberSet answered_;       /* in this phase */
    Ballot best_accepted_;     /* of the promises */
    std::optional<View> best_; /* and what was proposed with it */
    View proposed_;
    std::uint32_t highest_round_ = 0;
    std::optional<Rival> rival_;
};

} // namespace ckpt::membership
