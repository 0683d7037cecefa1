/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * membership_protocol.cpp - the membership of a job, as the state machine of one member.
 */
#include "membership/membership_protocol.hpp"

#include "common/error.hpp"
#include "common/invariant.hpp"

#include <algorithm>
#include <utility>
#include <variant>

namespace ckpt::membership
{

Protocol::Protocol(MemberId self, Life life, std::size_t members, Options options,
                   Time now)
    : self_(self), life_(life), members_(members), options_(options), due_(now),
      outbox_(self),
      watch_(self, members, {options.heartbeat, options.replacement, options.start}),
      change_(self, options.heartbeat)
{
    if (members > most_members) {
        fail("a job on {} nodes: {} are possible", members, most_members);
    }
    if (self >= members || life < first_life) {
        fail("there is no member {} of {} in life {}", self, members, life);
    }
    if (options.heartbeat <= Duration{} || options.majority < 16 * options.heartbeat) {
        fail("heartbeats have to be so frequent that 16 fit into the time for a view");
    }
    if (life == first_life) {
        install(View::first(members), now);
    } else {
        unsettled_since_ = now;
    }
    due_ = std::max(next_due(), now);
}

/* ---- Time ---------------------------------------------------------------- */

/* Returns `now` on a clock that stands still while this process should run but does not. In such
 * a time the process cannot receive, so it must not accuse others of silence. */
Protocol::Time Protocol::awake(Time now)
{
    if (!ended_ && now > due_ + options_.heartbeat / 4) {
        asleep_ += now - due_;
        due_ = now;
    }
    CKPT_INVARIANT(asleep_ >= Duration{});
    return now - asleep_;
}

bool Protocol::is_busy() const
{
    return unsettled_since_ || leaving_ || change_.is_leading() || !uninformed_.empty() ||
           !charges_.empty();
}

Protocol::Time Protocol::next_due() const
{
    const Time soon = stepped_at_ + options_.heartbeat / 8;
    const Time next = std::min(beat_at_, watch_.next_tick());

    if (successor_) { /* the only task left is to tell the others */
        return soon + asleep_;
    }
    return (is_busy() ? std::min(next, soon) : next) + asleep_;
}

void Protocol::step(Time now)
{
    stepped_at_ = now;
    if (!ended_ && view_.number == 0) {
        ask_to_be_let_in(now);
    } else if (!ended_ && !successor_) {
        beat(now);
        watch(now);
        forget_the_expired(now);
        change(now);
    }
    if (!ended_) {
        inform(now);
    }
    if (!ended_ && unsettled_since_ && now - *unsettled_since_ >= options_.majority) {
        end(action::LostMajority{});
    }
    if (!ended_) {
        due_ = std::max(next_due(), now + asleep_);
    }
}

void Protocol::tick(Time now)
{
    step(awake(now));
}

Protocol::Time Protocol::next_tick() const
{
    return due_;
}

void Protocol::end(Action last)
{
    CKPT_EXPECT(!ended_); /* the last action comes once */
    ended_ = true;
    due_ = Time::max();
    outbox_.add(std::move(last));
}

/* ---- Signs of life ------------------------------------------------------- */

void Protocol::beat(Time now)
{
    if (now < beat_at_) {
        return;
    }
    beat_at_ = now + options_.heartbeat;
    const MemberId successor = view_.members.successor(self_);
    const MemberId predecessor = view_.members.predecessor(self_);
    if (successor != self_) {
        outbox_.send(successor, message::Heartbeat{});
    }
    if (predecessor != successor) {
        outbox_.send(predecessor, message::Heartbeat{});
    }
    if (leaving_) {
        outbox_.send(view_.members,
                     message::Accusation{self_, life_, Reason::leaving, true});
    }
}

void Protocol::ask_to_be_let_in(Time now)
{
    if (now >= beat_at_) {
        beat_at_ = now + options_.heartbeat;
        outbox_.send(MemberSet::all(members_), message::Hello{});
    }
}

void Protocol::watch(Time now)
{
    for (const RingWatch::LinkChange &change : watch_.tick(now, outbox_)) {
        set_link(self_, change.neighbour, change.dead);
        outbox_.send(view_.members,
                     message::Link{self_, change.neighbour, change.dead});
    }
}

void Protocol::set_link(MemberId one, MemberId other, bool dead)
{
    CKPT_EXPECT(one != other && one < members_ && other < members_);
    const auto link = std::minmax(one, other);
    const bool changed = dead ? dead_links_.insert(link).second
                              : dead_links_.erase(link) != 0;
    if (changed) {
        outbox_.add(action::LinkChanged{link.first, link.second, dead});
    }
}

void Protocol::refused(MemberId member, Time now)
{
    const Time awake_now = awake(now);

    if (!ended_ && view_.members.contains(member) && member != self_) {
        watch_.refused(member, awake_now);
    }
}

/* ---- Messages ------------------------------------------------------------ */

void Protocol::receive(const Envelope &envelope, const Message &message, Time now)
{
    const Time awake_now = awake(now);
    const MemberId from = envelope.from;

    if (ended_ || from >= members_ || from == self_) {
        return;
    }
    if (auto *decision = std::get_if<message::Decision>(&message)) {
        on_decision(envelope, decision->view, awake_now);
    } else if (view_.number != 0 && std::holds_alternative<message::Hello>(message)) {
        on_hello(envelope, awake_now);
    } else if (view_.number != 0) {
        compare_views(envelope, awake_now);
        if (view_.has(from, envelope.life)) {
            watch_.heard(from, awake_now);
            vouch(from);
            std::visit([&](const auto &what) { on(envelope, what, awake_now); },
                       message);
        }
    }
}

/* Sends the newest view to a member with an older one. Asks a member with a newer one, by a
 * message that shows the own view. */
void Protocol::compare_views(const Envelope &envelope, Time now)
{
    const View &view = newest_known();

    if (envelope.view >= view.number) {
        uninformed_.erase(envelope.from);
    }
    if (envelope.view < view.number || !view.has(envelope.from, envelope.life)) {
        tell_decision(envelope.from, now);
    }
    if (envelope.view > view.number) {
        outbox_.send(envelope.from, message::Heartbeat{});
    }
}

void Protocol::tell_decision(MemberId member, Time now)
{
    auto told = told_.find(member);

    if (told == told_.end() || now >= told->second + options_.heartbeat / 4) {
        told_[member] = now;
        outbox_.send(member, message::Decision{newest_known()});
    }
}

void Protocol::on_decision(const Envelope &envelope, const View &view, Time now)
{
    const Life life = view.life_of(self_);

    if (view.number > view_.number) {
        if (!view.members.contains(self_) || life > life_) {
            end(action::Excluded{action::Excluded::By::view, view.number});
        } else if (life == life_) {
            install(view, now);
        } /* else: the members have not agreed yet to admit this process */
    }
    if (!ended_ && view.number == view_.number) {
        outbox_.send(envelope.from, message::Heartbeat{}); /* shows that this member has the view */
    }
}

void Protocol::on_hello(const Envelope &envelope, Time now)
{
    const MemberId from = envelope.from;

    if (!view_.members.contains(from) || envelope.life <= view_.life_of(from)) {
        tell_decision(from, now);
        return;
    }
    if (!view_.lives.contains(from) && view_.lives.size() >= most_lives) {
        return;
    }
    Arrival &arrival = arrivals_.try_emplace(from, Arrival{0, now}).first->second;
    if (envelope.life >= arrival.life) {
        arrival = {envelope.life, now + options_.heartbeat * 3};
        watch_.refused(from, now); /* so the process before it has gone */
    }
}

/* If this member receives from an accused member, it tells the accuser and drops the accusation. */
void Protocol::vouch(MemberId member)
{
    auto at = charges_.lower_bound({member, 0});

    while (at != charges_.end() && at->first.first == member) {
        if (at->second.reason == Reason::leaving) {
            ++at;
            continue;
        }
        outbox_.send(at->first.second,
                     message::Answer{member, view_.life_of(member), 0, false});
        at = charges_.erase(at);
    }
}

void Protocol::on(const Envelope &envelope, const message::Heartbeat &heartbeat, Time)
{
    if (heartbeat.probe) {
        outbox_.send(envelope.from, message::Heartbeat{});
    }
}

void Protocol::on(const Envelope &envelope, const message::Question &question, Time now)
{
    if (question.about < members_) {
        if (auto answer = watch_.testimony(question.about, now)) {
            outbox_.send(envelope.from, *answer);
        }
    }
}

void Protocol::on(const Envelope &, const message::Answer &answer, Time now)
{
    watch_.vouched(answer, now);
}

void Protocol::on(const Envelope &envelope, const message::Accusation &accusation,
                  Time now)
{
    const MemberId accused = accusation.accused;
    const bool by_itself = accused == envelope.from;

    if (accused == self_) {
        outbox_.send(envelope.from, message::Heartbeat{}); /* shows that this member lives */
        return;
    }
    if (!view_.has(accused, accusation.life) ||
        by_itself != (accusation.reason == Reason::leaving)) {
        return;
    }
    if (!accusation.stands) {
        charges_.erase({accused, envelope.from});
        return;
    }
    charges_[{accused, envelope.from}] = {accusation.reason,
                                          now + options_.heartbeat * 2};
    auto heard = watch_.heard_at(accused);
    if (heard && now - *heard < options_.heartbeat) {
        vouch(accused);
    }
}

void Protocol::on(const Envelope &, const message::Link &link, Time)
{
    if (view_.members.contains(link.one) && view_.members.contains(link.other)) {
        set_link(link.one, link.other, link.dead);
    }
}

void Protocol::on(const Envelope &envelope, const message::Prepare &prepare, Time now)
{
    change_.on(envelope.from, prepare, now, outbox_);
}

void Protocol::on(const Envelope &envelope, const message::Promise &promise, Time)
{
    change_.on(envelope.from, promise);
}

void Protocol::on(const Envelope &envelope, const message::Proposal &proposal, Time now)
{
    change_.on(envelope.from, proposal, now, outbox_);
}

void Protocol::on(const Envelope &envelope, const message::Acceptance &acceptance, Time)
{
    change_.on(envelope.from, acceptance);
}

void Protocol::on(const Envelope &envelope, const message::Denial &denial, Time now)
{
    change_.on(envelope.from, denial, now);
}

/* ---- The view ------------------------------------------------------------ */

std::vector<action::Install::Departure> Protocol::departures(const View &next) const
{
    std::vector<action::Install::Departure> departed;

    view_.members.for_each([&](MemberId member) {
        if (next.members.contains(member)) {
            return;
        }
        Reason reason = Reason::unknown;
        auto charge = charges_.lower_bound({member, 0});
        auto own = watch_.accused().find(member);
        if (own != watch_.accused().end()) {
            reason = own->second;
        } else if (charge != charges_.end() && charge->first.first == member) {
            reason = charge->second.reason;
        }
        departed.push_back({member, reason});
    });
    return departed;
}

/* Drops the charges, arrivals and links that the new view settles. */
void Protocol::drop_what_is_settled()
{
    const auto present = [&](MemberId member) { return view_.members.contains(member); };

    std::erase_if(charges_, [&](const auto &entry) {
        return !present(entry.first.first) || !present(entry.first.second);
    });
    std::erase_if(arrivals_, [&](const auto &entry) {
        return !present(entry.first) ||
               entry.second.life <= view_.life_of(entry.first);
    });
    std::erase_if(dead_links_, [&](const auto &link) {
        return !present(link.first) || !present(link.second);
    });
}

void Protocol::install(const View &view, Time now)
{
    CKPT_EXPECT(view.number > view_.number && view.has(self_, life_));
    action::Install install{view, departures(view), {}};

    for (auto [member, life] : view.lives) {
        if (life != view_.life_of(member)) {
            install.replaced.push_back(member);
            std::erase_if(charges_, [member = member](const auto &entry) {
                return entry.first.first == member;
            });
        }
    }
    view_ = view;
    outbox_.set_view(view.number);
    outbox_.add(std::move(install));
    drop_what_is_settled();
    change_.install(view);
    watch_.install(view, now);
    unsettled_since_.reset();
    uninformed_ = MemberSet(members_);
    told_.clear();
    beat_at_ = now; /* the neighbours wait for a heartbeat */
}

/* A quorum has accepted `next`, which this member proposed. */
void Protocol::announce(const View &next, Time now)
{
    CKPT_EXPECT(!successor_ && next.number == view_.number + 1);
    const MemberSet before = view_.members;

    if (next.has(self_, life_)) {
        install(next, now);
        uninformed_ = before;
        uninformed_.erase(self_);
    } else { /* the proposal of another member, which this one had to complete */
        successor_ = next;
        uninformed_ = next.members;
        unsettled_since_.reset();
    }
    inform_at_ = now;
    inform_until_ = now + options_.heartbeat * 3;
}

/* Repeats the view until all members have shown that they have it. Departed members never do. */
void Protocol::inform(Time now)
{
    if (now >= inform_until_ && !uninformed_.empty()) {
        uninformed_ = MemberSet(members_);
    }
    if (!uninformed_.empty() && now >= inform_at_) {
        inform_at_ = now + options_.heartbeat / 4;
        outbox_.send(uninformed_, message::Decision{newest_known()});
    }
    if (successor_ && uninformed_.empty()) {
        end(action::Excluded{action::Excluded::By::view, successor_->number});
    }
}

/* ---- The change ---------------------------------------------------------- */

void Protocol::forget_the_expired(Time now)
{
    const auto expired = [now](const auto &entry) { return now >= entry.second.expires; };

    std::erase_if(charges_, expired);
    std::erase_if(arrivals_, expired);
}

Outlook Protocol::outlook(Time now) const
{
    Outlook outlook{MemberSet(members_), MemberSet(members_), MemberSet(members_), {}};

    for (auto &[who, charge] : charges_) {
        outlook.accused.insert(who.first);
    }
    for (auto &[member, reason] : watch_.accused()) {
        outlook.accused.insert(member);
    }
    if (leaving_) {
        outlook.accused.insert(self_);
    }
    for (auto &[member, arrival] : arrivals_) {
        outlook.arrived[member] = arrival.life;
    }
    view_.members.for_each([&](MemberId member) {
        auto heard = watch_.heard_at(member);
        if (watch_.is_gone(member, now)) {
            outlook.gone.insert(member);
        }
        if (!watch_.is_awaited(member, now) && (!heard || *heard < change_.began())) {
            outlook.unheard.insert(member);
        }
    });
    return outlook;
}

/* The lowest member that is not accused may lead at once. Each other member waits for its turn,
 * in case the lower ones do not lead, and never starts beside a rival that may still succeed. */
Protocol::Time Protocol::may_begin_at(const Outlook &outlook) const
{
    CKPT_EXPECT(unsettled_since_);
    const Duration heartbeat = options_.heartbeat;
    Duration::rep rank = 0;

    if (leaving_) {
        return Time::max();
    }
    view_.members.for_each([&](MemberId member) {
        rank += member < self_ && outlook.may_lead(member) ? 1 : 0;
    });
    const Duration turn =
        rank <= 8 ? heartbeat * rank / 2 : heartbeat * 4 + heartbeat * (rank % 8) / 8;
    Time begin = std::max(*unsettled_since_, leader_since_) + turn;
    const auto &rival = change_.rival();
    if (rival && !outlook.accused.contains(rival->proposer)) {
        begin = std::max(begin, rival->seen + heartbeat * 4 + turn);
    }
    return begin;
}

/* Notes which member has to lead. If that changes, the turns of the others start again. */
void Protocol::note_leader(const Outlook &outlook, Time now)
{
    std::optional<MemberId> leader;

    view_.members.for_each([&](MemberId member) {
        if (!leader && outlook.may_lead(member)) {
            leader = member;
        }
    });
    if (leader != std::exchange(leader_, leader)) {
        leader_since_ = now;
    }
}

void Protocol::change(Time now)
{
    if (charges_.empty() && arrivals_.empty() && watch_.accused().empty() &&
        !leaving_ && !change_.is_leading()) {
        unsettled_since_.reset();
        return;
    }
    Outlook now_known = outlook(now);
    if (!now_known.asks_for_change()) {
        unsettled_since_.reset();
    } else if (!unsettled_since_) {
        unsettled_since_ = now;
    }
    note_leader(now_known, now);
    if (unsettled_since_ && !change_.is_leading() && now >= may_begin_at(now_known)) {
        change_.begin(now, outbox_);
        now_known = outlook(now);
    }
    if (auto decided = change_.step(now_known, now, outbox_)) {
        announce(*decided, now);
    }
}

/* ---- The end ------------------------------------------------------------- */

void Protocol::leave(Time now)
{
    const Time awake_now = awake(now);

    if (ended_) {
        return;
    }
    leaving_ = true;
    if (view_.members.size() <= 1) { /* no other member can agree to the departure */
        end(action::Excluded{action::Excluded::By::view, view_.number});
    }
    beat_at_ = awake_now;
    step(awake_now);
}

void Protocol::superseded(std::uint64_t incarnation)
{
    if (!ended_) {
        end(action::Excluded{action::Excluded::By::incarnation, incarnation});
    }
}

} // namespace ckpt::membership
