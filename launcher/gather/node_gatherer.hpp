/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * node_gatherer.hpp - gathers the pieces of a checkpoint, on the side of a node
 * (gather/gathering.hpp). Each future rank has one object; one of them performs the tasks
 * of its node.
 */
#pragma once

#include "agent/blocks/block_server.hpp"
#include "agent/blocks/fabric_use.hpp"
#include "agent/links/peer_connection.hpp"
#include "agent/base/rejected_frames.hpp"
#include "agent/supervision/supervisor_file.hpp"
#include "agent/base/worker_thread.hpp"
#include "common/event_loop.hpp"
#include "gather/gather_plan.hpp"

#include <nlohmann/json.hpp>

#include <atomic>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

namespace ckpt::gather
{

class NodeGatherer
{
  public:
    /* directory: of the checkpoint on this node, DIR/JOB/NUMBER. command: address and
     * key of the gathering command. fabric: the fabric over which nodes read from each
     * other. */
    NodeGatherer(std::filesystem::path directory, std::string host, int rank,
                 const SupervisorFile &command, fabric::Choice fabric);
    ~NodeGatherer();

    /* Returns when the directory has the pieces that the ranks of this node need. Throws
     * Error. */
    void run();

  private:
    void said(const nlohmann::json &frame);
    void lead();
    void gather(const nlohmann::json &frame);
    void do_tasks(const Tasks &tasks, const std::string &manifest);
    void over(const std::string &failure);

    const std::filesystem::path directory_;
    const std::string host_;
    const int rank_;
    const MessageKey key_;
    FabricUse fabric_;
    EventLoop loop_;
    RejectedFrames rejected_;
    std::unique_ptr<redundancy::BlockServer> server_; /* null: does not lead */
    std::atomic<bool> cancelled_ = false;
    std::optional<std::string> end_; /* set at the end: the failure, or "" */
    WorkerThread worker_;            /* connects to the command */
    WorkerThread working_;           /* fetches and rebuilds; may use the members above */
    std::unique_ptr<PeerConnection> command_;
};

} // namespace ckpt::gather
