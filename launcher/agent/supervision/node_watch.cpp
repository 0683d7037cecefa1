/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * node_watch.cpp - runs the membership on its thread, and derives what happens to the ranks.
 */
#include "agent/supervision/node_watch.hpp"

#include "common/error.hpp"
#include "common/invariant.hpp"
#include "agent/supervision/member_table.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <utility>

namespace ckpt
{

using membership::action::Excluded;
using membership::action::Install;
using membership::action::LinkChanged;

NodeWatch::NodeWatch(WorkerThread &worker, membership::UdpSocket socket,
                     membership::Table table, Handlers handlers)
    : worker_(worker), handlers_(std::move(handlers)),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      alive_(std::make_shared<bool>(true)),
      service_(loop_, std::move(socket), std::move(table), membership_options(),
               {[this](const Install &change) { changed(change); },
                [this](const Excluded &) { tell_over("this node counts as lost"); },
                [this] { tell_over("most nodes of the job cannot be reached"); },
                [this](const LinkChanged &link) {
                    spdlog::warn("the connection between {} and {} is {}",
                                 service_.host(link.one), service_.host(link.other),
                                 link.dead ? "dead" : "back");
                }})
{
    CKPT_EXPECT(handlers_.heard && handlers_.over);
    if (!wake_) {
        fail_errno(errno, "no event descriptor");
    }
    loop_.watch(wake_.get(), EPOLLIN, [](std::uint32_t) {});
    thread_ = std::thread([this] { work(); });
}

NodeWatch::~NodeWatch()
{
    ending_ = true;
    eventfd_write(wake_.get(), 1);
    thread_.join();
    *alive_ = false; /* replies may still be queued */
}

void NodeWatch::work()
{
    while (!ending_) {
        turn();
        if (!has_heard_ && service_.has_heard()) {
            has_heard_ = true;
            tell_heard();
        }
    }
}

/* A violated invariant ends the handling of an event. The heartbeats go on, as a node that falls
 * silent would be taken for lost. */
void NodeWatch::turn()
{
    try {
        loop_.turn(std::chrono::steady_clock::now() + std::chrono::hours(1));
    } catch (const InvariantViolated &) {
        worker_.reply([] {}); /* wakes up the agent */
    }
}

/* The first member is `ckpt run`: the ranks can go on without it. */
void NodeWatch::changed(const Install &change)
{
    spdlog::info("view {}: {} members", change.view.number, change.view.members.size());
    for (const auto &departure : change.departed) {
        const std::string &host = service_.host(departure.member);
        if (departure.member == 0) {
            spdlog::warn("ckpt run on {} is lost; the job goes on", host);
        } else {
            tell_over(fmt::format("node {} is lost", host));
        }
    }
}

void NodeWatch::tell_heard()
{
    worker_.reply([this, alive = alive_] {
        if (*alive) {
            handlers_.heard();
        }
    });
}

void NodeWatch::tell_over(const std::string &why)
{
    worker_.reply([this, alive = alive_, why] {
        if (!*alive) {
            return;
        }
        if (auto over = std::exchange(handlers_.over, nullptr)) {
            over(why);
        }
    });
}

} // namespace ckpt
