/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * listener.cpp - a Unix socket in the run directory, for connections of the
 * same user only.
 */
#include "agent/base/listener.hpp"

#include "common/error.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace ckpt
{

namespace
{

sockaddr_un address_of(const std::filesystem::path &path)
{
    sockaddr_un address{};

    address.sun_family = AF_UNIX;
    if (path.native().size() >= sizeof address.sun_path) {
        fail("the path of a socket is too long: {}", path.string());
    }
    std::strcpy(address.sun_path, path.c_str());
    return address;
}

Fd make_socket(int type)
{
    Fd socket(::socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));

    if (!socket) {
        fail_errno(errno, "no socket");
    }
    return socket;
}

/* Returns the user who made the connection, as the kernel recorded it then. */
uid_t user_of(int socket)
{
    ucred peer{};
    socklen_t size = sizeof peer;

    if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0) {
        return static_cast<uid_t>(-1);
    }
    return peer.uid;
}

} // namespace

bool is_listening(const std::filesystem::path &path, int type)
{
    sockaddr_un address = address_of(path);
    Fd socket = make_socket(type);

    /* EAGAIN: the queue is full, so a process listens. */
    return connect(socket.get(), reinterpret_cast<sockaddr *>(&address),
                   sizeof address) == 0 ||
           errno == EAGAIN;
}

Listener::Listener(EventLoop &loop, const std::filesystem::path &path, int type,
                   RejectedFrames &rejected, std::function<void(Fd)> accepted)
    : path_(path), rejected_(rejected), accepted_(std::move(accepted)),
      socket_(make_socket(type))
{
    std::filesystem::path fresh = path;
    fresh += ".new";
    sockaddr_un address = address_of(fresh);

    ::unlink(fresh.c_str());
    if (bind(socket_.get(), reinterpret_cast<sockaddr *>(&address),
             sizeof address) < 0 ||
        listen(socket_.get(), SOMAXCONN) < 0 ||
        rename(fresh.c_str(), path.c_str()) < 0) {
        fail_errno(errno, "cannot listen at {}", path.string());
    }
    watch_.emplace(loop, socket_.get(), [this] { accept_one(); });
}

Listener::~Listener()
{
    ::unlink(path_.c_str());
}

bool Listener::accept_one()
{
    Fd client(accept4(socket_.get(), nullptr, nullptr,
                      SOCK_CLOEXEC | SOCK_NONBLOCK));

    if (!client) {
        (void)watch_->failed(errno);
        return false;
    }
    const uid_t user = user_of(client.get());
    if (user == geteuid()) {
        accepted_(std::move(client));
    } else {
        rejected_.count(Rejection::other_user,
                        fmt::format("{}: a connection of user {}",
                                    path_.filename().string(), static_cast<int>(user)));
    }
    return true;
}

} // namespace ckpt
