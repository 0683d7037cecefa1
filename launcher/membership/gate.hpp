/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gate.hpp - accepts the datagrams of this job's present incarnation, each once, and counts the
 * others by reason (docs/membership.md, section 7).
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
    foreign,     /* too short or long, or of another protocol or version */
    forged,      /* wrong tag */
    older,       /* of an older incarnation */
    newer,       /* of a newer incarnation, but not a refusal */
    misdirected, /* for another member, or not from a member of this job */
    former,      /* of a process that several later processes have replaced */
    replayed,    /* seen before, or too old to tell */
    malformed    /* authentic, but not a valid message */
};
constexpr std::size_t drop_reasons = 8;

class Gate
{
  public:
    using Time = std::chrono::steady_clock::time_point;

    struct Identity {
        MessageKey key;                /* of the job, the same in all its incarnations */
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
        /* Set if the job runs in this newer incarnation. */
        std::optional<std::uint64_t> superseded_by;
        /* To be sent to the datagram's sender: tells an older incarnation that it is over.
         * Empty: send nothing. */
        std::vector<std::byte> refusal;
    };

    /* Normal context, like all functions here. */
    explicit Gate(const Identity &identity);

    /* Returns a datagram for a member below `members`. */
    std::vector<std::byte> seal(MemberId to, std::uint64_t view, const Message &message);
    /* `now` limits the number of refusals per second. */
    Opened open(std::span<const std::byte> datagram, Time now);

    std::uint64_t dropped(Drop reason) const
    {
        return dropped_[static_cast<std::size_t>(reason)];
    }

  private:
    /* Records which of the latest 64 numbers have been seen. */
    class Window
    {
      public:
        bool accept(std::uint64_t sequence);

      private:
        std::uint64_t highest_ = 0;
        std::uint64_t seen_ = 0; /* bit i: highest_ - i */
    };
    struct Sender {
        Life floor = 0; /* processes with a lower life are rejected */
        std::map<Life, Window> windows;
    };

    std::optional<Drop> examine(const DatagramHeader &header);
    Opened answer_older(const DatagramHeader &header, Time now);
    Opened drop(Drop reason);

    Identity identity_;
    MessageKey key_;                  /* for datagrams */
    std::vector<std::uint64_t> sent_; /* by member: the latest sequence number */
    std::vector<Sender> senders_;     /* by member */
    std::array<std::uint64_t, drop_reasons> dropped_{};
    Time refusals_since_{};
    int refusals_ = 0; /* in that second */
};

} // namespace ckpt::membership
