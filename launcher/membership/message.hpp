/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * message.hpp - messages between members (their layouts: docs/membership.md, section 6).
 */
#pragma once

#include "membership/view.hpp"

#include <compare>
#include <cstdint>
#include <optional>
#include <variant>

namespace ckpt::membership
{

/* Identifies one attempt to agree on the next view; the higher ballot wins. */
struct Ballot {
    std::uint32_t round = 0; /* 0: none */
    MemberId proposer = 0;

    auto operator<=>(const Ballot &) const = default;
};

/* Reason for which a member has to leave the view. */
enum class Reason : std::uint32_t {
    unknown = 0, /* this member has missed the accusation */
    silent = 1,  /* no sign of life of the process or its node */
    gone = 2,    /* its process has ended and was not replaced */
    leaving = 3  /* it wants to leave */
};

namespace message
{

struct Heartbeat {
    bool probe = false; /* asks for a heartbeat in return */
    bool operator==(const Heartbeat &) const = default;
};
/* To the other watcher of a neighbour: asks when it last received from the neighbour. */
struct Question {
    MemberId about = 0;
    bool operator==(const Question &) const = default;
};
/* The age of the latest sign of life of that process, or of its node if the process is gone. In
 * the latter case all members get it, unrequested. */
struct Answer {
    MemberId about = 0;
    Life life = 0;
    std::uint32_t silent_ms = 0;
    bool gone = false;
    bool operator==(const Answer &) const = default;
};
struct Accusation {
    MemberId accused = 0;
    Life life = 0;
    Reason reason = Reason::silent;
    bool stands = true; /* false: the accusation is withdrawn */
    bool operator==(const Accusation &) const = default;
};
/* From a process that is not in a view yet. */
struct Hello {
    bool operator==(const Hello &) const = default;
};

/* `number` is the number of the next view. */
struct Prepare {
    std::uint64_t number = 0;
    Ballot ballot;
    bool operator==(const Prepare &) const = default;
};
struct Promise {
    std::uint64_t number = 0;
    Ballot ballot;
    Ballot accepted;            /* the highest ballot with an accepted proposal ... */
    std::optional<View> view{}; /* ... and that proposal */
    bool operator==(const Promise &) const = default;
};
struct Proposal {
    Ballot ballot;
    View view;
    bool operator==(const Proposal &) const = default;
};
struct Acceptance {
    std::uint64_t number = 0;
    Ballot ballot;
    bool operator==(const Acceptance &) const = default;
};
/* Answers a ballot that is lower than a promised one. */
struct Denial {
    std::uint64_t number = 0;
    Ballot promised;
    bool operator==(const Denial &) const = default;
};
/* The sender's view, which a quorum has accepted. */
struct Decision {
    View view;
    bool operator==(const Decision &) const = default;
};

/* The nodes of both members are alive, and one does not receive from the other. */
struct Link {
    MemberId one = 0;
    MemberId other = 0;
    bool dead = true;
    bool operator==(const Link &) const = default;
};
/* To a process of an older incarnation. */
struct Refusal {
    std::uint64_t incarnation = 0; /* the older incarnation */
    bool operator==(const Refusal &) const = default;
};

} // namespace message

using Message =
    std::variant<message::Heartbeat, message::Question, message::Answer,
                 message::Accusation, message::Hello, message::Prepare,
                 message::Promise, message::Proposal, message::Acceptance,
                 message::Denial, message::Decision, message::Link, message::Refusal>;

/* The sender of a message. */
struct Envelope {
    MemberId from = 0;
    Life life = 0;
    std::uint64_t view = 0; /* number of its present view; 0: none yet */
    bool operator==(const Envelope &) const = default;
};

} // namespace ckpt::membership
