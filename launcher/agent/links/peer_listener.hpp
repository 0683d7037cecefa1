/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * peer_listener.hpp - accepts connections of the agents of the job's other nodes only. A caller
 * must prove that it has the key of PeerAddress (agent/links/handshake.hpp).
 *
 * Strangers, callers that have not proved it yet, cost only some descriptors for some seconds. The
 * listener drops those that are too slow, and the oldest ones when there are too many. It counts
 * everything that it refuses.
 */
#pragma once

#include "agent/base/accept_watch.hpp"
#include "agent/links/frame_stream.hpp"
#include "agent/links/handshake.hpp"
#include "agent/base/loop_timer.hpp"
#include "agent/links/peer_address.hpp"
#include "agent/base/peer_identity.hpp"
#include "agent/base/rejected_frames.hpp"
#include "common/event_loop.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace ckpt
{

class PeerListener
{
  public:
    /* purpose: of the connection (agent/links/peer_connection.hpp). The function must set the
     * stream's handlers before it returns. */
    using Accepted = std::function<void(std::unique_ptr<FrameStream>,
                                        const std::string &host,
                                        const std::string &purpose)>;

    struct Limits {
        std::size_t strangers = 256; /* a job never has more callers in the handshake */
        /* Time for the proof: two messages, which an agent sends at once. */
        std::chrono::milliseconds introduction = std::chrono::seconds(5);
    };

    /* Listens on the port of `address`, or on a free one if that is 0. Throws Error. `loop` and
     * `rejected` must live longer. */
    PeerListener(EventLoop &loop, PeerIdentity self, PeerAddress address,
                 RejectedFrames &rejected, Accepted accepted)
        : PeerListener(loop, std::move(self), std::move(address), rejected,
                       std::move(accepted), Limits())
    {
    }
    PeerListener(EventLoop &loop, PeerIdentity self, PeerAddress address,
                 RejectedFrames &rejected, Accepted accepted, Limits limits);
    ~PeerListener();
    PeerListener(const PeerListener &) = delete;
    PeerListener &operator=(const PeerListener &) = delete;

    /* Returns the address with the port and the key. */
    const PeerAddress &address() const { return address_; }
    /* Callers have to prove from now on that they have this key. */
    void use_key(const MessageKey &key) { address_.key = key; }

  private:
    using Time = EventLoop::Time;

    struct Stranger {
        std::unique_ptr<FrameStream> stream;
        ListenerHandshake handshake;
        Time until; /* the stranger is dropped then */
    };
    using Strangers = std::list<Stranger>; /* the oldest first */

    void listen();
    void accept();
    void introduce(Strangers::iterator stranger, const Frame &call);
    void drop_oldest(Rejection why, const std::string &text);
    void drop_late();
    void set_timer();

    EventLoop &loop_;
    PeerIdentity self_;
    PeerAddress address_;
    RejectedFrames &rejected_;
    Accepted accepted_;
    Limits limits_;
    Fd socket_;
    std::optional<AcceptWatch> watch_;
    Strangers strangers_;
    LoopTimer timer_; /* for the oldest stranger */
};

} // namespace ckpt
