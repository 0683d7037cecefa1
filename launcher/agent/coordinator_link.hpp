/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * coordinator_link.hpp - takes the orders of a coordinator on another node, and
 * tells it what happens on this one.
 */
#pragma once

#include "agent/frame_stream.hpp"
#include "agent/local_node.hpp"
#include "agent/peer_address.hpp"
#include "agent/settings.hpp"
#include "agent/worker_thread.hpp"

#include <memory>

namespace ckpt
{

class CoordinatorLink : private NodeEvents
{
  public:
    using Time = EventLoop::Time;

    /* Connects at once, and again whenever the connection was lost. */
    CoordinatorLink(EventLoop &loop, WorkerThread &worker, LocalNode &local,
                    const Settings &settings, PeerAddress address);
    ~CoordinatorLink() override;

    void tick(Time now);
    Time next_tick(Time now) const;
    bool connected() const { return stream_ != nullptr && welcome_; }
    /* Nothing waits to be sent. */
    bool idle() const { return stream_ == nullptr || stream_->idle(); }

  private:
    void connect();
    void connected_to(Fd socket, const std::string &error);
    void lost();
    void on_frame(const nlohmann::json &frame);
    void order(const std::string &type, const nlohmann::json &frame);
    void send_clocks();

    void rank_here(Node &node, int rank, int rank_count, pid_t pid) override;
    void rank_said(int rank, const ckpt_message &message) override;
    void rank_finished(int rank) override;
    void rank_gone(int rank) override;
    void captured(int rank) override;
    void written(const Piece &piece, std::uint64_t memory) override;
    void failed(const std::string &reason) override;
    void undone(Node &node) override;

    EventLoop &loop_;
    WorkerThread &worker_;
    LocalNode &local_;
    const Settings &settings_;
    PeerAddress address_;
    std::unique_ptr<FrameStream> stream_;
    bool connecting_ = false;
    bool welcome_ = false;  /* the other side has shown its key */
    bool aligning_ = false; /* ranks run towards their targets */
    bool cutting_ = false; /* ranks are told CUT: they answer with their counts */
    std::uint64_t epoch_ = 0;
    std::map<int, nlohmann::json> told_clocks_;
    Time retry_at_{};
};

} // namespace ckpt
