/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_handshake.cpp - callers with and without the job's key; messages that are forged, changed,
 * repeated, left out or truncated.
 */
#include "config.h"
#include "agent/links/handshake.hpp"

#include "agent/links/frame_seal.hpp"
#include "agent/base/rejected_frames.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <functional>
#include <optional>

namespace ckpt
{

namespace
{

const PeerIdentity n1 = {"launch", "n1", 3};
const PeerIdentity n2 = {"launch", "n2", 3};

PeerAddress address_of(const MessageKey &key)
{
    PeerAddress address;

    address.port = 1;
    address.key = key;
    address.hosts = {"n1", "10.0.0.1"};
    return address;
}

/* Returns the only frame in these bytes. */
Frame frame_of(const std::string &bytes)
{
    FrameReader reader(longest_handshake);

    reader.add(bytes);
    auto frame = reader.next();
    EXPECT_TRUE(frame && !reader.is_within());
    return frame.value_or(Frame());
}

/* Returns the reason why `action` is refused; nothing if it succeeds. */
std::optional<Rejection> rejection_of(const std::function<void()> &action)
{
    try {
        action();
    } catch (const Rejected &refused) {
        return refused.why();
    }
    return {};
}

/* A call from n2 to n1. */
struct Call {
    explicit Call(const MessageKey &key = MessageKey::make(), PeerIdentity caller = n2)
        : address(address_of(key)), calling(address, std::move(caller), "agent"),
          call(frame_of(calling.call(frame_of(listening.challenge()))))
    {
    }

    ListenerHandshake::Caller examine(const Frame &frame) const
    {
        return listening.examine(frame, address, n1);
    }

    PeerAddress address;
    ListenerHandshake listening;
    CallerHandshake calling;
    Frame call;
};

TEST(Handshake, BothHaveTheSameKeysAndKnowWhoCalls)
{
    const Call one;
    const auto caller = one.examine(one.call);
    const SessionKeys keys = one.calling.accept(frame_of(caller.answer));

    EXPECT_EQ(caller.host, "n2");
    EXPECT_EQ(caller.purpose, "agent");
    EXPECT_EQ(caller.obstacle, "");
    EXPECT_EQ(keys.from_caller, caller.keys.from_caller);
    EXPECT_EQ(keys.from_listener, caller.keys.from_listener);
    EXPECT_FALSE(keys.from_caller == keys.from_listener);
}

TEST(Handshake, TheKeyIsNeverSaidAndNoTwoConversationsHaveTheSame)
{
    const MessageKey key = MessageKey::make();
    const Call one(key), other(key);
    const auto caller = one.examine(one.call);

    for (const std::string &said :
         {one.listening.challenge(), one.call.bytes(), caller.answer}) {
        EXPECT_EQ(said.find(key.text()), std::string::npos);
    }
    EXPECT_FALSE(caller.keys.from_caller ==
                 other.examine(other.call).keys.from_caller);
}

TEST(Handshake, WhoDoesNotHaveTheKeyIsRefused)
{
    Call one;
    const MessageKey wrong = MessageKey::make();

    CallerHandshake stranger(address_of(wrong), n2, "agent");
    const Frame call = frame_of(stranger.call(frame_of(one.listening.challenge())));
    EXPECT_EQ(rejection_of([&] { one.examine(call); }), Rejection::forged);

    /* The same in the role of the called agent. */
    const auto caller = one.examine(one.call);
    Frame answer = frame_of(caller.answer);
    put_tag(wrong, one.listening.challenge() + one.call.bytes(), answer);
    EXPECT_EQ(rejection_of([&] { one.calling.accept(answer); }), Rejection::forged);
}

TEST(Handshake, ARecordedCallOrAnswerIsWorthNothing)
{
    const MessageKey key = MessageKey::make();
    const Call recorded(key);
    const auto answer = recorded.examine(recorded.call).answer;
    const Call now(key);

    EXPECT_EQ(rejection_of([&] { now.examine(recorded.call); }), Rejection::replayed);
    EXPECT_EQ(rejection_of([&] { now.calling.accept(frame_of(answer)); }),
              Rejection::forged);
}

TEST(Handshake, WhatOneSideSaysCannotBeGivenBackToIt)
{
    const Call one;
    Frame as_answer = one.call;
    as_answer.header.kind = static_cast<std::uint16_t>(FrameKind::answer);

    EXPECT_EQ(rejection_of([&] { one.calling.accept(one.call); }), Rejection::malformed);
    EXPECT_EQ(rejection_of([&] { one.calling.accept(as_answer); }), Rejection::forged);
    EXPECT_EQ(rejection_of([&] {
                  one.calling.accept(frame_of(one.listening.challenge()));
              }),
              Rejection::malformed);
}

/* The agents that an agent calls also call it, and all have the same key. */
TEST(Handshake, ACallForAnotherNodeIsRefused)
{
    const Call one;
    PeerAddress other = one.address;
    other.hosts = {"n2"};

    const auto caller = one.listening.examine(one.call, other, n2);
    EXPECT_NE(caller.obstacle.find("it has called n1"), std::string::npos)
        << caller.obstacle;
}

TEST(Handshake, AnotherIncarnationOrLaunchIsToldWhy)
{
    for (const auto &[caller, word] :
         {std::pair(PeerIdentity{"launch", "n2", 2}, "incarnation 2, not 3"),
          std::pair(PeerIdentity{"lunch", "n2", 3}, "launch 'lunch'")}) {
        const Call one(MessageKey::make(), caller);
        const auto answer = one.examine(one.call);
        EXPECT_NE(answer.obstacle.find(word), std::string::npos) << answer.obstacle;
        EXPECT_EQ(rejection_of([&] { one.calling.accept(frame_of(answer.answer)); }),
                  Rejection::foreign);
    }
}

/* The tag is right: an agent of the job with another version might send it. */
TEST(Handshake, ACallWithoutItsFieldsIsRefused)
{
    const Call one;
    const auto fields = nlohmann::json::parse(one.call.payload);

    for (const auto &[name, value] : fields.items()) {
        if (name == "nonce") {
            continue; /* only bytes are counted */
        }
        auto changed = fields;
        changed.erase(name);
        Frame call = make_frame(FrameKind::call, 0, changed.dump());
        put_tag(one.address.key.derive("call"), {}, call);
        EXPECT_EQ(rejection_of([&] { one.examine(call); }), Rejection::malformed) << name;
    }
    for (const char *text : {"", "[]", "{", "null"}) {
        Frame call = make_frame(FrameKind::call, 0, text);
        put_tag(one.address.key.derive("call"), {}, call);
        EXPECT_EQ(rejection_of([&] { one.examine(call); }), Rejection::malformed) << text;
    }
}

/* ---- Messages ---------------------------------------------------------------- */

TEST(FrameSeal, MessagesArriveInOrder)
{
    const MessageKey key = MessageKey::make();
    FrameSeal sender(key), receiver(key);

    for (const char *text : {"one", "", "three"}) {
        const Frame frame = frame_of(sender.seal(text));
        EXPECT_NO_THROW(receiver.check(frame));
        EXPECT_EQ(frame.payload, text);
    }
}

TEST(FrameSeal, EveryChangedBitIsSeen)
{
    const MessageKey key = MessageKey::make();
    const std::string bytes = FrameSeal(key).seal("text");

    for (std::size_t bit = 0; bit < 8 * bytes.size(); bit++) {
        std::string changed = bytes;
        changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ 1 << bit % 8);
        FrameReader reader(longest_handshake);
        reader.add(changed);
        auto why = rejection_of([&] {
            auto frame = reader.next();
            if (!frame) { /* the frame claims to be longer */
                reject(Rejection::malformed, "cut off");
            }
            FrameSeal(key).check(*frame);
        });
        EXPECT_TRUE(why) << "bit " << bit;
    }
}

TEST(FrameSeal, RepeatedAndMissingMessagesAreSeen)
{
    const MessageKey key = MessageKey::make();
    FrameSeal sender(key), receiver(key);
    const Frame first = frame_of(sender.seal("1")), second = frame_of(sender.seal("2")),
                third = frame_of(sender.seal("3"));

    receiver.check(first);
    EXPECT_EQ(rejection_of([&] { receiver.check(first); }), Rejection::replayed);
    EXPECT_EQ(rejection_of([&] { receiver.check(third); }), Rejection::replayed);
    EXPECT_EQ(rejection_of([&] { FrameSeal(MessageKey::make()).check(first); }),
              Rejection::forged);
    EXPECT_NO_THROW(receiver.check(second));
}

TEST(FrameReader, SaysAsSoonAsItCanThatSomethingIsNoFrame)
{
    auto after = [](const std::string &bytes) {
        return rejection_of([&] {
            FrameReader reader(longest_handshake);
            reader.add(bytes);
            EXPECT_FALSE(reader.next());
            EXPECT_EQ(reader.is_within(), !bytes.empty());
        });
    };
    const std::string good = make_frame(FrameKind::call, 0, "text").bytes();
    for (std::size_t size = 0; size < good.size(); size++) {
        EXPECT_FALSE(after(good.substr(0, size))) << size;
    }
    EXPECT_EQ(after("GET / HTTP/1.1"), Rejection::malformed);
    std::string other = good;
    other[offsetof(FrameHeader, version)]++;
    EXPECT_EQ(after(other.substr(0, 6)), Rejection::foreign);
    Frame longer = make_frame(FrameKind::call, 0, "");
    longer.header.length = longest_handshake + 1;
    EXPECT_EQ(after(longer.bytes()), Rejection::malformed);
}

} // namespace

} // namespace ckpt
