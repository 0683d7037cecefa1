/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * redundancy_writer.hpp - a node's part in keeping the pieces of others: lets them read its
 * own, and writes what can stand in for theirs.
 */
#pragma once

#include "agent/block_server.hpp"
#include "agent/fabric_use.hpp"
#include "agent/redundancy_order.hpp"
#include "agent/refusals.hpp"
#include "agent/settings.hpp"
#include "agent/worker_thread.hpp"
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
    RedundancyWriter(const Settings &settings, Refusals &refusals)
        : settings_(settings), refusals_(refusals), fabric_(settings.fabric)
    {
    }
    ~RedundancyWriter() { stop(); }

    /* From now on other nodes with this key may read the pieces that are in our fast
     * directory; again: with another key. Only a job with two directories needs that. */
    void serve(const MessageKey &key);
    /* Where they find us: PeerAddress::place(); empty: nowhere. */
    std::string place() const;

    /* then: why not, or empty; on a thread of its own. In the order of the calls. */
    void write(RedundancyOrder order, std::function<void(const std::string &error)> then);
    /* Gives up what is under way or waits. */
    void stop();

  private:
    std::string try_to_write(const RedundancyOrder &order);
    void keep_room(const RedundancyOrder &order);

    const Settings &settings_;
    Refusals &refusals_;
    FabricUse fabric_;
    MessageKey key_{};
    std::unique_ptr<redundancy::BlockServer> server_;
    std::atomic<bool> cancelled_ = false;
    std::filesystem::path last_; /* parity that was written; of the thread alone */
    std::unique_ptr<WorkerThread> thread_; /* when there is something to be written */
};

} // namespace ckpt
