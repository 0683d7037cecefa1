/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * handshake.hpp - how two agents show each other that they have the job's key, without
 * telling it, and agree on keys for one connection (docs/protocol.md, section 9).
 *
 *   listener --- challenge: a nonce ----------------------------> caller
 *   listener <-- call: both nonces, who it is; tag -------------- caller
 *   listener --- answer: welcome, or why not; tag --------------> caller
 *
 * Frames in and out, no I/O. Who does not have the key gets a random number and nothing
 * else. All functions that take a frame throw Refused.
 */
#pragma once

#include "agent/frame.hpp"
#include "agent/peer_address.hpp"
#include "agent/peer_identity.hpp"
#include "common/message_key.hpp"

#include <cstddef>
#include <string>

namespace ckpt
{

/* Longest payload of these frames, bytes. */
inline constexpr std::size_t longest_handshake = 4096;

/* Of one connection; one for each direction. */
struct SessionKeys {
    MessageKey from_caller, from_listener;
};

class ListenerHandshake
{
  public:
    /* What the call says, by one who has the key. */
    struct Caller {
        std::string host;
        std::string purpose; /* agent/peer_connection.hpp */
        std::string obstacle; /* why it does not belong here; empty: it is welcome */
        std::string answer;   /* to be sent */
        SessionKeys keys;     /* for what follows, if it is welcome */
    };

    /* A new nonce. */
    ListenerHandshake();

    /* To be sent first. */
    const std::string &challenge() const { return challenge_; }
    /* own: where we are, with the key */
    Caller examine(const Frame &call, const PeerAddress &own,
                   const PeerIdentity &self) const;

  private:
    std::string nonce_;
    std::string challenge_;
};

class CallerHandshake
{
  public:
    /* address: of the one that is called, with the key */
    CallerHandshake(const PeerAddress &address, const PeerIdentity &self,
                    const std::string &purpose);

    /* Takes the challenge, once; gives the call, to be sent. */
    std::string call(const Frame &challenge);
    /* Takes the answer. That of a listener with the key that does not want us is
     * Refusal::foreign, with its reason. */
    SessionKeys accept(const Frame &answer) const;

  private:
    MessageKey key_;
    std::string to_; /* name of the other node */
    PeerIdentity self_;
    std::string purpose_;
    std::string nonce_;
    std::string said_; /* challenge and call */
};

} // namespace ckpt
