/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * node_level.hpp - checkpoints whose pieces are on the nodes. It makes the nodes protect each
 * other's pieces while the job runs on, and records how (docs/levels.md). Part of the coordinator.
 *
 * One checkpoint is protected at a time. Of the checkpoints that come meanwhile only the newest is
 * next. An error is reported, and the next checkpoint is another attempt.
 */
#pragma once

#include "agent/messages/redundancy_order.hpp"
#include "agent/base/worker_thread.hpp"
#include "image/store/manifest.hpp"
#include "redundancy/scheme.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace ckpt
{

/* Only the thread of the event loop may use it, if not said otherwise. */
class NodeLevel
{
  public:
    struct Hooks {
        /* Returns the address at which a host's pieces can be read; empty: the host has no
         * agent. */
        std::function<std::string(const std::string &host)> place;
        /* Orders a host with such an address to write redundancy. The caller reports the answer
         * with written(). */
        std::function<void(const std::string &host, const RedundancyOrder &order)> write;
        /* No checkpoint is being protected just now. */
        std::function<void()> over;
    };

    /* worker: of the event loop. fast: the directory of the job on each node. records: the
     * directory of the records. redundant: newest_protected(), the checkpoint that an earlier
     * agent has protected and that is still needed. domains: file with the failure domains of
     * nodes, or "". */
    NodeLevel(WorkerThread &worker, std::filesystem::path fast,
              std::filesystem::path records, std::uint64_t redundant,
              redundancy::Scheme scheme, std::filesystem::path domains, Hooks hooks);

    /* error: why the checkpoint does not survive the loss of nodes; empty: it does. */
    using Then = std::function<void(const std::string &error)>;

    /* Whether checkpoints can be protected at all. */
    bool protects() const { return scheme_.kind != redundancy::Scheme::Kind::none; }

    /* This checkpoint is recorded, and is on the nodes. then: gets the result, unless a newer
     * checkpoint replaces this one before its protection begins. */
    void committed(const Manifest &manifest, Then then = {});
    /* A host's answer. error: why it has not written its part, or "". */
    void written(const std::string &host, std::uint64_t number, const std::string &error);
    void host_gone(const std::string &host);

    bool idle() const { return target_ == 0 && thread_.idle(); }

    /* The newest checkpoint that survives the loss of nodes, and the checkpoint that is being
     * protected (0: none). error(): why the latest one does not survive, or "". */
    std::uint64_t redundant() const { return redundant_; }
    std::uint64_t under_way() const { return target_; }
    const std::string &error() const { return error_; }
    /* Seconds from the commit of the newest such checkpoint until it was protected. */
    double seconds() const { return seconds_; }

    /* The checkpoints that are needed on the nodes. Thread-safe. */
    std::set<std::uint64_t> needed() const;

  private:
    void begin();
    void order(const std::vector<redundancy::Group> &groups);
    void all_answered();
    void note();
    void end(const std::string &error);

    WorkerThread &worker_;
    const std::filesystem::path fast_, records_;
    const redundancy::Scheme scheme_;
    const std::filesystem::path domains_;
    const Hooks hooks_;

    std::optional<Manifest> next_, manifest_; /* the next one, and the one under way */
    Then next_then_, then_;
    std::vector<redundancy::Group> groups_; /* of manifest_ */
    std::set<std::string> writing_;         /* hosts that have not answered */
    std::string failure_;                   /* of the checkpoint under way */
    std::string error_;
    std::chrono::steady_clock::time_point begun_;
    double seconds_ = 0;

    mutable std::mutex mutex_; /* protects the numbers that needed() returns */
    std::uint64_t newest_ = 0, target_ = 0, redundant_ = 0;

    WorkerThread thread_; /* last, so that its work ends before other members are destroyed */
};

/* Returns the newest checkpoint whose record says that it survives the loss of nodes; 0: none.
 * Reads the file system. Throws Error. */
std::uint64_t newest_protected(const std::filesystem::path &records);

} // namespace ckpt
