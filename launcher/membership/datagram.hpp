/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * datagram.hpp - messages between members as bytes (docs/membership.md, section 6): a header, a
 * body and a tag, little endian with fixed widths.
 */
#pragma once

#include "common/message_key.hpp"
#include "membership/message.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace ckpt::membership
{

static_assert(std::endian::native == std::endian::little);

constexpr std::uint32_t datagram_magic = 0x424d4b43; /* "CKMB" */
constexpr std::uint16_t datagram_version = 1;
constexpr std::size_t tag_bytes = 16;
/* Networks do not fragment datagrams of this length (IPv6 carries 1280 bytes with headers). */
constexpr std::size_t longest_datagram = 1200;

/* The kind of a message is its index in the variant, from 1. */
struct DatagramHeader {
    std::uint32_t magic;
    std::uint16_t version;
    std::uint16_t kind;
    std::uint64_t incarnation;
    std::uint64_t sequence; /* from this process to this member, from 1 */
    std::uint64_t view;     /* of the sender */
    std::uint32_t from;
    std::uint32_t to;
    std::uint32_t life; /* of the sender */
    std::uint32_t body_bytes;
};
static_assert(sizeof(DatagramHeader) == 48);

namespace wire
{
struct Heartbeat {
    std::uint32_t probe;
    std::uint32_t zero;
};
struct Question {
    std::uint32_t about;
    std::uint32_t zero;
};
struct Answer {
    std::uint32_t about;
    std::uint32_t life;
    std::uint32_t silent_ms;
    std::uint32_t gone;
};
struct Accusation {
    std::uint32_t accused;
    std::uint32_t life;
    std::uint32_t reason;
    std::uint32_t stands;
};
/* Body of Prepare, Acceptance and Denial. */
struct Vote {
    std::uint64_t number;
    std::uint32_t round;
    std::uint32_t proposer;
};
/* A View follows if accepted_round is not 0. */
struct Promise {
    Vote vote;
    std::uint32_t accepted_round;
    std::uint32_t accepted_proposer;
};
/* A View follows. */
struct Proposal {
    std::uint32_t round;
    std::uint32_t proposer;
};
/* The whole body of a Decision. One bit per member of the table follows, in words of 64 bits,
 * and then the lives. */
struct View {
    std::uint64_t number;
    std::uint32_t capacity; /* members of the table */
    std::uint32_t lives;
};
struct LifeOf {
    std::uint32_t member; /* ascending */
    std::uint32_t life;   /* above 1 */
};
struct Link {
    std::uint32_t one;
    std::uint32_t other;
    std::uint32_t dead;
    std::uint32_t zero;
};
struct Refusal {
    std::uint64_t incarnation;
};
static_assert(sizeof(Heartbeat) == 8 && sizeof(Question) == 8 && sizeof(Answer) == 16);
static_assert(sizeof(Accusation) == 16 && sizeof(Vote) == 16 && sizeof(Promise) == 24);
static_assert(sizeof(Proposal) == 8 && sizeof(View) == 16 && sizeof(LifeOf) == 8);
static_assert(sizeof(Link) == 16 && sizeof(Refusal) == 8);
static_assert(sizeof(DatagramHeader) + sizeof(Promise) + sizeof(View) +
                  MemberSet::words_for(most_members) * sizeof(MemberSet::Word) +
                  most_lives * sizeof(LifeOf) + tag_bytes <=
              longest_datagram);
} // namespace wire

/* Normal context, all functions here. encode() returns the bytes of a datagram. It sets the
 * kind, the length and the constants of the header; the caller sets the other fields. */
std::vector<std::byte> encode(DatagramHeader header, const Message &message,
                              const MessageKey &key);

/* Returns the header of bytes that may be a datagram of this version. They are long enough for a
 * header and a tag, and have the length in the header. Nothing is authenticated. */
std::optional<DatagramHeader> decode_header(std::span<const std::byte> datagram);
/* Whether the sender of a datagram with a valid header has the key. */
bool is_authentic(std::span<const std::byte> datagram, const MessageKey &key);
/* Returns the message of a datagram with a valid header, if every bit is valid in a job with
 * `members` members. */
std::optional<Message> decode_message(std::span<const std::byte> datagram,
                                      std::size_t members);

} // namespace ckpt::membership
