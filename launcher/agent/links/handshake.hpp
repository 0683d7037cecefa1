/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * handshake.hpp - two agents prove to each other that they have the job's key, without revealing
 * it, and agree on keys for one connection (docs/protocol.md, section 9).
 *
 *   listener --- challenge: a nonce ----------------------------> caller
 *   listener <-- call: both nonces, the caller's identity; tag --- caller
 *   listener --- answer: welcome, or a reason; tag --------------> caller
 *
 * Takes and returns frames and does no I/O. A peer without the key receives only a nonce. All
 * functions that take a frame throw Rejected.
 */
#pragma once

#include "agent/links/frame.hpp"
#include "agent/links/peer_address.hpp"
#include "agent/base/peer_identity.hpp"
#include "common/message_key.hpp"

#include <cstddef>
#include <string>

namespace ckpt
{

/* Longest payload of these frames, bytes. */
inline constexpr std::size_t longest_handshake = 4096;

/* Keys of one connection, one for each direction. */
struct SessionKeys {
    MessageKey from_caller, from_listener;
};

class ListenerHandshake
{
  public:
    /* Content of a call whose caller has the key. */
    struct Caller {
        std::string host;
        std::string purpose;  /* see agent/links/peer_connection.hpp */
        std::string obstacle; /* why the listener rejects it; empty: it is welcome */
        std::string answer;   /* bytes to send to the caller */
        SessionKeys keys;     /* for the messages that follow, if it is welcome */
    };

    /* Makes a new nonce. */
    ListenerHandshake();

    /* The bytes to send first. */
    const std::string &challenge() const { return challenge_; }
    /* own: address of this agent, with the key */
    Caller examine(const Frame &call, const PeerAddress &own,
                   const PeerIdentity &self) const;

  private:
    std::string nonce_;
    std::string challenge_;
};

class CallerHandshake
{
  public:
    /* address: of the agent that is called, with the key */
    CallerHandshake(const PeerAddress &address, const PeerIdentity &self,
                    const std::string &purpose);

    /* Takes the challenge and returns the call, to be sent. Use once. */
    std::string call(const Frame &challenge);
    /* Takes the answer. If the listener has the key but rejects the caller, throws Rejected with
     * Rejection::foreign and the listener's reason. */
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
