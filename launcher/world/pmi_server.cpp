/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pmi_server.cpp - reads lines of PMI-1 and writes the answers.
 */
#include "world/pmi_server.hpp"

#include "common/error.hpp"
#include "common/invariant.hpp"
#include "common/sockets/descriptor_passing.hpp"

#include <array>
#include <cerrno>
#include <utility>

#include <sys/epoll.h>
#include <sys/socket.h>

namespace ckpt::world
{

namespace
{

constexpr std::size_t longest_line = 4096; /* key, value and more */

} // namespace

PmiServer::PmiServer(EventLoop &loop, const World &world, Happened happened)
    : loop_(loop), name_(world.name), space_(world), happened_(std::move(happened))
{
    for (int rank : world.here().ranks) {
        auto [own, theirs] = connected_pair(
            SOCK_STREAM, fmt::format("cannot make a socket for rank {}", rank));
        connections_[rank] = {std::move(own), std::move(theirs), ""};
    }
    for (const auto &[rank, connection] : connections_) {
        loop_.watch(connection.socket.get(), EPOLLIN,
                    [this, rank = rank](std::uint32_t) { read(rank); });
    }
}

PmiServer::~PmiServer()
{
    for (const auto &[rank, connection] : connections_) {
        loop_.forget(connection.socket.get());
    }
}

Fd PmiServer::take_endpoint(int rank)
{
    CKPT_EXPECT(connections_.contains(rank));
    Fd endpoint = std::move(connections_.at(rank).endpoint);
    CKPT_EXPECT(endpoint);
    return endpoint;
}

void PmiServer::close(int rank)
{
    const auto found = connections_.find(rank);
    if (found != connections_.end()) {
        loop_.forget(found->second.socket.get());
        connections_.erase(found);
    }
}

void PmiServer::answer(int rank, const std::string &line)
{
    const auto found = connections_.find(rank);
    if (found == connections_.end()) {
        return; /* its process has ended */
    }
    const ssize_t sent = send(found->second.socket.get(), line.data(), line.size(),
                              MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent != static_cast<ssize_t>(line.size())) {
        close(rank); /* it does not read its answers, or has ended */
    }
}

void PmiServer::obey(int rank, const std::string &line)
{
    const PmiSpace::Outcome outcome = space_.obey(rank, line);

    if (outcome.event) {
        happened_({*outcome.event, name_, rank, outcome.status, ""});
    }
    for (const PmiSpace::Answer &one : outcome.answers) {
        answer(one.rank, one.line);
    }
}

void PmiServer::read(int rank)
{
    std::array<char, 4096> bytes{};
    Connection &connection = connections_.at(rank);
    const ssize_t got = recv(connection.socket.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);

    if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
        return;
    }
    if (got > 0) {
        connection.received.append(bytes.data(), static_cast<std::size_t>(got));
    }
    while (connections_.contains(rank)) {
        const std::size_t end = connection.received.find('\n');
        if (end == std::string::npos) {
            break;
        }
        const std::string line = connection.received.substr(0, end);
        connection.received.erase(0, end + 1);
        obey(rank, line);
    }
    if (got <= 0 || (connections_.contains(rank) && connection.received.size() > longest_line)) {
        close(rank);
    }
}

} // namespace ckpt::world
