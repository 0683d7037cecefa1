/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * recovery.hpp - a rank has died, and all ranks go back to the newest checkpoint in place: their
 * frozen copies become the ranks, in a new world (docs/recovery.md).
 *
 * Each failure before the copies live is a failure of the job as without this class: `ckpt run`
 * restarts it from the checkpoint.
 */
#pragma once

#include "agent/base/loop_timer.hpp"
#include "agent/messages/salvage_event.hpp"
#include "agent/ranks/local_node.hpp"
#include "agent/recovery/thawing.hpp"
#include "agent/recovery/world_service.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace ckpt
{

class Recovery
{
  public:
    struct Hooks {
        /* Whether no checkpoint is under way, and the newest one is committed or given up. */
        std::function<bool()> is_settled;
        /* Rolls files back to this checkpoint in the background. Calls `done` with "", or why that
         * is impossible. */
        std::function<void(std::uint64_t number, std::function<void(const std::string &)> done)>
            roll_back;
        /* Name of a checkpoint, for messages. */
        std::function<std::string(std::uint64_t number)> name;
        std::function<void(const SalvageEvent &news)> news; /* to `ckpt run` */
        /* Whether `ckpt run` is there to answer `recovering`. */
        std::function<bool()> is_supervised;
        /* A rank of a new world has called MPI_Abort. */
        std::function<void(int rank, int code)> aborted;
    };

    /* The arguments must live longer. Context of all functions: normal, in the loop's thread. */
    Recovery(EventLoop &loop, LocalNode &local, const Settings &settings, Hooks hooks);
    ~Recovery();
    Recovery(const Recovery &) = delete;
    Recovery &operator=(const Recovery &) = delete;

    /* A rank has connected; has disconnected, though its process may live on. */
    void rank_here(const RankSession &rank);
    void rank_gone(int rank);
    /* The process of a connected rank is a shell. */
    void rank_is_shell(int rank);
    /* status: of the rank's process, from wait(2) */
    void rank_exited(int rank, int status);
    /* `ckpt run` has answered `recovering`. is_allowed: nobody has asked for the end of the job. */
    void answered(bool is_allowed);
    /* A checkpoint is committed: prepares the next world. */
    void committed();
    /* The copy that this process is refuses to live. */
    void refused(pid_t process, const std::string &why);
    /* The end of the job was requested: no rank comes back. */
    void stop();
    /* Does what has become possible. Call it after each turn of the loop. */
    void look();

    bool is_under_way() const { return phase_ != Phase::idle; }

  private:
    using Clock = std::chrono::steady_clock;
    enum class Phase {
        idle,
        awaiting, /* the end of a rank that has disconnected, and the answer of `ckpt run` */
        ending,   /* of all other ranks, and of a checkpoint that is under way */
        rolling_back,
        thawing
    };
    /* A rank's present process. */
    struct Process {
        Fd process; /* empty: it has ended */
        std::optional<Streams> streams;
    };

    std::string obstacle(int rank) const;
    void watch_end_of(int rank);
    void ended(int rank);
    void take_streams(Process &known) const;
    void close_streams();
    void find_library();
    void end_others();
    void end_process(int rank);
    void overdue();
    bool all_have_ended() const;
    void roll_back();
    void thaw();
    void done();
    void end_copies() const;
    void attempt_failed(const std::string &why);
    void fail(const std::string &why);
    void settle();

    EventLoop &loop_;
    LocalNode &local_;
    const Settings &settings_;
    Hooks hooks_;
    std::string library_; /* PMIx library of new worlds; "": no worlds */
    /* The launcher ends with its last process, so the ranks' first processes stay as shells. */
    const bool uses_shells_;
    WorldService worlds_;
    LoopTimer timer_; /* limit for an answer, for the old processes, and for the copies */
    Phase phase_ = Phase::idle;
    bool is_stopped_ = false;
    int rank_count_ = 0;
    int dead_ = -1; /* the rank whose death began it */
    Clock::time_point began_;
    std::uint64_t number_ = 0; /* of the checkpoint */
    bool is_allowed_ = false;
    bool is_overdue_ = false;          /* something that must end or come does not */
    int times_ = 0;                    /* that the job has gone back to this checkpoint */
    int attempts_ = 0;                 /* to thaw the copies, of this failure */
    std::string trouble_;              /* why the copies do not live; look() acts on it */
    std::map<int, Process> processes_; /* by rank */
    bool has_streams_of_ended_ = false;
    bool awaits_shells_ = false; /* processes have been told to become shells */
    std::map<int, std::unique_ptr<Thawing>> thawing_;
};

} // namespace ckpt
