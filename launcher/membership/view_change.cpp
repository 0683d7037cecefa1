/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * view_change.cpp - how the members of a view agree on the next one.
 */
#include "membership/view_change.hpp"

#include "common/invariant.hpp"

#include <algorithm>
#include <utility>

namespace ckpt::membership
{

void ViewChange::install(const View &view)
{
    CKPT_EXPECT(view.number > view_.number && view.members.contains(self_));
    view_ = view;
    promised_ = accepted_ = ballot_ = {};
    accepted_view_.reset();
    phase_ = Phase::idle;
    highest_round_ = 0;
    rival_.reset();
}

/* ---- The acceptor -------------------------------------------------------- */

/* If another member's ballot is higher than all known ones, this member's ballot cannot win. */
void ViewChange::follow(Ballot ballot, Time now)
{
    highest_round_ = std::max(highest_round_, ballot.round);
    if (ballot.proposer != self_) {
        rival_ = Rival{ballot.proposer, now};
    }
    if (ballot > ballot_) {
        phase_ = Phase::idle;
    }
}

void ViewChange::on(MemberId from, const message::Prepare &prepare, Time now,
                    Outbox &outbox)
{
    CKPT_EXPECT(view_.members.contains(from));
    if (prepare.number != next_number() || prepare.ballot.proposer != from) {
        return;
    }
    if (prepare.ballot < promised_) {
        outbox.send(from, message::Denial{prepare.number, promised_});
        return;
    }
    promised_ = prepare.ballot;
    follow(promised_, now);
    outbox.send(from, message::Promise{prepare.number, promised_, accepted_,
                                       accepted_view_});
}

void ViewChange::on(MemberId from, const message::Proposal &proposal, Time now,
                    Outbox &outbox)
{
    CKPT_EXPECT(view_.members.contains(from));
    if (proposal.view.number != next_number() || proposal.ballot.proposer != from) {
        return;
    }
    if (proposal.ballot < promised_) {
        outbox.send(from, message::Denial{proposal.view.number, promised_});
        return;
    }
    promised_ = accepted_ = proposal.ballot;
    accepted_view_ = proposal.view;
    follow(promised_, now);
    outbox.send(from, message::Acceptance{proposal.view.number, accepted_});
    CKPT_INVARIANT(accepted_view_->number == next_number() && accepted_ <= promised_);
}

/* ---- The proposer -------------------------------------------------------- */

void ViewChange::begin(Time now, Outbox &outbox)
{
    phase_ = Phase::prepare;
    highest_round_ = std::max(highest_round_, promised_.round) + 1;
    ballot_ = {highest_round_, self_};
    CKPT_INVARIANT(ballot_ > promised_ && ballot_ > accepted_);
    began_ = now;
    remind_at_ = now;
    promised_ = ballot_; /* this member's own promise */
    best_accepted_ = accepted_;
    best_ = accepted_view_;
    answered_ = MemberSet(view_.members.capacity());
    answered_.insert(self_); /* counts it */
    remind(message::Prepare{next_number(), ballot_}, now, outbox);
}

void ViewChange::on(MemberId from, const message::Promise &promise)
{
    CKPT_EXPECT(view_.members.contains(from)); /* nobody else has a vote */
    if (phase_ != Phase::prepare || promise.number != next_number() ||
        promise.ballot != ballot_) {
        return;
    }
    answered_.insert(from);
    if (promise.view && promise.view->number == next_number() &&
        promise.accepted > best_accepted_) {
        best_accepted_ = promise.accepted;
        best_ = promise.view;
    }
}

void ViewChange::on(MemberId from, const message::Acceptance &acceptance)
{
    CKPT_EXPECT(view_.members.contains(from));
    if (phase_ == Phase::propose && acceptance.number == next_number() &&
        acceptance.ballot == ballot_) {
        answered_.insert(from);
    }
}

void ViewChange::on(MemberId, const message::Denial &denial, Time now)
{
    if (denial.number == next_number() && denial.promised > ballot_) {
        follow(denial.promised, now);
    }
}

/* Returns whether a quorum has promised and the others need not be waited for. Accused members
 * must have had a chance to object. All others must have answered, or have been silent for 3 H. */
bool ViewChange::may_propose(const Outlook &outlook, Time now) const
{
    bool missing = false;

    if (!view_.is_quorum(answered_.size()) ||
        (!outlook.accused.empty() && now < began_ + heartbeat_ / 4)) {
        return false;
    }
    view_.members.for_each([&](MemberId member) {
        missing = missing ||
                  (!answered_.contains(member) && !outlook.accused.contains(member) &&
                   !outlook.gone.contains(member));
    });
    return !missing || now >= began_ + heartbeat_ * 3;
}

/* Returns the proposal that a quorum may have accepted already. If there is none, returns a view
 * by the present knowledge, which includes failures during the change. */
View ViewChange::choose(const Outlook &outlook, Time now) const
{
    if (best_) {
        CKPT_INVARIANT(!best_ || best_->number == next_number());
        return *best_;
    }
    const bool waited = now >= began_ + heartbeat_ * 3;
    View next = view_;
    next.number++;
    view_.members.for_each([&](MemberId member) {
        const bool mute = waited && !answered_.contains(member) &&
                          !outlook.gone.contains(member) &&
                          outlook.unheard.contains(member);
        auto arrived = outlook.arrived.find(member);
        if (arrived != outlook.arrived.end() &&
            (next.lives.contains(member) || next.lives.size() < most_lives)) {
            next.lives[member] = arrived->second;
        } else if (member != self_ && (outlook.accused.contains(member) || mute)) {
            next.members.erase(member);
            next.lives.erase(member);
        }
    });
    return next;
}

void ViewChange::propose(View view, Outbox &outbox)
{
    CKPT_EXPECT(phase_ == Phase::prepare && view.number == next_number());
    CKPT_EXPECT(view_.is_quorum(answered_.size()));
    phase_ = Phase::propose;
    proposed_ = std::move(view);
    answered_ = MemberSet(view_.members.capacity());
    accepted_ = ballot_; /* the leader has promised no higher ballot */
    accepted_view_ = proposed_;
    answered_.insert(self_);
    outbox.send(view_.members, message::Proposal{ballot_, proposed_});
}

/* Sends to the members that have not answered. */
void ViewChange::remind(const Message &message, Time now, Outbox &outbox)
{
    if (now >= remind_at_) {
        remind_at_ = now + heartbeat_ / 4;
        view_.members.for_each([&](MemberId member) {
            if (!answered_.contains(member)) {
                outbox.send(member, message);
            }
        });
    }
}

std::optional<View> ViewChange::step(const Outlook &outlook, Time now, Outbox &outbox)
{
    if (phase_ == Phase::prepare) {
        if (may_propose(outlook, now)) {
            View next = choose(outlook, now);
            if (next.members == view_.members && next.lives == view_.lives) {
                phase_ = Phase::idle; /* all members have turned out to be alive */
                return std::nullopt;
            }
            propose(std::move(next), outbox);
            remind_at_ = now + heartbeat_ / 4;
        } else {
            remind(message::Prepare{next_number(), ballot_}, now, outbox);
        }
    }
    if (phase_ == Phase::propose) {
        if (view_.is_quorum(answered_.size())) {
            CKPT_INVARIANT(proposed_.number == next_number());
            return proposed_;
        }
        remind(message::Proposal{ballot_, proposed_}, now, outbox);
    }
    return std::nullopt;
}

} // namespace ckpt::membership
