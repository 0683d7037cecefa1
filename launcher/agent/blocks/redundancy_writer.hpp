/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * redundancy_writer.hpp - a node's part in protecting the pieces of other nodes: serves its own
 * pieces to them, and writes data that can replace theirs.
 */
#pragma once

#include "agent/blocks/block_server.hpp"
#include "agent/blocks/fabric_use.hpp"
#include "agent/messages/redundancy_order.hpp"
#include "agent/base/rejected_frames.hpp"
#include "agent/base/settings.hpp"
#include "agent/base/worker_thread.hpp"
#include "common/message_key.hpp"

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

namespace ckpt
{

class RedundancyWriter
{
  public:
    /* Both must live longer. */
    RedundancyWriter(const Settings &settings, RejectedFrames &rejected)
        : settings_(settings), rejected_(rejected), fabric_(settings.fabric)
    {
    }
    ~RedundancyWriter() { stop(); }

    /* From now on, other nodes with this key may read the pieces in this node's fast directory.
     * Another call changes the key. Only a job with two directories needs this. */
    void serve(const MessageKey &key);
    /* Address of the server: PeerAddress::place(); "": there is none. */
    std::string place() const;

    /* then: gets the error, or ""; runs on the writer's thread. Works in the order of the calls. */
    void write(RedundancyOrder order, std::function<void(const std::string &error)> then);
    /* Gives up the present and all waiting work. */
    void stop();

  private:
    std::string try_to_write(const RedundancyOrder &order);
    void keep_room(const RedundancyOrder &order);

    const Settings &settings_;
    RejectedFrames &rejected_;
    FabricUse fabric_;
    MessageKey key_{};
    std::unique_ptr<redundancy::BlockServer> server_;
    std::atomic<bool> cancelled_ = false;
    std::filesystem::path last_;           /* parity file written last; used by the thread only */
    std::unique_ptr<WorkerThread> thread_; /* set when there is work */
};

} // namespace ckpt
