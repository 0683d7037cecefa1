/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * actions.hpp - what the membership's state machine wants done or known.
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
/* Sends it, once; it may be lost. `view` goes into the envelope. */
struct Send {
    MemberId to;
    std::uint64_t view;
    Message message;
};
/* All members that live will install this view, or a later one, in this order. */
struct Install {
    struct Departure {
        MemberId member;
        Reason reason; /* as far as it is known here */
    };
    View view;
    std::vector<Departure> departed; /* since the last one installed here */
    std::vector<MemberId> replaced;  /* they have another process now */
};
/* This process does not belong to the job, or not any more. The last action. */
struct Excluded {
    enum class By { view, incarnation } by;
    std::uint64_t number; /* of the view or incarnation that is without it */
};
/* A majority could not be reached for as long as is allowed. The last action. */
struct LostMajority {
};
/* The connection between two living nodes has died, or is back. */
struct LinkChanged {
    MemberId one;
    MemberId other;
    bool dead;
};
} // namespace action

using Action = std::variant<action::Send, action::Install, action::Excluded,
                            action::LostMajority, action::LinkChanged>;

/* Where the parts of the state machine leave what they want done, in order. */
class Outbox
{
  public:
    explicit Outbox(MemberId self) : self_(self) {}

    /* Goes into the envelopes of all messages from now on. */
    void set_view(std::uint64_t number) { view_ = number; }

    void send(MemberId to, Message message)
    {
        add(action::Send{to, view_, std::move(message)});
    }
    /* To all but ourselves. */
    void send(const MemberSet &to, const Message &message)
    {
        to.for_each([&](MemberId member) {
            if (member != self_) {
                send(member, message);
            }
        });
    }
    template <typename Kind> void add(Kind &&action)
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
