/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * event_loop.cpp - an epoll descriptor, and the handlers of its events.
 */
#include "common/event_loop.hpp"

#include "common/error.hpp"
#include "common/invariant.hpp"

#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>

namespace ckpt
{

EventLoop::EventLoop()
    : epoll_(epoll_create1(EPOLL_CLOEXEC))
{
    if (!epoll_) {
        fail_errno(errno, "no epoll descriptor");
    }
}

void EventLoop::watch(int fd, std::uint32_t events, Handler handler)
{
    CKPT_EXPECT(fd >= 0 && handler);
    CKPT_EXPECT(!tokens_.contains(fd)); /* closed without forget() */
    epoll_event event{};

    event.events = events;
    event.data.u64 = next_token_;
    if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) < 0) {
        fail_errno(errno, "cannot watch descriptor {}", fd);
    }
    tokens_[fd] = next_token_;
    handlers_[next_token_++] = std::make_shared<Handler>(std::move(handler));
    CKPT_INVARIANT(tokens_.size() == handlers_.size());
}

void EventLoop::change(int fd, std::uint32_t events)
{
    epoll_event event{};

    event.events = events;
    event.data.u64 = tokens_.at(fd);
    if (epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, fd, &event) < 0) {
        fail_errno(errno, "cannot watch descriptor {}", fd);
    }
}

void EventLoop::forget(int fd)
{
    auto found = tokens_.find(fd);
    if (found != tokens_.end()) {
        epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
        handlers_.erase(found->second);
        tokens_.erase(found);
    }
}

void EventLoop::turn(Time until)
{
    using namespace std::chrono;
    constexpr int capacity = 64;
    epoll_event events[capacity];
    auto wait = ceil<milliseconds>(until - steady_clock::now()).count();
    int timeout = static_cast<int>(std::clamp<long>(wait, 0, 3600 * 1000));

    int count = epoll_wait(epoll_.get(), events, capacity, timeout);
    CKPT_INVARIANT(count <= capacity);
    if (count < 0 && errno != EINTR) {
        fail_errno(errno, "epoll_wait");
    }
    for (int i = 0; i < count; i++) {
        auto found = handlers_.find(events[i].data.u64);
        if (found != handlers_.end()) {
            auto handler = found->second; /* stays alive if the handler
                                             forgets itself */
            (*handler)(events[i].events);
        }
    }
}

} // namespace ckpt
