/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * node_level.hpp - checkpoints whose pieces lie on the nodes: has the nodes protect each
 * other's pieces, while the job runs on, and notes how (docs/levels.md). Part of the
 * coordinator.
 *
 * One checkpoint is under way at a time; of those that come meanwhile only the newest will
 * be next. What goes wrong is told, and tried again with the next checkpoint.
 */
#pragma once

#include "agent/redundancy_order.hpp"
#include "agent/worker_thread.hpp"
#include "image/manifest.hpp"
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

/* To be used by the thread of the event loop, unless something else is said. */
class NodeLevel
{
  public:
    struct Hooks {
        /* Where a host's pieces can be read; empty: there is no agent. */
        std::function<std::string(const std::string &host)> place;
        /* Has a host of those write redundancy, which written() will tell. */
        std::function<void(const std::string &host, const RedundancyOrder &order)> write;
        /* Nothing is under way just now. */
        std::function<void()> over;
    };

    /* worker: of the event loop. fast: the directory of the job on each node. records: that
     * of the notes. redundant: what an agent before us has had protected, which is needed as
     * ever: newest_protected(). domains: file with the failure domains of nodes, or empty. */
    NodeLevel(WorkerThread &worker, std::filesystem::path fast,
              std::filesystem::path records, std::uint64_t redundant,
              redundancy::Scheme scheme, std::filesystem::path domains, Hooks hooks);

    /* Why not; empty if it survives the loss of nodes. */
    using Then = std::function<void(const std::string &error)>;

    /* Whether anything can survive that. */
    bool protects() const { return scheme_.kind != redundancy::Scheme::Kind::none; }

    /* This checkpoint has been noted, and lies on the nodes. then: is told what becomes of
     * it, unless a newer one takes its place before it is begun. */
    void committed(const Manifest &manifest, Then then = {});
    /* A host's answer. error: why it has not, or empty */
    void written(const std::string &host, std::uint64_t number, const std::string &error);
    void host_gone(const std::string &host);

    bool idle() const { return target_ == 0 && thread_.idle(); }

    /* The newest that survives the loss of nodes, what is on its way to that (0: none), and
     * why the last one does not (or ""). */
    std::uint64_t redundant() const { return redundant_; }
    std::uint64_t under_way() const { return target_; }
    const std::string &error() const { return error_; }
    /* How long that took from its commit on, of the newest. */
    double seconds() const { return seconds_; }

    /* What is needed on the nodes. Thread-safe. */
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

    std::optional<Manifest> next_, manifest_; /* to be begun; under way */
    Then next_then_, then_;
    std::vector<redundancy::Group> groups_;   /* of that */
    std::set<std::string> writing_;           /* hosts */
    std::string failure_;                     /* of what is under way */
    std::string error_;
    std::chrono::steady_clock::time_point begun_;
    double seconds_ = 0;

    mutable std::mutex mutex_; /* of what needed() tells */
    std::uint64_t newest_ = 0, target_ = 0, redundant_ = 0;

    WorkerThread thread_; /* last: its work ends before all else does */
};

/* The newest checkpoint that survives the loss of nodes, by the notes; 0: none does. Asks the
 * file system. Throws Error. */
std::uint64_t newest_protected(const std::filesystem::path &records);

} // namespace ckpt
