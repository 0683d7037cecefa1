/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * actions.hpp - actions that the membership's state machine requests.
 */
#pragma once

#include "membership/message.hpp"

#include <utility>
#include <variant>
#include <vector>

namespace ckpt::membership
{

namespace action
{
/* Sends the message once; it may be lost. `view` goes into the envelope. */
struct Send {
    MemberId to;
    std::uint64_t view;
    Message message;
};
/* Every living member installs this view, or a later one, in this order. */
struct Install {
    struct Departure {
        MemberId member;
        Reason reason; /* as far as this member knows it */
    };
    View view;
    std::vector<Departure> departed; /* since the view that was installed here before */
    std::vector<MemberId> replaced;  /* members that another process represents now */
};
/* This process does not belong to the job, or no longer does. The last action. */
struct Excluded {
    enum class By {
        view,
        incarnation
    } by;
    std::uint64_t number; /* of the view or incarnation that excludes it */
};
/* No majority could be reached within the time limit. The last action. */
struct LostMajority {
};
/* The connection between two living nodes has died, or works again. */
struct LinkChanged {
    MemberId one;
    MemberId other;
    bool dead;
};
} // namespace action

using Action = std::variant<action::Send, action::Install, action::Excluded,
                            action::LostMajority, action::LinkChanged>;

/* Collects the actions that the parts of the state machine request, in order. */
class Outbox
{
  public:
    explicit Outbox(MemberId self)
        : self_(self) {}

    /* Goes into the envelopes of all later messages. */
    void set_view(std::uint64_t number) { view_ = number; }

    void send(MemberId to, Message message)
    {
        add(action::Send{to, view_, std::move(message)});
    }
    /* Sends to all members of the set except this one. */
    void send(const MemberSet &to, const Message &message)
    {
        to.for_each([&](MemberId member) {
            if (member != self_) {
                send(member, message);
            }
        });
    }
    template <typename Kind>
    void add(Kind &&action)
    {
        actions_.emplace_back(std::forward<Kind>(action));
    }
    std::vector<Action> take() { return std::exchange(actions_, {}); }

  private:
    MemberId self_;
    std::uint64_t view_ = 0;
    std::vector<Action> actions_;
};

} // namespace ckpt::membership
