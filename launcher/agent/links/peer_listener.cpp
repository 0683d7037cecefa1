/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * peer_listener.cpp - accepts connections of the agents of the job's other
 * nodes.
 */
#include "agent/links/peer_listener.hpp"

#include "common/error.hpp"
#include "common/invariant.hpp"

#include <spdlog/spdlog.h>

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <iterator>
#include <utility>

namespace ckpt
{

namespace
{

using std::chrono::steady_clock;

std::string name_of(const sockaddr_storage &address, socklen_t size)
{
    char host[NI_MAXHOST] = "?";

    (void)getnameinfo(reinterpret_cast<const sockaddr *>(&address), size, host,
                      sizeof host, nullptr, 0, NI_NUMERICHOST);
    return host;
}

} // namespace

PeerListener::PeerListener(EventLoop &loop, PeerIdentity self, PeerAddress address,
                           RejectedFrames &rejected, Accepted accepted, Limits limits)
    : loop_(loop), self_(std::move(self)), address_(std::move(address)),
      rejected_(rejected), accepted_(std::move(accepted)), limits_(limits),
      timer_(loop, [this] { drop_late(); })
{
    listen();
    watch_.emplace(loop_, socket_.get(), [this] { accept(); });
}

PeerListener::~PeerListener() = default;

void PeerListener::listen()
{
    sockaddr_in6 address{};
    socklen_t size = sizeof address;
    int on = 1, off = 0;

    socket_.reset(
        socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    address.sin6_family = AF_INET6; /* accepts IPv4 as well, as mapped addresses */
    address.sin6_addr = in6addr_any;
    address.sin6_port = htons(address_.port);
    setsockopt(socket_.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    setsockopt(socket_.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    auto *generic = reinterpret_cast<sockaddr *>(&address);
    if (!socket_ || bind(socket_.get(), generic, sizeof address) < 0 ||
        ::listen(socket_.get(), SOMAXCONN) < 0 ||
        getsockname(socket_.get(), generic, &size) < 0) {
        fail_errno(errno, "cannot listen on TCP port {}", address_.port);
    }
    address_.port = ntohs(address.sin6_port);
}

/* ---- Strangers --------------------------------------------------------------- */

void PeerListener::accept()
{
    sockaddr_storage from{};
    socklen_t size = sizeof from;
    Fd socket(accept4(socket_.get(), reinterpret_cast<sockaddr *>(&from), &size,
                      SOCK_CLOEXEC | SOCK_NONBLOCK));

    if (!socket) {
        if (watch_->failed(errno) && !strangers_.empty()) {
            drop_oldest(Rejection::too_many, "gives its descriptor to a newer connection");
        }
        return;
    }
    if (strangers_.size() >= limits_.strangers) {
        drop_oldest(Rejection::too_many, "makes room for a newer connection");
    }
    Stranger &stranger = strangers_.emplace_back();
    auto place = std::prev(strangers_.end());
    stranger.stream = std::make_unique<FrameStream>(
        loop_, std::move(socket), "a stranger at " + name_of(from, size), rejected_);
    stranger.until = steady_clock::now() + limits_.introduction;
    stranger.stream->handle_strange(
        {[this, place](const Frame &frame) { introduce(place, frame); },
         [this, place] {
             strangers_.erase(place);
             set_timer();
         }});
    stranger.stream->send_strange(stranger.handshake.challenge());
    set_timer();
    CKPT_INVARIANT(strangers_.size() <= limits_.strangers);
}

void PeerListener::introduce(Strangers::iterator stranger, const Frame &call)
{
    CKPT_EXPECT(stranger->stream);
    auto caller = stranger->handshake.examine(call, address_, self_);

    stranger->stream->send_strange(caller.answer);
    if (!caller.obstacle.empty()) {
        reject(Rejection::foreign, "the agent of {} as {}: {}", caller.host,
               caller.purpose, caller.obstacle);
    }
    auto stream = std::move(stranger->stream);
    strangers_.erase(stranger);
    set_timer();
    stream->set_peer(fmt::format("the agent of {} as {}", caller.host, caller.purpose));
    stream->trust(caller.keys.from_listener, caller.keys.from_caller);
    spdlog::info("the agent of {} has joined as {}", caller.host, caller.purpose);
    accepted_(std::move(stream), caller.host, caller.purpose);
}

void PeerListener::drop_oldest(Rejection why, const std::string &text)
{
    CKPT_EXPECT(!strangers_.empty());
    Stranger &oldest = strangers_.front();

    rejected_.count(why, fmt::format("{}: {}", oldest.stream->peer(), text));
    strangers_.pop_front();
}

void PeerListener::drop_late()
{
    while (!strangers_.empty() && strangers_.front().until <= steady_clock::now()) {
        drop_oldest(Rejection::too_slow, "has not said in time who it is");
    }
    set_timer();
}

void PeerListener::set_timer()
{
    if (strangers_.empty()) {
        timer_.stop();
        return;
    }
    timer_.start(std::chrono::ceil<std::chrono::milliseconds>(
        strangers_.front().until - steady_clock::now()));
}

} // namespace ckpt
