/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * replay_in_place.hpp - a rank with independent checkpoints has died. Its copy comes to life and is
 * replayed, and the others keep their state: all meet in another world (docs/recovery.md).
 *
 * It begins when a checkpoint has stopped all other ranks, in place of writing it
 * (agent/ranks/salvage.hpp). Until the copy lives, any failure is answered by writing the
 * checkpoint after all. A failure later is a failure of the job.
 */
#pragma once

#include "agent/base/loop_timer.hpp"
#include "agent/messages/salvage_event.hpp"
#include "agent/ranks/local_node.hpp"
#include "agent/recovery/thawing.hpp"
#include "agent/recovery/world_service.hpp"

#include <chrono>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace ckpt
{

class ReplayInPlace
{
  public:
    struct Hooks {
        /* Returns the standard streams of a rank, or of its latest process; null: unknown. */
        std::function<const Streams *(int rank)> streams;
        /* Whether `ckpt run` is there to answer `recovering`. */
        std::function<bool()> is_supervised;
        std::function<void(const SalvageEvent &news)> news; /* to `ckpt run` */
        /* The copy lives, and the others have been told to change worlds: they are not saved. */
        std::function<void()> goes_on;
        /* The ranks are as before begin(): they are to be saved after all. */
        std::function<void()> save_instead;
    };

    /* The arguments must live longer. Context of all functions: normal, in the loop's thread. */
    ReplayInPlace(EventLoop &loop, LocalNode &local, WorldService &worlds, Hooks hooks);
    ReplayInPlace(const ReplayInPlace &) = delete;
    ReplayInPlace &operator=(const ReplayInPlace &) = delete;

    /* The rank, for which a proxy answers, can be replayed, and all others stand still and are
     * described. Returns false, with a message in the log, if this cannot be done in place. Else
     * one of goes_on() and save_instead() follows, unless give_up() comes before. */
    bool begin(int rank);
    /* The ranks do not stand still any more, or this rank cannot be replayed. */
    void give_up();
    /* `ckpt run` has answered `recovering`. */
    void answered(bool is_allowed);

    void rank_here(int rank);
    void rank_gone(int rank);
    /* The copy that this process is refuses to live. */
    void refused(pid_t process, const std::string &why);
    /* As LocalNode::Hooks::changes_world. */
    bool changed(int rank, const ckpt_message &answer);
    /* The end of the job was requested: no rank comes back. */
    void stop();
    /* Takes the next step. Call it after each turn of the loop. */
    void look();

    bool is_under_way() const { return phase_ != Phase::idle; }

  private:
    using Clock = std::chrono::steady_clock;
    enum class Phase {
        idle,
        asking,  /* `ckpt run`, whether the job is to go on */
        thawing, /* the copy does not live yet */
        changing /* the copy and the others are on their way to the new world */
    };

    std::string obstacle(int rank) const;
    void thaw();
    void change_others();
    void save_instead(const std::string &why);
    void fail(const std::string &why);
    void done();
    void settle();

    EventLoop &loop_;
    LocalNode &local_;
    WorldService &worlds_;
    Hooks hooks_;
    LoopTimer timer_; /* limit for an answer, and for the ranks to meet */
    Phase phase_ = Phase::idle;
    bool is_stopped_ = false;
    int rank_ = -1; /* the dead one */
    Clock::time_point began_;
    NextWorld world_;
    bool lives_ = false;          /* the copy; look() acts on it */
    bool is_refused_ = false;     /* the copy is frozen as before */
    std::string trouble_;         /* why a step has failed; look() acts on it */
    std::set<int> awaited_;       /* ranks that are not in the new world yet */
    std::optional<Thawing> copy_; /* empty: it has not been told to live */
};

} // namespace ckpt
