/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * control_server.cpp - receives commands of `ckpt` and sends the answers.
 */
#include "agent/control/control_server.hpp"

#include "common/invariant.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

namespace ckpt
{

namespace
{

/* A request has only a few words. */
constexpr std::size_t longest_request = 4096;

} // namespace

ControlServer::ControlServer(EventLoop &loop, RejectedFrames &rejected, Handlers handlers)
    : loop_(loop), rejected_(rejected), handlers_(std::move(handlers))
{
}

ControlServer::~ControlServer()
{
    for (auto &[id, client] : clients_) {
        loop_.forget(client.socket.get());
    }
}

void ControlServer::accept(Fd socket)
{
    ClientId id = next_id_++;
    int fd = socket.get();

    CKPT_INVARIANT(!clients_.contains(id));
    clients_[id].socket = std::move(socket);
    loop_.watch(fd, EPOLLIN,
                [this, id](std::uint32_t events) { on_event(id, events); });
}

void ControlServer::on_event(ClientId id, std::uint32_t events)
{
    CKPT_INVARIANT(clients_.contains(id)); /* drop() ends the watch */
    auto found = clients_.find(id);
    bool alive = (events & EPOLLERR) == 0;

    if (alive && (events & (EPOLLIN | EPOLLHUP)) != 0) {
        alive = read(id, found->second);
        found = clients_.find(id); /* a handler may have answered */
    }
    if (found == clients_.end()) {
        return;
    }
    if (alive) {
        alive = flush(found->second);
    }
    Client &client = found->second;
    if (!alive || (client.answered && client.output.empty())) {
        drop(id);
    }
}

/* Returns false if the client is gone or its input is invalid. */
bool ControlServer::read(ClientId id, Client &client)
{
    char bytes[4096];
    ssize_t size = recv(client.socket.get(), bytes, sizeof bytes, MSG_DONTWAIT);

    if (size < 0) {
        return errno == EAGAIN || errno == EINTR;
    }
    if (size == 0 && !client.asked && !client.input.empty()) {
        rejected(Rejection::malformed, "it is cut off");
    }
    if (size == 0 || client.asked) {
        return size > 0;
    }
    client.input.append(bytes, static_cast<std::size_t>(size));
    std::size_t end = client.input.find('\n');
    if (std::min(end, client.input.size()) > longest_request) {
        rejected(Rejection::malformed, "it is too long");
        return false;
    }
    if (end != std::string::npos) {
        client.asked = true;
        take(id, client.input.substr(0, end));
    }
    return true;
}

void ControlServer::take(ClientId id, const std::string &line)
{
    control::Request request;
    std::string error;
    CKPT_EXPECT(line.size() <= longest_request);

    if (control::decode_request(line, request, error)) {
        handlers_.request(id, request);
        return;
    }
    rejected(request.version == control::version ? Rejection::malformed : Rejection::foreign,
             error);
    control::Reply reply;
    reply.event = "error";
    reply.error = error;
    reply.refusal = ckpt_refusal_name(CKPT_REFUSAL_UNKNOWN_REQUEST);
    this->reply(id, reply);
}

void ControlServer::rejected(Rejection why, const std::string &text)
{
    rejected_.count(why, "a request that is none of ours: " + text);
}

/* Returns false if the client is gone. */
bool ControlServer::flush(Client &client)
{
    while (!client.output.empty()) {
        ssize_t size = send(client.socket.get(), client.output.data(),
                            client.output.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (size < 0 && errno == EINTR) {
            continue;
        }
        if (size < 0 && errno != EAGAIN) {
            return false;
        }
        if (size < 0) {
            break;
        }
        client.output.erase(0, static_cast<std::size_t>(size));
    }
    loop_.change(client.socket.get(),
                 client.output.empty() ? EPOLLIN : EPOLLIN | EPOLLOUT);
    return true;
}

void ControlServer::reply(ClientId id, const control::Reply &reply)
{
    auto found = clients_.find(id);

    if (found == clients_.end()) {
        return;
    }
    Client &client = found->second;
    client.output += control::encode_line(reply);
    client.answered = client.answered || reply.event != "progress";
    if (client.output.size() > control::line_limit || !flush(client) ||
        (client.answered && client.output.empty())) {
        drop(id);
    }
}

void ControlServer::drop(ClientId id)
{
    auto found = clients_.find(id);
    CKPT_EXPECT(found != clients_.end());
    bool waiting = found->second.asked && !found->second.answered;

    loop_.forget(found->second.socket.get());
    clients_.erase(found);
    if (waiting) {
        handlers_.gone(id);
    }
}

bool ControlServer::idle() const
{
    return std::none_of(clients_.begin(), clients_.end(), [](const auto &entry) {
        return entry.second.asked;
    });
}

} // namespace ckpt
