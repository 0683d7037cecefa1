/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * block_server.cpp - a thread with an event loop, and its sessions.
 */
#include "agent/blocks/block_server.hpp"

#include "agent/blocks/block_session.hpp"
#include "agent/blocks/block_tags.hpp"
#include "agent/blocks/fabric_host.hpp"
#include "agent/links/peer_listener.hpp"
#include "common/error.hpp"
#include "common/event_loop.hpp"
#include "common/host.hpp"

#include <spdlog/spdlog.h>

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <list>
#include <thread>
#include <utility>

namespace ckpt::redundancy
{

namespace
{

PeerAddress address_with(const MessageKey &key)
{
    PeerAddress address;

    address.key = key;
    address.hosts = host_addresses();
    return address;
}

} // namespace

/* Everything except the constructor, the destructor and address() runs on the thread. */
class BlockServer::Work
{
  public:
    Work(PeerIdentity self, const MessageKey &key, std::filesystem::path root,
         RejectedFrames &rejected, fabric::Choice fabric)
        : root_(std::move(root)), rejected_(rejected), fabric_(loop_, std::move(fabric)),
          listener_(loop_, std::move(self), address_with(key), rejected,
                    [this](auto stream, const std::string &, const std::string &purpose) {
                        accept(*stream, purpose);
                    }),
          end_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))
    {
        if (!end_) {
            fail_errno(errno, "no eventfd");
        }
        loop_.watch(end_.get(), EPOLLIN, [this](std::uint32_t) { is_ending_ = true; });
        thread_ = std::thread([this] { run(); });
    }

    ~Work()
    {
        (void)::eventfd_write(end_.get(), 1);
        thread_.join();
    }

    /* The address does not change after construction. */
    const PeerAddress &address() const { return listener_.address(); }

  private:
    using Sessions = std::list<std::unique_ptr<BlockSession>>;

    static bool has_lent(const std::unique_ptr<BlockSession> &session)
    {
        return session && session->has_lent();
    }

    void run()
    try {
        while (!is_ending_) {
            const bool may_wait =
                fabric_.drive(std::ranges::any_of(sessions_, has_lent));
            loop_.turn(std::chrono::steady_clock::now() +
                       std::chrono::hours(may_wait ? 1 : 0));
        }
        sessions_.clear();
    } catch (const std::exception &error) {
        spdlog::error("other nodes cannot read checkpoints here any more: {}",
                      error.what());
    }

    void accept(FrameStream &stream, const std::string &purpose)
    try {
        if (purpose != block_purpose) {
            reject(Rejection::foreign, "who serves blocks was called");
        }
        FrameStream::Released connection = stream.release();
        const auto place = sessions_.emplace(sessions_.end());
        *place = std::make_unique<BlockSession>(
            loop_, std::move(connection), stream.peer(), root_, rejected_, fabric_,
            [this, place] { sessions_.erase(place); });
    } catch (const Rejected &error) {
        rejected_.count(error.why(), fmt::format("{}: {}", stream.peer(), error.what()));
    }

    const std::filesystem::path root_;
    RejectedFrames &rejected_;
    EventLoop loop_;
    FabricHost fabric_; /* lends memory to the sessions */
    Sessions sessions_;
    PeerListener listener_;
    Fd end_; /* readable when the thread has to end */
    bool is_ending_ = false;
    std::thread thread_;
};

BlockServer::BlockServer(PeerIdentity self, const MessageKey &key,
                         std::filesystem::path root, RejectedFrames &rejected,
                         fabric::Choice fabric)
    : work_(std::make_unique<Work>(std::move(self), key, std::move(root), rejected,
                                   std::move(fabric)))
{
}

BlockServer::~BlockServer() = default;

const PeerAddress &BlockServer::address() const
{
    return work_->address();
}

} // namespace ckpt::redundancy
