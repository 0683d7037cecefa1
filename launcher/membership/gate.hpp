/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gate.hpp - lets the datagrams of this job's present incarnation in, each once, and
 * counts what it does not let in and why (docs/membership.md, section 7).
 */
#pragma once

#include "common/message_key.hpp"
#include "membership/datagram.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

namespace ckpt::membership
{

enum class Drop {
    foreign,     /* too short or long, not of this protocol or version */
    forged,      /* the tag is not ours */
    older,       /* of an older incarnation */
    newer,       /* of a newer one, and no refusal */
    misdirected, /* to another member, or from none of this job */
    former,      /* of a process that several others have followed */
    replayed,    /* seen before, or too late to tell */
    malformed    /* authentic, but no message */
};
constexpr std::size_t drop_reasons = 8;
const char *drop_name(Drop reason);

class Gate
{
  public:
    using Time = std::chrono::steady_clock::time_point;

    struct Identity {
        MessageKey key; /* of the job, the same in all its incarnations */
        std::uint64_t incarnation = 1; /* grows with each launch */
        MemberId self = 0;
        Life life = first_life;
        std::size_t members = 0;
    };

    struct Opened {
        struct Content {
            Envelope envelope;
            Message message;
        };
        std::optional<Content> content;
        std::optional<Drop> dropped;
        /* The job is in this newer incarnation. */
        std::optional<std::uint64_t> superseded_by;
        /* To be sent to where the datagram came from: what tells an older incarnation
         * that it is over. Empty: nothing. */
        std::vector<std::byte> refusal;
    };

    /* Normal context, like all here. */
    explicit Gate(const Identity &identity);

    /* A datagram for a member below `members`. */
    std::vector<std::byte> seal(MemberId to, std::uint64_t view, const Message &message);
    /* `now` bounds how many refusals there are per second. */
    Opened open(std::span<const std::byte> datagram, Time now);

    std::uint64_t dropped(Drop reason) const
    {
        return dropped_[static_cast<std::size_t>(reason)];
    }

  private:
    /* Which of the last 64 numbers have been seen. */
    class Window
    {
      public:
        bool accept(std::uint64_t sequence);

      private:
        std::uint64_t highest_ = 0;
        std::uint64_t seen_ = 0; /* bit i: highest_ - i */
    };
    struct Sender {
        Life floor = 0; /* no process below this any more */
        std::map<Life, Window> windows;
    };

    std::optional<Drop> examine(const DatagramHeader &header);
    Opened answer_older(const DatagramHeader &header, Time now);
    Opened drop(Drop reason);

    Identity identity_;
    MessageKey key_; /* of the datagrams */
    std::vector<std::uint64_t> sent_; /* by member: the last sequence number */
    std::vector<Sender> senders_;     /* by member */
    std::array<std::uint64_t, drop_reasons> dropped_{};
    Time refusals_since_{};
    int refusals_ = 0; /* in that second */
};

} // namespace ckpt::membership
