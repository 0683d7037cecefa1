/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * coordinator_link.hpp - takes orders from a coordinator on another node, and
 * reports the events of this node.
 */
#pragma once

#include "agent/ranks/local_node.hpp"
#include "agent/recovery/partners.hpp"
#include "agent/links/peer_connection.hpp"
#include "agent/base/settings.hpp"
#include "agent/base/worker_thread.hpp"

#include <memory>

namespace ckpt
{

class CoordinatorLink : private NodeEvents
{
  public:
    using Time = EventLoop::Time;

    /* Connects at once, and again whenever the connection is lost. */
    CoordinatorLink(EventLoop &loop, WorkerThread &worker, LocalNode &local,
                    const Settings &settings, PeerAddress address,
                    RejectedFrames &rejected);
    ~CoordinatorLink() override;

    /* From now on this node takes part in recoveries in place. partners must live longer. */
    void join(Partners &partners);

    void tick(Time now);
    Time next_tick(Time now) const;
    bool connected() const { return peer_.connected(); }
    /* Whether nothing waits to be sent. */
    bool idle() const { return peer_.idle(); }

  private:
    void begin();
    void unreachable();
    void lost();
    void order(const std::string &type, const nlohmann::json &frame);
    void discard(const std::filesystem::path &job, std::uint64_t end,
                 const std::set<std::uint64_t> &stay);
    void send_clocks();
    void tell_rejected();
    void tell_saved();
    void begin_to_save(const std::string &directory);

    void rank_here(Node &node, int rank, int rank_count, pid_t pid,
                   const RankCut &cut) override;
    void rank_said(int rank, const ckpt_message &message) override;
    void rank_finished(int rank) override;
    void rank_gone(int rank) override;
    void captured(int rank) override;
    void written(Node &node, const WrittenPiece &written) override;
    void failed(const Refusal &reason) override;
    void failed_once(const Refusal &reason) override;
    void folded(Node &node, std::uint64_t number, const Piece &piece) override;
    void copied(Node &node, const std::string &file, const std::string &error) override;
    void redundancy_written(Node &node, std::uint64_t number,
                            const std::string &error) override;
    void sweep_opened(Node &node) override;
    void sweep_failed(Node &node, const std::string &reason) override;
    void undone(Node &node) override;

    LocalNode &local_;
    const Settings &settings_;
    RejectedFrames &rejected_;
    Partners *partners_ = nullptr;
    std::uint64_t told_rejected_ = 0; /* number of rejected at the latest report */
    PeerConnection peer_;
    bool aligning_ = false; /* ranks run towards their targets */
    bool cutting_ = false;  /* ranks have got CUT: they answer with their counts */
    std::uint64_t epoch_ = 0;
    std::map<int, nlohmann::json> told_clocks_;
    Time retry_at_{};
    std::string saving_in_; /* directory of the piece being written; empty: none */
    std::uint64_t told_saved_ = 0;
    Time tell_saved_at_{};
};

} // namespace ckpt
