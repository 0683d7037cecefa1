/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * frame_decoders.cpp - decoders of messages between agents of different nodes:
 * frames, the handshake, and the JSON objects in frames.
 */
#include "config.h"
#include "fuzz/decoders.hpp"
#include "fuzz/samples.hpp"

#include "agent/blocks/block_request.hpp"
#include "agent/links/frame_seal.hpp"
#include "agent/messages/frames.hpp"
#include "agent/links/handshake.hpp"
#include "agent/messages/recovery_message.hpp"
#include "agent/messages/redundancy_order.hpp"
#include "agent/base/rejected_frames.hpp"
#include "agent/messages/sweep_plan.hpp"
#include "common/error.hpp"
#include "protocol/rank_message.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

namespace ckpt::fuzz
{

namespace
{

using nlohmann::json;

constexpr std::size_t limit = 1u << 16; /* bytes of a payload */

/* Constant, so that runs are reproducible. */
MessageKey fixed_key()
{
    return *MessageKey::parse(std::string(64, '1'));
}

PeerAddress own_address()
{
    PeerAddress address = PeerAddress::make();

    address.key = fixed_key();
    address.hosts = {"n1"};
    address.port = 1234;
    return address;
}

const PeerIdentity self = {"launch", "n1", 1};

/* Passes the bytes in parts, as they come from a socket; the first byte determines
 * the size of a part. */
void read_frames(const std::string &bytes)
{
    FrameReader reader(limit);
    FrameSeal seal(fixed_key());
    const std::size_t part = bytes.empty() ? 1 : 1 + static_cast<unsigned char>(bytes[0]);

    for (std::size_t at = 0; at < bytes.size(); at += part) {
        reader.add(std::string_view(bytes).substr(at, part));
        while (auto frame = reader.next()) {
            require(frame->payload.size() <= limit, "a frame beyond the limit");
            require(frame->bytes().size() == sizeof(FrameHeader) + frame->payload.size(),
                    "a frame of another size");
            seal.check(*frame);
        }
    }
}

std::string sealed_frames()
{
    FrameSeal seal(fixed_key());
    std::string bytes;

    for (const char *payload : {"{}", "", R"({"type": "node"})"}) {
        bytes += seal.seal(payload);
    }
    return bytes;
}

/* Returns the challenge that a listener sends first. */
std::string challenge_of(const ListenerHandshake &listening)
{
    FrameReader reader(longest_handshake);

    reader.add(listening.challenge());
    return reader.next()->payload;
}

/* The caller has the key, and answers this challenge. */
void examine_call(const std::string &text)
{
    const ListenerHandshake listening;
    json call = json::parse(text, nullptr, false);

    if (call.is_object() && call.contains("challenge")) {
        call["challenge"] = challenge_of(listening);
    }
    Frame frame = make_frame(FrameKind::call, 0, call.is_discarded() ? text : call.dump());

    put_tag(fixed_key().derive("call"), {}, frame);
    (void)listening.examine(frame, own_address(), self);
}

std::string good_call()
{
    const ListenerHandshake listening;
    CallerHandshake calling(own_address(), self, "agent");
    FrameReader reader(longest_handshake);

    reader.add(listening.challenge());
    const std::string bytes = calling.call(*reader.next());
    FrameReader answer(longest_handshake);
    answer.add(bytes);
    return answer.next()->payload;
}

/* A decoder of JSON, and a value that it accepts. */
template <typename Decode>
Decoder json_decoder(std::string name, const json &good, Decode decode)
{
    return {std::move(name), {good.dump()}, [decode](const std::string &text) {
                decode(json::parse(text));
            }};
}

json some_order()
{
    return to_frame(
        RedundancyOrder{1,
                        "/d/job/000001",
                        redundancy::Group::make(1, {{"a", "node-a.h5", 1}, {"b", "node-b.h5", 2}}),
                        0,
                        {"1 a", "1 b"}});
}

/* An accepted plan must survive encoding and decoding. */
void decode_plan(const json &frame)
{
    const SweepPlan plan = sweep_plan_from(frame);

    require(plan.rank_count() >= 0, "a plan of less than no ranks");
    require(sweep_plan_from(to_frame(plan)) == plan, "a plan that cannot be said again");
}

std::vector<std::string> recovery_frames()
{
    const world::FenceId fence{"ckpt-a.1.1", {0, 2}, 3};
    std::vector<std::string> all;

    for (const RecoveryMessage &message : std::vector<RecoveryMessage>{
             RecoveryOrder{RecoveryOrder::Step::thaw, 3, 1, 7, "job/7", "ckpt-a.1.1", ""},
             RecoveryReport{RecoveryReport::Step::failed, 3, 1, 2, 0, true, "why"},
             NextWorldOrder{"ckpt-a.1.1", {{"n1", {0, 2}}, {"n2", {1}}}},
             world::FencePart{fence, "data"}, world::FenceResult{fence, true, "data"}}) {
        all.push_back(recovery_frame(message).dump());
    }
    return all;
}

void decode_recovery(const std::string &text)
{
    const RecoveryMessage message = recovery_message_from(json::parse(text));
    const json again = recovery_frame(message);

    require(recovery_frame(recovery_message_from(again)) == again,
            "a message of a recovery that cannot be said again");
}

/* One message of each type that this side sends, with the least values of its fields. */
std::vector<ckpt_message> valid_messages(ckpt_sender sender)
{
    std::vector<ckpt_message> valid;

    for (unsigned i = 0; i < ckpt_message_format_count; i++) {
        const ckpt_message_format &format = ckpt_message_formats[i];
        if (format.sender == static_cast<std::uint32_t>(sender)) {
            ckpt_message &message = valid.emplace_back(make_message(format.type, 1));
            for (std::uint32_t j = 0; j < format.field_count; j++) {
                message.as.field[j] = format.field[j].least;
            }
            if (format.type == CKPT_MSG_WATCHED) {
                message.as.watched.state = CKPT_WATCHED_CLOSED;
            }
        }
    }
    return valid;
}

std::vector<std::string> messages(ckpt_sender sender)
{
    std::vector<std::string> all;

    for (const ckpt_message &message : valid_messages(sender)) {
        all.emplace_back(reinterpret_cast<const char *>(&message), sizeof message);
    }
    return all;
}

std::vector<std::string> message_frames(ckpt_sender sender)
{
    std::vector<std::string> all;

    for (const ckpt_message &message : valid_messages(sender)) {
        all.push_back(to_frame(message).dump());
    }
    return all;
}

/* An accepted message must be valid for its sender, and can be sent again. */
void require_valid(ckpt_message message, ckpt_sender sender)
{
    const char *wrong = nullptr;

    require(ckpt_message_encode(&message, sender, &wrong) == 0, "a message that is not valid");
    require(ckpt_message_decode(&message, sizeof message, sender, &wrong) == 0,
            "a message that cannot be sent again");
}

void decode_message(const std::string &bytes, ckpt_sender sender)
{
    ckpt_message message{};
    const char *wrong = nullptr;

    std::memcpy(&message, bytes.data(), std::min(bytes.size(), sizeof message));
    if (ckpt_message_decode(&message, bytes.size(), sender, &wrong) != 0) {
        fail("an invalid {}", wrong);
    }
    require_valid(message, sender);
}

void decode_message_frame(const std::string &text, ckpt_sender sender)
{
    const ckpt_message message = message_from(json::parse(text), sender);

    require_valid(message, sender);
    const json again = to_frame(message);
    require(to_frame(message_from(again, sender)) == again, "a message that cannot be said again");
}

void decode_answer(const json &frame)
{
    const auto answer = frame.get<redundancy::BlockAnswer>();
    const json again = answer;

    (void)again.get<redundancy::BlockAnswer>();
}

void decode_request(const json &frame)
{
    const json again = frame.get<redundancy::BlockRequest>();

    (void)again.get<redundancy::BlockRequest>();
}

void decode_address(const std::string &text)
{
    if (const auto address = PeerAddress::parse(text)) {
        require(PeerAddress::parse(address->text())->text() == address->text(),
                "an address that cannot be said again");
    }
    (void)PeerAddress::at(text, fixed_key());
}

} // namespace

std::vector<Decoder> frame_decoders()
{
    const json clocks = to_frame(std::vector<ckpt_clock>{{1, 2, 3, 4, 5}, {6, 7, 8, 9, 10}});
    redundancy::BlockAnswer answer{"", 4096, 4096, {}, ""};

    answer.lent = fabric::Lent{"address", 1, 2};
    return {
        {"frames", {sealed_frames()}, read_frames},
        {"call", {good_call()}, examine_call},
        {"address", {own_address().text(), own_address().place()}, decode_address},
        json_decoder("clocks", clocks, [](const json &it) { (void)clocks_from(it); }),
        {"said", message_frames(CKPT_FROM_RANK),
         [](const std::string &text) { decode_message_frame(text, CKPT_FROM_RANK); }},
        {"order", message_frames(CKPT_FROM_AGENT),
         [](const std::string &text) { decode_message_frame(text, CKPT_FROM_AGENT); }},
        {"rank_message", messages(CKPT_FROM_RANK),
         [](const std::string &bytes) { decode_message(bytes, CKPT_FROM_RANK); }},
        {"agent_message", messages(CKPT_FROM_AGENT),
         [](const std::string &bytes) { decode_message(bytes, CKPT_FROM_AGENT); }},
        json_decoder("file_system", to_frame(FileSystem{}),
                     [](const json &it) { (void)file_system_from(it); }),
        json_decoder("piece", some_piece(), [](const json &it) { (void)piece_from(it); }),
        json_decoder("seen", some_seen(), [](const json &it) { (void)seen_from(it); }),
        json_decoder("sweep_plan", some_plan(), decode_plan),
        {"recovery_message", recovery_frames(), decode_recovery},
        json_decoder("redundancy_order", some_order(),
                     [](const json &it) { (void)redundancy_order_from(it); }),
        json_decoder("block_request",
                     json(redundancy::BlockRequest{"job/000001/node-a.h5", 0, 4096, "tcp"}),
                     decode_request),
        json_decoder("block_answer", json(answer), decode_answer),
    };
}

} // namespace ckpt::fuzz
