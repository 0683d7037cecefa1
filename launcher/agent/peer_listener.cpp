/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * peer_listener.cpp - lets the agents of the job's other nodes in.
 */
#include "agent/peer_listener.hpp"

#include "common/error.hpp"
#include "common/files.hpp"

#include <spdlog/spdlog.h>

#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

namespace ckpt
{

namespace
{

/* More connections than this without a key are not from our job. */
constexpr std::size_t most_strangers = 256;

} // namespace

PeerListener::PeerListener(EventLoop &loop, const std::filesystem::path &file,
                           std::string launch_namespace, Accepted accepted)
    : loop_(loop), file_(file), namespace_(std::move(launch_namespace)),
      accepted_(std::move(accepted)), address_(PeerAddress::make())
{
    if (std::filesystem::exists(file_)) {
        require_own(file_, "address of the agent");
        auto former = PeerAddress::parse(
            read_text_file(file_, "address of the agent"));
        if (former) {
            address_ = *former;
        }
    }
    listen();
    write_text_file_atomically(file_, address_.text(), "address of the agent");
    loop_.watch(socket_.get(), EPOLLIN, [this](std::uint32_t) { accept(); });
}

PeerListener::~PeerListener()
{
    loop_.forget(socket_.get());
    ::unlink(file_.c_str());
}

void PeerListener::listen()
{
    sockaddr_in6 address{};
    socklen_t size = sizeof address;
    int on = 1, off = 0;

    socket_.reset(
        socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    address.sin6_family = AF_INET6; /* and IPv4, mapped */
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

void PeerListener::accept()
{
    Fd socket(accept4(socket_.get(), nullptr, nullptr,
                      SOCK_CLOEXEC | SOCK_NONBLOCK));

    if (!socket || strangers_.size() >= most_strangers) {
        return;
    }
    auto owner =
        std::make_unique<FrameStream>(loop_, std::move(socket), "a stranger");
    FrameStream *stream = owner.get();
    stream->handle({[this, stream](const nlohmann::json &frame) {
                        introduce(stream, frame);
                    },
                    [this, stream] { strangers_.erase(stream); }});
    strangers_.emplace(stream, std::move(owner));
}

void PeerListener::introduce(FrameStream *stream, const nlohmann::json &frame)
{
    std::string host = frame.at("host");
    std::string purpose = frame.at("type");

    if (!same_key(frame.at("key").get<std::string>(), address_.caller_key) ||
        frame.at("namespace") != namespace_) {
        fail("a connection that says it is {} has not our key", host);
    }
    auto owner = std::move(strangers_.at(stream));
    strangers_.erase(stream);
    spdlog::info("the agent of {} has joined as {}", host, purpose);
    owner->trust();
    owner->send({{"type", "welcome"}, {"key", address_.answer_key}});
    accepted_(std::move(owner), host, purpose);
}

} // namespace ckpt
