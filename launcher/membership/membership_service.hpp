/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * membership_service.hpp - a process's part in the membership of its job: the state
 * machine, fed by a UDP socket and an alarm on an event loop (docs/membership.md,
 * section 8).
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

/* What all members of a launch are told alike, but for `self` and `life`. */
struct Table {
    struct Entry {
        std::string host;                   /* for people */
        std::vector<std::string> addresses; /* numeric ones; names are passed over */
        std::uint16_t port = 0;             /* UDP */
    };
    std::vector<Entry> members; /* by number: the lowest that lives coordinates */
    MemberId self = 0;
    Life life = first_life;        /* how many processes this member has had */
    MessageKey key;                /* of the job */
    std::uint64_t incarnation = 1; /* number of the launch: grows with each */
};

class Service
{
  public:
    /* Each may destroy the service. After `excluded` or `lost_majority` nothing comes
     * any more. All may be empty. */
    struct Handlers {
        std::function<void(const action::Install &)> view;
        std::function<void(const action::Excluded &)> excluded;
        std::function<void()> lost_majority;
        std::function<void(const action::LinkChanged &)> link;
    };

    /*
     * Normal context, like all here; no call waits. The loop must outlive the service.
     * The first view comes to its handler from the loop, not from here. Throws Error: a
     * table that is too large or has a member without an address, no descriptors.
     */
    Service(EventLoop &loop, UdpSocket socket, Table table, Protocol::Options options,
            Handlers handlers,
            std::unique_ptr<Alarm> alarm = std::make_unique<MachineAlarm>());
    ~Service();
    Service(const Service &) = delete;
    Service &operator=(const Service &) = delete;

    /* Asks the others to go on without us; `excluded` says when they do. */
    void leave();

    const Protocol &protocol() const { return protocol_; }
    const std::string &host(MemberId member) const { return table_.members[member].host; }
    /* Something authentic has come from another member: datagrams get here. */
    bool has_heard() const;
    /* Datagrams that were not let in. */
    std::uint64_t dropped(Drop reason) const { return gate_.dropped(reason); }
    /* Datagrams that the kernel did not take. */
    std::uint64_t unsent() const { return unsent_; }

  private:
    using Time = Protocol::Time;

    struct Peer {
        std::vector<Endpoint> known; /* from the table */
        std::optional<Endpoint> seen; /* where its newest process sends from */
        Life life = 0;
        Time seen_at{};
    };
    struct Route { /* of an answer */
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
    std::uint64_t unsent_ = 0;
    std::shared_ptr<bool> alive_; /* false when this object is gone */
};

} // namespace ckpt::membership
