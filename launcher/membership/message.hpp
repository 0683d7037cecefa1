/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * message.hpp - what members say to each other (docs/membership.md, section 6 has the
 * layouts).
 */
#pragma once

#include "membership/view.hpp"

#include <compare>
#include <cstdint>
#include <optional>
#include <variant>

namespace ckpt::membership
{

/* Names one attempt to agree on the next view; the higher one wins. */
struct Ballot {
    std::uint32_t round = 0; /* 0: none */
    MemberId proposer = 0;

    auto operator<=>(const Ballot &) const = default;
};

/* Why a member is to leave the view. */
enum class Reason : std::uint32_t {
    unknown = 0, /* who has missed the accusation does not know */
    silent = 1,  /* no sign of life, of the process nor of its node */
    gone = 2,    /* its process has ended, and none has come in its place */
    leaving = 3  /* it says so itself */
};
const char *reason_name(Reason reason);

namespace message
{

struct Heartbeat {
    bool probe = false; /* asks for one in return */
    bool operator==(const Heartbeat &) const = default;
};
/* To the other watcher of a neighbour: have you heard it? */
struct Question {
    MemberId about = 0;
    bool operator==(const Question &) const = default;
};
/* The last sign of life of that process or, if it is gone, of its node; the latter is
 * told to all, unasked. */
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
    bool stands = true; /* false: it is withdrawn */
    bool operator==(const Accusation &) const = default;
};
/* Of a process that is in no view yet. */
struct Hello {
    bool operator==(const Hello &) const = default;
};

/* `number` is that of the view to come. */
struct Prepare {
    std::uint64_t number = 0;
    Ballot ballot;
    bool operator==(const Prepare &) const = default;
};
struct Promise {
    std::uint64_t number = 0;
    Ballot ballot;
    Ballot accepted;            /* the highest of which it has accepted a proposal, ... */
    std::optional<View> view{}; /* ... and that */
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
/* To a ballot that is lower than one promised. */
struct Denial {
    std::uint64_t number = 0;
    Ballot promised;
    bool operator==(const Denial &) const = default;
};
/* The view of the sender, which a quorum has accepted. */
struct Decision {
    View view;
    bool operator==(const Decision &) const = default;
};

/* The nodes of both are alive, and one does not hear the other. */
struct Link {
    MemberId one = 0;
    MemberId other = 0;
    bool dead = true;
    bool operator==(const Link &) const = default;
};
/* To a process of an older incarnation. */
struct Refusal {
    std::uint64_t incarnation = 0; /* that one */
    bool operator==(const Refusal &) const = default;
};

} // namespace message

using Message =
    std::variant<message::Heartbeat, message::Question, message::Answer,
                 message::Accusation, message::Hello, message::Prepare,
                 message::Promise, message::Proposal, message::Acceptance,
                 message::Denial, message::Decision, message::Link, message::Refusal>;

/* Who says it. */
struct Envelope {
    MemberId from = 0;
    Life life = 0;
    std::uint64_t view = 0; /* the number of its present one; 0: none yet */
    bool operator==(const Envelope &) const = default;
};

} // namespace ckpt::membership
