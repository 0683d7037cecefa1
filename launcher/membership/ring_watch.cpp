/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ring_watch.cpp - which members are alive, as far as one member can tell.
 */
#include "membership/ring_watch.hpp"

#include "common/invariant.hpp"

#include <algorithm>
#include <utility>

namespace ckpt::membership
{

namespace
{

using std::chrono::milliseconds;

/* A kernel reports to the same node only once a second that a process does not exist
 * (net.ipv4.icmp_ratelimit). So a shorter silence of a node proves nothing. */
constexpr milliseconds refusals_apart{3000};

} // namespace

RingWatch::RingWatch(MemberId self, std::size_t members, Options options)
    : self_(self), options_(options), signs_(members)
{
}

void RingWatch::install(const View &view, Time now)
{
    std::map<MemberId, Neighbour> before;

    for (MemberId member = 0; member < signs_.size(); member++) {
        if (view.life_of(member) != view_.life_of(member)) {
            signs_[member] = {};
            accused_.erase(member);
        }
    }
    if (view.number == 1) {
        awaited_until_ = now + options_.start;
    }
    before.swap(neighbours_);
    view_ = view;
    for (MemberId member : {view.members.successor(self_),
                            view.members.predecessor(self_)}) {
        if (member == self_) {
            continue;
        }
        MemberId witness = view.members.successor(self_) == member
                               ? view.members.successor(member)
                               : view.members.predecessor(member);
        auto known = before.find(member);
        Neighbour neighbour{.witness = {}, .since = now, .vouched = now};
        if (known != before.end() && signs_[member].heard) {
            neighbour = known->second;
        }
        neighbour.witness = witness == self_ ? std::nullopt : std::optional(witness);
        neighbours_.emplace(member, neighbour);
    }
    CKPT_INVARIANT(neighbours_.size() <= 2 && !neighbours_.contains(self_));
    std::erase_if(accused_,
                  [&](const auto &entry) { return !neighbours_.contains(entry.first); });
}

/* ---- Evidence ------------------------------------------------------------ */

void RingWatch::heard(MemberId member, Time now)
{
    CKPT_EXPECT(member < signs_.size() && member != self_);
    signs_[member] = {.heard = now, .refused = {}, .gone_since = {}};
}

void RingWatch::refused(MemberId member, Time now)
{
    CKPT_EXPECT(member < signs_.size() && member != self_);
    Signs &signs = signs_[member];

    signs.refused = now;
    if (!signs.gone_since) {
        signs.gone_since = now;
    }
}

/* All members learn that a process is gone, including those that never knew its address. */
void RingWatch::vouched(const message::Answer &answer, Time now)
{
    const Time when = now - milliseconds(answer.silent_ms);
    auto neighbour = neighbours_.find(answer.about);

    if (!view_.has(answer.about, answer.life) || answer.about == self_) {
        return;
    }
    Signs &signs = signs_[answer.about];
    if (answer.gone && (!signs.heard || *signs.heard < when)) {
        signs.refused = std::max(signs.refused.value_or(when), when);
        signs.gone_since = signs.gone_since.value_or(when);
    } else if (!answer.gone && neighbour != neighbours_.end()) {
        neighbour->second.vouched = std::max(neighbour->second.vouched, when);
    }
}

RingWatch::Time RingWatch::last_heard(MemberId member,
                                      const Neighbour &neighbour) const
{
    const auto &heard = signs_[member].heard;

    return std::max(heard ? *heard : awaited_until_, neighbour.since);
}

bool RingWatch::is_awaited(MemberId member, Time now) const
{
    return !signs_[member].heard && now < awaited_until_;
}

RingWatch::Time RingWatch::last_sign(MemberId member, const Neighbour &neighbour) const
{
    return std::max(last_heard(member, neighbour), neighbour.vouched);
}

bool RingWatch::is_gone(MemberId member, Time now) const
{
    const Signs &signs = signs_[member];
    CKPT_INVARIANT(!signs.gone_since || signs.refused);
    return signs.gone_since && now < *signs.refused + refusals_apart;
}

std::optional<message::Answer> RingWatch::testimony(MemberId member, Time now) const
{
    auto found = neighbours_.find(member);

    const bool gone = is_gone(member, now);
    const Signs &signs = signs_[member];

    if (found == neighbours_.end() || (!signs.heard && !gone)) {
        return std::nullopt;
    }
    /* About a process, report only messages received here: repeated hearsay would never end. */
    const Time last = gone ? *signs.refused : last_heard(member, found->second);
    const auto silent = std::chrono::duration_cast<milliseconds>(now - last).count();
    return message::Answer{member, view_.life_of(member),
                           static_cast<std::uint32_t>(std::max<long>(silent, 0)), gone};
}

/* ---- Judgement ----------------------------------------------------------- */

/* 2.5 H: the third heartbeat after the last one is late by half its period. The rest of 3 H is
 * for the view change, which asks the accused member itself. */
std::optional<Reason> RingWatch::verdict(MemberId member, const Neighbour &neighbour,
                                         Time now) const
{
    const Duration timeout = options_.heartbeat * 5 / 2;
    const Signs &signs = signs_[member];
    const Time last = last_sign(member, neighbour);

    if (signs.gone_since && *signs.gone_since >= last) {
        if (now - *signs.gone_since >= options_.replacement) {
            return Reason::gone;
        }
        return now - *signs.refused >= std::max<Duration>(timeout, refusals_apart)
                   ? std::optional(Reason::silent)
                   : std::nullopt;
    }
    return now - last >= timeout ? std::optional(Reason::silent) : std::nullopt;
}

void RingWatch::ask(MemberId member, Neighbour &neighbour, Time now, Outbox &outbox)
{
    if (now >= neighbour.ask_at) {
        neighbour.ask_at = now + options_.heartbeat / 4;
        outbox.send(member, message::Heartbeat{.probe = true});
        if (neighbour.witness) {
            outbox.send(*neighbour.witness, message::Question{member});
        }
    }
}

/* Tells all members, as a coordinator that has never received from the process must not take its
 * node for dead. */
void RingWatch::tell_if_gone(MemberId member, Neighbour &neighbour, Time now,
                             Outbox &outbox)
{
    if (is_gone(member, now) && now >= neighbour.tell_at) {
        neighbour.tell_at = now + options_.heartbeat * 2;
        outbox.send(view_.members, *testimony(member, now));
    }
}

void RingWatch::judge(MemberId member, Neighbour &neighbour, Time now, Outbox &outbox)
{
    CKPT_EXPECT(member != self_);
    const auto reason = verdict(member, neighbour, now);
    const auto accuse = [&](Reason why, bool stands) {
        outbox.send(view_.members, message::Accusation{member, view_.life_of(member),
                                                       why, stands});
    };

    if (reason && (!accused_.contains(member) || now >= neighbour.accuse_at)) {
        neighbour.accuse_at = now + options_.heartbeat / 2;
        accused_[member] = *reason;
        accuse(*reason, true);
    } else if (!reason && accused_.contains(member)) {
        accuse(accused_[member], false);
        accused_.erase(member);
    }
}

/* Whether the witness has received from the member more than once while this member has not. */
bool RingWatch::is_link_dead(MemberId member, const Neighbour &neighbour,
                             Time now) const
{
    const Time heard = last_heard(member, neighbour);

    return now - heard >= options_.heartbeat * 5 / 2 &&
           neighbour.vouched >= heard + options_.heartbeat * 3 / 2 &&
           !signs_[member].gone_since && !accused_.contains(member);
}

std::vector<RingWatch::LinkChange> RingWatch::tick(Time now, Outbox &outbox)
{
    std::vector<LinkChange> changes;

    judged_ = now;
    for (auto &[member, neighbour] : neighbours_) {
        if (now - last_heard(member, neighbour) >= options_.heartbeat * 2) {
            ask(member, neighbour, now, outbox);
        }
        tell_if_gone(member, neighbour, now, outbox);
        judge(member, neighbour, now, outbox);
        const bool dead = is_link_dead(member, neighbour, now);
        if (dead != std::exchange(neighbour.link_dead, dead)) {
            changes.push_back({member, dead});
        }
    }
    return changes;
}

RingWatch::Time RingWatch::next_tick() const
{
    Time next = Time::max();

    for (auto &[member, neighbour] : neighbours_) {
        const Time doubt = last_heard(member, neighbour) + options_.heartbeat * 2;
        const Time doom = last_sign(member, neighbour) + options_.heartbeat * 5 / 2;
        next = std::min(next, std::max(doubt, neighbour.ask_at));
        if (doom > judged_) {
            next = std::min(next, doom);
        }
    }
    return next;
}

} // namespace ckpt::membership
