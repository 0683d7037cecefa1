/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * membership_service.cpp - a process's part in the membership of its job.
 */
#include "membership/membership_service.hpp"

#include "common/error.hpp"
#include "common/invariant.hpp"

#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <variant>

namespace ckpt::membership
{

namespace
{

/* A flood of datagrams must not delay this member's own heartbeats. */
constexpr int most_at_once = 4096;

Gate::Identity identity_of(const Table &table)
{
    return {table.key, table.incarnation, table.self, table.life, table.members.size()};
}

} // namespace

Service::Service(EventLoop &loop, UdpSocket socket, Table table,
                 Protocol::Options options, Handlers handlers,
                 std::unique_ptr<Alarm> alarm)
    : loop_(loop), socket_(std::move(socket)), alarm_(std::move(alarm)),
      table_(std::move(table)), options_(options), handlers_(std::move(handlers)),
      gate_(identity_of(table_)),
      protocol_(table_.self, table_.life, table_.members.size(), options,
                alarm_->now()),
      alive_(std::make_shared<bool>(true))
{
    read_table();
    CKPT_INVARIANT(peers_.size() == table_.members.size());
    loop_.watch(socket_.fd(), EPOLLIN, [this](std::uint32_t) { work(); });
    loop_.watch(alarm_->fd(), EPOLLIN, [this](std::uint32_t) { work(); });
    arm();
}

Service::~Service()
{
    *alive_ = false;
    loop_.forget(alarm_->fd());
    loop_.forget(socket_.fd());
}

/* A node's loopback addresses lead to the node itself. They count only if it has no others. */
void Service::read_table()
{
    for (MemberId member = 0; member < table_.members.size(); member++) {
        const Table::Entry &entry = table_.members[member];
        Peer peer;
        std::vector<Endpoint> loopback;
        for (const std::string &address : entry.addresses) {
            if (auto endpoint = Endpoint::parse(address, entry.port)) {
                (endpoint->is_loopback() ? loopback : peer.known).push_back(*endpoint);
            }
        }
        if (peer.known.empty()) {
            peer.known = std::move(loopback);
        }
        if (peer.known.empty() && member != table_.self) {
            fail("the agent of {} has no numeric address", entry.host);
        }
        peers_.push_back(std::move(peer));
    }
}

/* ---- Input --------------------------------------------------------------- */

/* Reads all waiting input first, whatever event has come, so that members with unread messages
 * are not accused. */
void Service::work()
{
    alarm_->quiet();
    if (!read_refusals() || !read()) {
        return; /* a handler has destroyed this object */
    }
    protocol_.tick(alarm_->now());
    if (act()) {
        arm();
    }
}

bool Service::read_refusals()
{
    while (auto endpoint = socket_.refused()) {
        auto peer = std::find_if(peers_.begin(), peers_.end(), [&](const Peer &one) {
            return one.seen && *one.seen == *endpoint;
        });
        if (peer != peers_.end()) {
            protocol_.refused(static_cast<MemberId>(peer - peers_.begin()),
                              alarm_->now());
            if (!act()) {
                return false;
            }
        }
    }
    return true;
}

bool Service::read()
{
    std::byte buffer[longest_datagram + 1];

    for (int i = 0; i < most_at_once; i++) {
        auto received = socket_.receive(buffer);
        if (!received) {
            return true;
        }
        if (!take(*received)) {
            return false;
        }
    }
    return true;
}

bool Service::take(const UdpSocket::Received &received)
{
    const Time now = alarm_->now();
    Gate::Opened opened = gate_.open(received.bytes, now);

    if (!opened.refusal.empty()) {
        transmit(opened.refusal, received.from);
    }
    if (opened.superseded_by) {
        protocol_.superseded(*opened.superseded_by);
        return act();
    }
    if (!opened.content) {
        return true;
    }
    const Envelope &envelope = opened.content->envelope;
    CKPT_INVARIANT(envelope.from < peers_.size() && envelope.from != table_.self);
    Peer &peer = peers_[envelope.from];
    if (envelope.life >= peer.life) {
        peer.life = envelope.life;
        peer.seen = received.from;
        peer.seen_at = now;
    }
    protocol_.receive(envelope, opened.content->message, now);
    return act(Route{envelope.from, received.from});
}

/* ---- Output -------------------------------------------------------------- */

/* Returns false if a handler has destroyed this object. */
bool Service::act(std::optional<Route> route)
{
    const auto alive = alive_;
    const auto call = [&](const auto &handler, const auto &...what) {
        if (handler) {
            auto kept = handler; /* the handler may destroy itself */
            kept(what...);
        }
    };

    for (const Action &action : protocol_.take_actions()) {
        if (auto *message = std::get_if<action::Send>(&action)) {
            send(*message, route);
        } else if (auto *install = std::get_if<action::Install>(&action)) {
            call(handlers_.view, *install);
        } else if (auto *excluded = std::get_if<action::Excluded>(&action)) {
            call(handlers_.excluded, *excluded);
        } else if (auto *link = std::get_if<action::LinkChanged>(&action)) {
            call(handlers_.link, *link);
        } else {
            call(handlers_.lost_majority);
        }
        if (!*alive) {
            return false;
        }
    }
    return true;
}

/* Sends an answer back to the address that the question came from. Sends other messages to the
 * latest address of the member. If that is not quite recent, sends also to all other addresses
 * of the member, which may be reachable on another path. */
void Service::send(const action::Send &send, const std::optional<Route> &route)
{
    CKPT_EXPECT(send.to < peers_.size() && send.to != table_.self);
    const Peer &peer = peers_[send.to];
    const auto bytes = gate_.seal(send.to, send.view, send.message);

    if (route && route->member == send.to) {
        transmit(bytes, route->endpoint);
        return;
    }
    if (peer.seen) {
        transmit(bytes, *peer.seen);
    }
    if (!peer.seen || alarm_->now() - peer.seen_at > options_.heartbeat * 3 / 2) {
        for (const Endpoint &endpoint : peer.known) {
            if (!peer.seen || !(*peer.seen == endpoint)) {
                transmit(bytes, endpoint);
            }
        }
    }
}

void Service::transmit(std::span<const std::byte> bytes, const Endpoint &to)
{
    (void)socket_.send(bytes, to); /* the protocol treats an unsent datagram as a lost one */
}

void Service::arm()
{
    alarm_->set(protocol_.has_ended() ? Time::max() : protocol_.next_tick());
}

bool Service::has_heard() const
{
    return std::any_of(peers_.begin(), peers_.end(),
                       [](const Peer &peer) { return peer.seen.has_value(); });
}

void Service::leave()
{
    protocol_.leave(alarm_->now());
    if (act()) {
        arm();
    }
}

} // namespace ckpt::membership
