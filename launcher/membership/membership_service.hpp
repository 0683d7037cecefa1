/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * membership_service.hpp - a process's part in the membership of its job (docs/membership.md,
 * section 8). A UDP socket and an alarm on an event loop drive the state machine.
 */
#pragma once

#include "common/event_loop.hpp"
#include "common/message_key.hpp"
#include "membership/alarm.hpp"
#include "membership/gate.hpp"
#include "membership/membership_protocol.hpp"
#include "membership/udp_socket.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ckpt::membership
{

/* Data that all members of a launch get. Only `self` and `life` differ. */
struct Table {
    struct Entry {
        std::string host;                   /* for messages to users */
        std::vector<std::string> addresses; /* numeric addresses; names are ignored */
        std::uint16_t port = 0;             /* UDP */
    };
    std::vector<Entry> members; /* by number; the lowest living member coordinates */
    MemberId self = 0;
    Life life = first_life;        /* number of processes that this member has had */
    MessageKey key;                /* of the job */
    std::uint64_t incarnation = 1; /* number of the launch, which grows with each launch */
};

class Service
{
  public:
    /* Each handler may destroy the service. `excluded` and `lost_majority` are final. All may be
     * empty. */
    struct Handlers {
        std::function<void(const action::Install &)> view;
        std::function<void(const action::Excluded &)> excluded;
        std::function<void()> lost_majority;
        std::function<void(const action::LinkChanged &)> link;
    };

    /*
     * Normal context, like all functions here; no call blocks. The loop must outlive the service.
     * The handler gets the first view from the loop, not from the constructor. Throws Error if the
     * table is too large or has a member without an address, or if no descriptor is left.
     */
    Service(EventLoop &loop, UdpSocket socket, Table table, Protocol::Options options,
            Handlers handlers,
            std::unique_ptr<Alarm> alarm = std::make_unique<MachineAlarm>());
    ~Service();
    Service(const Service &) = delete;
    Service &operator=(const Service &) = delete;

    /* Asks the other members to go on without this one; `excluded` reports when they do. */
    void leave();

    const Protocol &protocol() const { return protocol_; }
    const std::string &host(MemberId member) const { return table_.members[member].host; }
    /* Whether an authentic datagram of another member has arrived, so that datagrams reach this
     * node. */
    bool has_heard() const;
    /* Number of datagrams that the gate has dropped. */
    std::uint64_t dropped(Drop reason) const { return gate_.dropped(reason); }

  private:
    using Time = Protocol::Time;

    struct Peer {
        std::vector<Endpoint> known;  /* from the table */
        std::optional<Endpoint> seen; /* address from which its newest process sends */
        Life life = 0;
        Time seen_at{};
    };
    struct Route { /* for an answer */
        MemberId member;
        Endpoint endpoint;
    };

    void read_table();
    void work();
    bool read();
    bool take(const UdpSocket::Received &received);
    bool read_refusals();
    bool act(std::optional<Route> route = {});
    void send(const action::Send &send, const std::optional<Route> &route);
    void transmit(std::span<const std::byte> bytes, const Endpoint &to);
    void arm();

    EventLoop &loop_;
    UdpSocket socket_;
    std::unique_ptr<Alarm> alarm_;
    Table table_;
    Protocol::Options options_;
    Handlers handlers_;
    Gate gate_;
    Protocol protocol_;
    std::vector<Peer> peers_;
    std::shared_ptr<bool> alive_; /* false when this object is destroyed */
};

} // namespace ckpt::membership
