/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * remote_node.hpp - the ranks of another node, reached through that node's
 * agent.
 */
#pragma once

#include "agent/links/frame_stream.hpp"
#include "agent/messages/node.hpp"
#include "agent/base/rejected_frames.hpp"
#include "agent/recovery/partners.hpp"

#include <map>
#include <memory>

namespace ckpt
{

class RemoteNode : public Node
{
  public:
    /* gone: called when the connection has ended; destroy this object later. */
    RemoteNode(std::unique_ptr<FrameStream> stream, std::string host,
               NodeEvents &events, std::function<void()> gone);
    ~RemoteNode() override { leave(); }
    RemoteNode(const RemoteNode &) = delete;
    RemoteNode &operator=(const RemoteNode &) = delete;

    /* From now on the node takes part in recoveries in place. partners must live longer. */
    void join(Partners &partners);
    /* It takes part no longer: its connection has ended. */
    void leave();

    const std::string &host() const override { return host_; }
    const std::string &address() const override { return address_; }
    const std::string &blocks() const override { return blocks_; }
    /* The agent's rejected frames, by its latest report. */
    const RejectedFrames::Counts &rejected() const { return rejected_; }
    FileSystem file_system() const override { return file_system_; }
    int memory_of(int rank) const override;
    void set_targets(int rank,
                     const std::vector<std::uint64_t> &targets) override;
    void set_expected(int rank,
                      const std::vector<std::uint64_t> &expected) override;
    void send(const action::Send &order, std::uint64_t epoch) override;
    void capture(const std::filesystem::path &directory,
                 const RankSnapshots &snapshots) override;
    void open_piece(const std::filesystem::path &directory) override;
    void add_to_piece(int rank, std::uint64_t snapshot) override;
    void close_piece(const std::vector<int> &ranks) override;
    std::uint64_t saved(const std::filesystem::path &directory) const override;
    void set_sweep_plan(const SweepPlan &plan) override;
    void open_sweep(std::uint64_t epoch) override;
    void undo() override;
    void pause_protection(const std::string &reason) override;
    void committed(std::uint64_t number) override;
    void copy_piece(const std::filesystem::path &from, const std::filesystem::path &to,
                    const Piece &piece) override;
    void write_redundancy(const RedundancyOrder &order) override;
    void discard(const std::filesystem::path &job, std::uint64_t end,
                 const std::set<std::uint64_t> &stay) override;
    void kill() override;
    std::vector<ckpt_clock> clocks(int rank) const override;
    std::uint64_t sent(int rank, int peer) const override;
    std::uint64_t received(int rank, int peer) const override;
    RankSeen seen(int rank, std::uint64_t epoch) const override;
    void compare_clocks() override;
    ClockOffset clock() const override { return probe_.best(); }

  private:
    /* The agent's latest report about a rank's page. */
    struct Page {
        std::size_t peers = 0; /* ranks of the job */
        std::vector<ckpt_clock> clocks;
        std::vector<std::uint64_t> sent, received;
        RankSeen seen;
        int memory = 0;

        void set_counts(const nlohmann::json &frame);
    };

    void on_frame(const nlohmann::json &frame);
    void rank_said(const nlohmann::json &frame);
    void ask_for_clock();
    int rank_of(const nlohmann::json &frame) const;

    std::unique_ptr<FrameStream> stream_;
    std::string host_;
    std::string address_, blocks_;
    FileSystem file_system_;
    RejectedFrames::Counts rejected_;
    NodeEvents &events_;
    Partners *partners_ = nullptr;
    std::uint64_t connection_ = 0; /* as partners_ counts */
    std::map<int, Page> pages_;    /* of the node's ranks */
    ClockProbe probe_;
    std::string saved_in_; /* directory in the agent's latest report */
    std::uint64_t saved_ = 0;
};

} // namespace ckpt
