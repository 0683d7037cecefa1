/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_membership_wire.cpp - datagrams of the membership: the output equals the input, and no
 * datagram that was changed, repeated, misdirected or forged gets in.
 */
#include "fuzz/datagram_samples.hpp"
#include "membership/datagram.hpp"
#include "membership/gate.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <random>
#include <string>

namespace ckpt::membership
{

namespace
{

using namespace std::chrono_literals;
using Bytes = std::vector<std::byte>;

constexpr std::size_t members = 70; /* the last word of a set is not full */

View some_view(std::size_t capacity = members)
{
    View view{5, MemberSet::all(capacity), {}};

    view.members.erase(3);
    view.lives = {{1, 2}, {static_cast<MemberId>(capacity - 1), 77}};
    return view;
}

Gate::Identity identity(MemberId self, std::uint64_t incarnation = 7)
{
    static const MessageKey key = MessageKey::make();
    return {key, incarnation, self, first_life, members};
}

/* Returns a gate's verdict on a datagram with this content and an arbitrary header. */
Bytes crafted(DatagramHeader header, const Message &message)
{
    return encode(header, message,
                  identity(0).key.derive("ckpt membership datagram 1"));
}

DatagramHeader header_to(MemberId to)
{
    DatagramHeader header{};

    header.incarnation = 7;
    header.sequence = 1;
    header.view = 1;
    header.from = 0;
    header.to = to;
    header.life = first_life;
    return header;
}

/* ---- Accepted datagrams -------------------------------------------------- */

TEST(MembershipWire, EachKindOfMessageArrivesAsItWasSent)
{
    Gate sender(identity(0)), receiver(identity(1));
    const auto messages = fuzz::one_of_each(some_view());

    ASSERT_EQ(messages.size(), std::variant_size_v<Message>);
    for (std::size_t i = 0; i < messages.size(); i++) {
        ASSERT_EQ(messages[i].index(), i);
        if (std::holds_alternative<message::Refusal>(messages[i])) {
            continue; /* it only comes from other incarnations */
        }
        auto opened = receiver.open(sender.seal(1, 12, messages[i]), {});
        ASSERT_TRUE(opened.content) << "kind " << i + 1;
        EXPECT_EQ(opened.content->message, messages[i]);
        EXPECT_EQ(opened.content->envelope, (Envelope{0, first_life, 12}));
    }
}

TEST(MembershipWire, APromiseOfNothingHasNoView)
{
    Gate sender(identity(0)), receiver(identity(1));
    const Message promise = message::Promise{5, {1, 0}, {}, {}};

    EXPECT_EQ(receiver.open(sender.seal(1, 1, promise), {}).content->message, promise);
}

TEST(MembershipWire, TheLargestViewFitsIntoADatagram)
{
    Gate::Identity one = identity(0), other = identity(1);
    View view{1, MemberSet::all(most_members), {}};

    one.members = other.members = most_members;
    for (MemberId member = 0; member < most_lives; member++) {
        view.lives[member * 64] = 2;
    }
    Gate sender(one), receiver(other);
    const Message message = message::Promise{1, {1, 0}, {1, 0}, view};
    const Bytes bytes = sender.seal(1, 1, message);
    EXPECT_LE(bytes.size(), longest_datagram);
    EXPECT_EQ(receiver.open(bytes, {}).content->message, message);
}

/* The layout is the one in the documentation, byte by byte. */
TEST(MembershipWire, LayoutIsFixed)
{
    DatagramHeader header = header_to(0x14);
    header.incarnation = 0x0807060504030201;
    header.sequence = 0x1817161514131211;
    header.view = 0x2827262524232221;
    header.from = 0x31;
    header.life = 0x41;
    const Bytes bytes = crafted(header, message::Link{1, 2, true});
    const unsigned char expected[] = {
        'C', 'K', 'M', 'B', 1, 0, 12, 0,                /* magic, version, kind */
        1, 2, 3, 4, 5, 6, 7, 8,                         /* incarnation */
        0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, /* sequence */
        0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28, /* view */
        0x31, 0, 0, 0, 0x14, 0, 0, 0,                   /* from, to */
        0x41, 0, 0, 0, 16, 0, 0, 0,                     /* life, length */
        1, 0, 0, 0, 2, 0, 0, 0,                         /* one, other */
        1, 0, 0, 0, 0, 0, 0, 0};                        /* dead */

    ASSERT_EQ(bytes.size(), sizeof expected + tag_bytes);
    EXPECT_EQ(std::memcmp(bytes.data(), expected, sizeof expected), 0);
}

/* ---- Dropped datagrams --------------------------------------------------- */

TEST(MembershipGate, ADatagramCountsOnce)
{
    Gate sender(identity(0)), receiver(identity(1));
    const Bytes bytes = sender.seal(1, 1, message::Heartbeat{});

    EXPECT_TRUE(receiver.open(bytes, {}).content);
    EXPECT_EQ(receiver.open(bytes, {}).dropped, Drop::replayed);
    EXPECT_EQ(receiver.dropped(Drop::replayed), 1u);
}

TEST(MembershipGate, DatagramsMayOvertakeEachOther)
{
    Gate sender(identity(0)), receiver(identity(1));
    std::vector<Bytes> sent;

    for (int i = 0; i < 100; i++) {
        sent.push_back(sender.seal(1, 1, message::Heartbeat{}));
    }
    EXPECT_TRUE(receiver.open(sent[99], {}).content);
    EXPECT_TRUE(receiver.open(sent[36], {}).content); /* 63 older */
    EXPECT_EQ(receiver.open(sent[35], {}).dropped, Drop::replayed);
    EXPECT_TRUE(receiver.open(sent[98], {}).content);
    EXPECT_EQ(receiver.open(sent[98], {}).dropped, Drop::replayed);
    EXPECT_EQ(receiver.open(sent[99], {}).dropped, Drop::replayed);
}

TEST(MembershipGate, AReplacementBeginsItsNumbersAnew)
{
    Gate::Identity next = identity(0);
    next.life = 2;
    Gate former(identity(0)), later(next), receiver(identity(1));

    for (int i = 0; i < 100; i++) {
        receiver.open(former.seal(1, 1, message::Heartbeat{}), {});
    }
    const Bytes bytes = later.seal(1, 0, message::Hello{});
    EXPECT_EQ(receiver.open(bytes, {}).content->envelope.life, 2u);
    EXPECT_EQ(receiver.open(bytes, {}).dropped, Drop::replayed);
}

TEST(MembershipGate, ProcessesOfLongAgoAreForgottenForGood)
{
    Gate receiver(identity(1));
    std::vector<Bytes> first;

    for (Life life = 1; life <= 6; life++) {
        Gate::Identity one = identity(0);
        one.life = life;
        Gate sender(one);
        first.push_back(sender.seal(1, 1, message::Heartbeat{}));
        EXPECT_TRUE(receiver.open(first.back(), {}).content);
    }
    EXPECT_EQ(receiver.open(first[0], {}).dropped, Drop::former);
    EXPECT_EQ(receiver.open(first[1], {}).dropped, Drop::former);
    EXPECT_EQ(receiver.open(first[2], {}).dropped, Drop::replayed);
}

TEST(MembershipGate, OnlyTheJobsKeyOpens)
{
    Gate::Identity other_job = identity(0);
    other_job.key = MessageKey::make();
    Gate stranger(other_job), receiver(identity(1));

    EXPECT_EQ(receiver.open(stranger.seal(1, 1, message::Heartbeat{}), {}).dropped,
              Drop::forged);
}

TEST(MembershipGate, DatagramsForOthersAndFromNobodyStayOut)
{
    Gate sender(identity(0)), receiver(identity(1));
    DatagramHeader nobody = header_to(1), itself = header_to(1), unborn = header_to(1);

    EXPECT_EQ(receiver.open(sender.seal(2, 1, message::Heartbeat{}), {}).dropped,
              Drop::misdirected);
    nobody.from = members;
    itself.from = 1;
    unborn.life = 0;
    for (const DatagramHeader &header : {nobody, itself, unborn}) {
        EXPECT_EQ(receiver.open(crafted(header, message::Heartbeat{}), {}).dropped,
                  Drop::misdirected);
    }
}

TEST(MembershipGate, WhatIsNoDatagramOfOursIsForeign)
{
    Gate receiver(identity(1));
    Bytes version = crafted(header_to(1), message::Heartbeat{});
    Bytes magic = version, longer = version;

    version[4] = std::byte{2};
    magic[0] = std::byte{'X'};
    longer.push_back(std::byte{0});
    for (const Bytes &bytes : {version, magic, longer, Bytes{}, Bytes(2000)}) {
        EXPECT_EQ(receiver.open(bytes, {}).dropped, Drop::foreign);
    }
    EXPECT_EQ(receiver.dropped(Drop::foreign), 5u);
}

/* The sender has the key, and another definition of messages. */
TEST(MembershipGate, AnAuthenticDatagramMayStillBeMalformed)
{
    Gate receiver(identity(1));
    DatagramHeader header = header_to(1);
    View outside{5, MemberSet::all(128), {}}; /* a table of another length */
    View stranger = some_view(), first = some_view(), nobody = some_view();

    stranger.lives[3] = 2; /* the view does not contain it */
    first.lives[1] = 1;
    nobody.members = MemberSet(members);
    nobody.lives.clear();
    const std::vector<Message> wrong = {
        message::Question{members},
        message::Answer{1, 0, 0, false},
        message::Accusation{1, 1, Reason::unknown, true},
        message::Accusation{1, 1, static_cast<Reason>(9), true},
        message::Prepare{0, {1, 0}},
        message::Prepare{1, {0, 0}},
        message::Prepare{1, {1, members}},
        message::Promise{5, {1, 0}, {0, 1}, {}},
        message::Promise{5, {1, 0}, {1, 0}, {}},
        message::Promise{4, {1, 0}, {1, 0}, some_view()},
        message::Decision{outside},
        message::Decision{stranger},
        message::Decision{first},
        message::Decision{nobody},
        message::Link{1, 1, true},
        message::Refusal{7}};

    for (const Message &message : wrong) {
        EXPECT_EQ(receiver.open(crafted(header, message), {}).dropped, Drop::malformed)
            << header.sequence << " kind " << message.index() + 1;
        header.sequence++;
    }
    EXPECT_EQ(receiver.dropped(Drop::malformed), wrong.size());
}

/* ---- Incarnations -------------------------------------------------------- */

TEST(MembershipGate, AnOlderIncarnationLearnsThatItIsOver)
{
    Gate old(identity(0, 6)), present(identity(1, 7));

    auto opened = present.open(old.seal(1, 3, message::Heartbeat{}), {});
    EXPECT_EQ(opened.dropped, Drop::older);
    EXPECT_FALSE(opened.content);
    ASSERT_FALSE(opened.refusal.empty());
    auto told = old.open(opened.refusal, {});
    EXPECT_EQ(told.superseded_by, 7u);
    EXPECT_FALSE(told.content);
}

TEST(MembershipGate, NothingElseOfANewerIncarnationIsHeard)
{
    Gate old(identity(0, 6)), present(identity(1, 7)), oldest(identity(0, 5));

    auto opened = old.open(present.seal(0, 3, message::Heartbeat{}), {});
    EXPECT_EQ(opened.dropped, Drop::newer);
    EXPECT_FALSE(opened.superseded_by);
    EXPECT_TRUE(opened.refusal.empty());
    /* A refusal is for the one incarnation that it names, and not for a present one. */
    auto refusal = present.open(oldest.seal(1, 1, message::Heartbeat{}), {}).refusal;
    EXPECT_EQ(old.open(refusal, {}).dropped, Drop::newer);
    Gate same(identity(0, 7));
    EXPECT_EQ(same.open(refusal, {}).dropped, Drop::replayed); /* it has no number */
}

TEST(MembershipGate, RefusalsAreFewAndOnlyForThoseWhoHaveTheKey)
{
    Gate old(identity(0, 6)), present(identity(1, 7));
    Bytes forged = old.seal(1, 1, message::Heartbeat{});
    int refusals = 0;

    forged.back() ^= std::byte{1};
    EXPECT_TRUE(present.open(forged, {}).refusal.empty());
    for (int i = 0; i < 1000; i++) {
        auto opened = present.open(old.seal(1, 1, message::Heartbeat{}),
                                   Gate::Time{} + 10s + i * 1ms);
        refusals += opened.refusal.empty() ? 0 : 1;
    }
    EXPECT_EQ(refusals, 16);
    EXPECT_FALSE(
        present.open(old.seal(1, 1, message::Heartbeat{}), Gate::Time{} + 11s)
            .refusal.empty());
}

/* ---- Fuzzing ------------------------------------------------------------- */

int rounds()
{
    const char *wanted = std::getenv("CKPT_FUZZ_ROUNDS"); /* for longer runs */
    return wanted != nullptr ? std::atoi(wanted) : 60000;
}

class Fuzzer
{
  public:
    explicit Fuzzer(unsigned seed)
        : random_(seed) {}

    std::size_t below(std::size_t end)
    {
        return std::uniform_int_distribution<std::size_t>(0, end - 1)(random_);
    }

    /* Changes bits, sets whole bytes, cuts, or adds. */
    void damage(Bytes &bytes)
    {
        for (std::size_t times = 1 + below(4); times > 0 && !bytes.empty(); times--) {
            const std::size_t at = below(bytes.size());
            switch (below(6)) {
            case 0:
            case 1:
                bytes[at] ^= std::byte(1 << below(8));
                break;
            case 2:
                bytes[at] = std::byte(below(256));
                break;
            case 3:
                bytes[at] = below(2) == 0 ? std::byte{0} : std::byte{255};
                break;
            case 4:
                bytes.resize(at);
                break;
            default:
                bytes.insert(bytes.begin() + static_cast<long>(at), 1 + below(20),
                             std::byte(below(256)));
            }
        }
    }

    Bytes noise()
    {
        Bytes bytes(below(longest_datagram + 100));
        for (std::byte &byte : bytes) {
            byte = std::byte(below(256));
        }
        return bytes;
    }

  private:
    std::mt19937 random_;
};

TEST(MembershipFuzz, DamagedDatagramsStayOut)
{
    const auto messages = fuzz::one_of_each(some_view());
    Fuzzer fuzzer(1);
    Gate sender(identity(0)), receiver(identity(1));

    for (int i = 0; i < rounds(); i++) {
        Bytes bytes = sender.seal(1, 1, messages[fuzzer.below(messages.size() - 1)]);
        const Bytes whole = bytes;
        fuzzer.damage(bytes);
        auto opened = receiver.open(bytes, {});
        ASSERT_EQ(opened.content.has_value(), bytes == whole) << "round " << i;
        EXPECT_TRUE(opened.refusal.empty());
    }
}

TEST(MembershipFuzz, NoiseStaysOut)
{
    Fuzzer fuzzer(2);
    Gate receiver(identity(1));

    for (int i = 0; i < rounds() / 10; i++) {
        Bytes bytes = fuzzer.noise();
        EXPECT_FALSE(receiver.open(bytes, {}).content);
    }
}

/* The tag counts as right. The decoder accepts only messages, and reads only the datagram. */
TEST(MembershipFuzz, TheDecoderTakesOnlyWhatTheEncoderMakes)
{
    const auto messages = fuzz::one_of_each(some_view());
    const MessageKey key = MessageKey::make();
    Fuzzer fuzzer(3);
    int taken = 0;

    for (int i = 0; i < rounds(); i++) {
        Bytes bytes = encode(header_to(1), messages[fuzzer.below(messages.size())], key);
        fuzzer.damage(bytes);
        if (bytes.size() < sizeof(DatagramHeader) + tag_bytes) {
            continue;
        }
        auto exact = std::make_unique<std::byte[]>(bytes.size()); /* for sanitizers */
        std::copy(bytes.begin(), bytes.end(), exact.get());
        const std::span<const std::byte> datagram(exact.get(), bytes.size());
        auto message = decode_message(datagram, members);
        if (message && decode_header(datagram)) {
            const Bytes again = encode(*decode_header(datagram), *message, key);
            taken++;
            ASSERT_EQ(again.size(), bytes.size());
            EXPECT_TRUE(std::equal(again.begin(), again.end() - tag_bytes, bytes.begin()))
                << "round " << i;
        }
    }
    EXPECT_GT(taken, rounds() / 100); /* the gate does not drop everything */
}

} // namespace

} // namespace ckpt::membership
