/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * piece_job.hpp - an agent's node with stopped ranks, for tests of pieces.
 */
#pragma once

#include "agent/coordinator/coordinator_link.hpp"
#include "agent/base/listener.hpp"
#include "agent/ranks/local_node.hpp"
#include "agent/links/peer_listener.hpp"
#include "agent/coordinator/remote_node.hpp"
#include "image/nodefile/message_log.hpp"
#include "tests/common/child_process.hpp"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace ckpt::test
{

constexpr int piece_ranks = 3;

using Words = std::vector<std::string>;

/* The reports of a node, in words. */
class Events : public NodeEvents
{
  public:
    void rank_here(Node &, int rank, int, pid_t, const RankCut &) override
    {
        here.insert(rank);
    }
    void rank_said(int, const ckpt_message &) override {}
    void rank_finished(int) override {}
    void rank_gone(int rank) override
    {
        here.erase(rank);
    }
    void captured(int rank) override
    {
        told.push_back(fmt::format("{}", rank));
    }
    void written(Node &, const WrittenPiece &written) override
    {
        told.push_back("written");
        last_piece = written.piece;
        last_memory = written.memory;
    }
    void copied(Node &, const std::string &file, const std::string &error) override
    {
        told.push_back(fmt::format("copied {} {}", file, error));
    }
    void folded(Node &, std::uint64_t number, const Piece &) override
    {
        told.push_back(fmt::format("folded {}", number));
    }
    void redundancy_written(Node &, std::uint64_t, const std::string &) override {}
    void sweep_opened(Node &) override
    {
        told.push_back("sweep opened");
    }
    void sweep_failed(Node &, const std::string &reason) override
    {
        told.push_back("sweep failed");
        last_reason = reason;
    }
    void failed(const Refusal &reason) override
    {
        told.push_back("failed");
        last_reason = reason.text();
    }
    void failed_once(const Refusal &reason) override
    {
        told.push_back("failed once");
        last_reason = reason.text();
    }
    void undone(Node &) override
    {
        told.push_back("undone");
    }

    std::set<int> here;
    Words told; /* a rank's number: that rank is captured */
    Piece last_piece;
    std::uint64_t last_memory = 0;
    std::string last_reason;
};

enum class Where {
    here,
    elsewhere
};

/* An agent's node with stopped ranks; its coordinator is local or behind TCP. */
class Job
{
  public:
    using Prepare = std::function<void(Description &, int rank)>;

    explicit Job(Where where, const Prepare &prepare = {});
    ~Job();

    /* The coordinator's view. */
    Node &node()
    {
        return remote_ ? static_cast<Node &>(*remote_) : *local_;
    }
    std::uint64_t snapshot(int rank) const
    {
        return ranks_[rank]->snapshot();
    }
    void add(int rank)
    {
        node().add_to_piece(rank, snapshot(rank));
    }
    ChildProcess &rank(int rank)
    {
        return *ranks_[rank];
    }

    /* Runs the agents until the condition holds. */
    void await(const std::function<bool()> &condition);
    void await(const std::string &word)
    {
        await([&] { return std::ranges::count(events.told, word) > 0; });
    }
    /* Runs the agents until all orders are complete. */
    void settle();

    std::filesystem::path checkpoint() const
    {
        return scratch / "ckpt/job/000001";
    }
    std::filesystem::path log(int rank) const
    {
        return message_log_path(checkpoint(), rank);
    }
    void write_log(int rank, const std::string &bytes) const;
    /* Names in the directory of the checkpoint. */
    Words files() const;

    void lose_coordinator()
    {
        remote_.reset();
    }
    CoordinatorLink *link()
    {
        return link_.get();
    }
    WorkerThread &worker()
    {
        return worker_;
    }

    ScratchDirectory scratch;
    Events events;

  private:
    EventLoop loop_;
    WorkerThread worker_;
    Settings settings_{ckpt::settings::Values()};
    RejectedFrames rejected_;
    std::optional<LocalNode> local_;
    std::unique_ptr<Listener> listener_;
    std::unique_ptr<PeerListener> peers_;
    std::unique_ptr<CoordinatorLink> link_;
    std::unique_ptr<RemoteNode> remote_;
    std::vector<std::unique_ptr<ChildProcess>> ranks_;
};

} // namespace ckpt::test
