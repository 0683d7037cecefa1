/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * accept_watch.cpp - watches a listening socket.
 */
#include "agent/base/accept_watch.hpp"

#include "common/invariant.hpp"

#include <sys/epoll.h>

#include <cerrno>
#include <chrono>
#include <utility>

namespace ckpt
{

namespace
{

constexpr std::chrono::milliseconds pause_time(100);

} // namespace

AcceptWatch::AcceptWatch(EventLoop &loop, int socket, std::function<void()> accept)
    : loop_(loop), socket_(socket), accept_(std::move(accept)), pause_(loop, [this] { watch(); })
{
    watch();
}

AcceptWatch::~AcceptWatch()
{
    if (is_watched_) {
        loop_.forget(socket_);
    }
}

void AcceptWatch::watch()
{
    CKPT_EXPECT(!is_watched_);
    loop_.watch(socket_, EPOLLIN, [this](std::uint32_t) { accept_(); });
    is_watched_ = true;
}

bool AcceptWatch::failed(int error)
{
    const bool is_short = error == EMFILE || error == ENFILE || error == ENOMEM ||
                          error == ENOBUFS;

    if (is_short && is_watched_) {
        loop_.forget(socket_);
        is_watched_ = false;
        pause_.start(pause_time);
    }
    return is_short;
}

} // namespace ckpt
