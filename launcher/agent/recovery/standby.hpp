/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * standby.hpp - copies of the newest checkpoint that have begun MPI in the next world and wait, so
 * that a recovery only has to order them to go on (docs/recovery.md).
 *
 * A copy that does not come to stand, or ends, costs its twin in the other ranks, too: the next
 * recovery uses the copies that are kept.
 */
#pragma once

#include "agent/base/loop_timer.hpp"
#include "agent/ranks/kept_copies.hpp"
#include "agent/recovery/thawing.hpp"
#include "agent/recovery/world_service.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace ckpt
{

class Standby
{
  public:
    using Failed = std::function<void(const std::string &why)>;

    /* Copies that stand, as they are taken: the world in which they are, and by rank the process
     * and the connection over which it gets the order to go on. */
    struct Standing {
        std::string world;
        std::map<int, std::unique_ptr<Thawing>> copies;
        std::map<int, Fd> controls;
    };

    struct Hooks {
        std::function<void(pid_t copy)> stands; /* it has come to stand */
        /* Some copies have not come to stand in time. All of them end: others may do better. */
        std::function<void()> late;
    };

    /* loop, worlds: must live longer. Context of all functions: normal, in the loop's thread. */
    Standby(EventLoop &loop, WorldService &worlds, Hooks hooks);
    ~Standby();
    Standby(const Standby &) = delete;
    Standby &operator=(const Standby &) = delete;

    /* Brings copies to stand in the next world, which is registered (WorldService::obstacle()).
     * number, name: of their checkpoint. Errors are logged, and the copies end. */
    void begin(KeptCopies::ByRank copies, std::uint64_t number, const std::string &name);
    /* Whether copies are on the way, so that it is worth waiting for them. */
    bool is_coming() const { return !copies_.empty() && !all_stand(); }
    /* Whether former copies are still ending. begin() must not be called before their end. */
    bool is_ending() const { return !ending_.empty(); }
    /* The checkpoint whose copies stand; 0: none do. */
    std::uint64_t number() const;
    /* Gives the copies away, which all stand. failed: is called when one ends from now on. */
    Standing take(Failed failed);
    /* Ends all copies. */
    void end();
    /* Does what has become possible. Call it after each turn of the loop. */
    void look();

    /* Orders a copy to go on as the rank. connection: the rank's end. Returns why that is
     * impossible, or "". */
    static std::string go(const Fd &control, const Fd &connection, const Streams &streams);

  private:
    struct Copy {
        std::unique_ptr<Thawing> thawing;
        Fd control;
        bool stands = false;
    };
    /* Receives the news that a copy of one world ends. */
    struct Owner {
        Failed failed;
    };
    /* Processes that are ending; then their world is forgotten. */
    struct Ending {
        std::string world;
        std::vector<std::unique_ptr<Thawing>> copies;
    };

    void start(int rank, const KeptCopy &copy, const std::string &name,
               std::vector<std::string> environment);
    void said(int rank);
    bool all_stand() const;

    EventLoop &loop_;
    WorldService &worlds_;
    Hooks hooks_;
    LoopTimer timer_; /* limit for the copies to come to stand */
    bool is_late_ = false;
    std::map<int, Copy> copies_;
    std::shared_ptr<Owner> owner_;
    std::string world_;
    std::uint64_t number_ = 0;
    std::string trouble_; /* why the copies do not stand; look() acts on it */
    std::vector<Ending> ending_;
};

} // namespace ckpt
