/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * handshake.cpp - challenge, call and answer.
 *
 * Each tag covers all earlier frames and its own frame, and uses a key for this kind of frame only.
 * So a message of one side cannot be sent back to it as a message of the other side. It is also
 * invalid in any other connection, whose nonces differ. All agents of a job have one key, so a call
 * also names the node that it is for.
 */
#include "agent/links/handshake.hpp"

#include "agent/base/rejected_frames.hpp"

#include <nlohmann/json.hpp>

#include <utility>

namespace ckpt
{

using nlohmann::json;

namespace
{

constexpr std::size_t nonce_digits = 2 * MessageKey::size;

/* Returns a random nonce as long as a key, which never occurs twice. */
std::string make_nonce()
{
    return MessageKey::make().text();
}

MessageKey call_key(const MessageKey &key)
{
    return key.derive("call");
}

MessageKey answer_key(const MessageKey &key)
{
    return key.derive("answer");
}

SessionKeys session_keys(const MessageKey &key, const std::string &said)
{
    const MessageKey session = key.derive("session " + said);

    return {session.derive("caller"), session.derive("listener")};
}

void require_kind(const Frame &frame, FrameKind kind, const char *name)
{
    if (!frame.is(kind) || frame.header.sequence != 0 ||
        frame.payload.size() > longest_handshake) {
        reject(Rejection::malformed, "a frame of kind {} that is no {}",
               frame.header.kind, name);
    }
}

/* Parses a frame of a peer that has the key but may have another version. */
json parse(const Frame &frame)
{
    json fields = json::parse(frame.payload, nullptr, false);

    if (!fields.is_object()) {
        reject(Rejection::malformed, "a frame of kind {} is not a JSON object",
               frame.header.kind);
    }
    return fields;
}

std::string name_of(const PeerAddress &address)
{
    return address.hosts.empty() ? "" : address.hosts.front();
}

std::string obstacle_of(const json &call, const PeerAddress &own,
                        const PeerIdentity &self)
{
    const std::string to = call.at("to");
    const std::string launch = call.at("namespace");
    const std::uint64_t incarnation = call.at("incarnation");

    if (to != name_of(own)) {
        return fmt::format("it has called {}, and this is {}", to, name_of(own));
    }
    if (launch != self.launch_namespace) {
        return fmt::format("it is of launch '{}', not '{}'", launch,
                           self.launch_namespace);
    }
    if (incarnation != self.incarnation) {
        return fmt::format("it is of incarnation {}, not {}", incarnation,
                           self.incarnation);
    }
    return {};
}

} // namespace

/* ---- The listener ---------------------------------------------------------- */

ListenerHandshake::ListenerHandshake()
    : nonce_(make_nonce()),
      challenge_(make_frame(FrameKind::challenge, 0, nonce_).bytes())
{
}

ListenerHandshake::Caller
ListenerHandshake::examine(const Frame &call, const PeerAddress &own,
                           const PeerIdentity &self) const
try {
    Caller caller;

    require_kind(call, FrameKind::call, "call");
    if (!has_tag(call_key(own.key), {}, call)) {
        reject(Rejection::forged, "it does not have our key");
    }
    const json fields = parse(call);
    if (fields.at("challenge") != nonce_) {
        reject(Rejection::replayed, "its call answers another challenge");
    }
    fields.at("host").get_to(caller.host);
    fields.at("purpose").get_to(caller.purpose);
    caller.obstacle = obstacle_of(fields, own, self);

    const std::string said = challenge_ + call.bytes();
    Frame answer = make_frame(FrameKind::answer, 0,
                              json{{"obstacle", caller.obstacle}}.dump(
                                  -1, ' ', false, json::error_handler_t::replace));
    put_tag(answer_key(own.key), said, answer);
    caller.answer = answer.bytes();
    caller.keys = session_keys(own.key, said);
    return caller;
} catch (const json::exception &error) {
    reject(Rejection::malformed, "{}", error.what());
}

/* ---- The caller ------------------------------------------------------------- */

CallerHandshake::CallerHandshake(const PeerAddress &address, const PeerIdentity &self,
                                 const std::string &purpose)
    : key_(address.key), to_(name_of(address)), self_(self), purpose_(purpose),
      nonce_(make_nonce())
{
}

std::string CallerHandshake::call(const Frame &challenge)
{
    require_kind(challenge, FrameKind::challenge, "challenge");
    if (challenge.payload.size() != nonce_digits) {
        reject(Rejection::malformed, "a challenge of {} bytes",
               challenge.payload.size());
    }
    const json fields = {{"challenge", challenge.payload},
                         {"nonce", nonce_},
                         {"to", to_},
                         {"namespace", self_.launch_namespace},
                         {"incarnation", self_.incarnation},
                         {"host", self_.host},
                         {"purpose", purpose_}};
    Frame call = make_frame(
        FrameKind::call, 0,
        fields.dump(-1, ' ', false, json::error_handler_t::replace));
    put_tag(call_key(key_), {}, call);
    said_ = challenge.bytes() + call.bytes();
    return call.bytes();
}

SessionKeys CallerHandshake::accept(const Frame &answer) const
try {
    require_kind(answer, FrameKind::answer, "answer");
    if (!has_tag(answer_key(key_), said_, answer)) {
        reject(Rejection::forged, "peer failed authentication (wrong job key)");
    }
    const std::string obstacle = parse(answer).at("obstacle");
    if (!obstacle.empty()) {
        reject(Rejection::foreign, "we are not wanted: {}", obstacle);
    }
    return session_keys(key_, said_);
} catch (const json::exception &error) {
    reject(Rejection::malformed, "{}", error.what());
}

} // namespace ckpt
