/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * recovery.hpp - a rank has died, and all ranks go back to the newest checkpoint in place: their
 * frozen copies become the ranks, in a new world (docs/recovery.md).
 *
 * In a job on several nodes each agent has this object. The coordinator's decides, and tells the
 * others what to do with their ranks (partners.hpp).
 *
 * Each failure before the copies live is a failure of the job as without this class: `ckpt run`
 * restarts it from the checkpoint.
 */
#pragma once

#include "agent/base/loop_timer.hpp"
#include "agent/base/pressure_watch.hpp"
#include "agent/messages/salvage_event.hpp"
#include "agent/ranks/local_node.hpp"
#include "agent/recovery/partners.hpp"
#include "agent/recovery/replay_in_place.hpp"
#include "agent/recovery/standby.hpp"
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
        /* Rolls files back to this checkpoint in the background, if this agent coordinates, after
         * all background work for copies. Calls `done` with "", or why that is impossible. */
        std::function<void(std::uint64_t number, std::function<void(const std::string &)> done)>
            roll_back;
        /* The nodes with all ranks of the job; empty: they are not known here. */
        std::function<std::vector<world::WorldNode>()> nodes;
        /* Name of a checkpoint, for messages. */
        std::function<std::string(std::uint64_t number)> name;
        std::function<void(const SalvageEvent &news)> news; /* to `ckpt run` */
        /* Whether `ckpt run` is there to answer `recovering`. */
        std::function<bool()> is_supervised;
        /* The launcher's process; 0: it is not on this node. */
        std::function<pid_t()> launcher;
        /* The answer to adopt(): "", or why the ranks cannot go on without their launcher. */
        std::function<void(const std::string &why)> adopted;
        /* A rank of a new world has called MPI_Abort. */
        std::function<void(int rank, int code)> aborted;
        /* As ReplayInPlace::Hooks. */
        std::function<void()> goes_on;
        std::function<void()> save_instead;
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
    /* The launcher has ended, although ranks have not. They are to go on without it. */
    void adopt() { is_asked_to_adopt_ = true; }
    /* A checkpoint is committed, or that of one rank is there: prepares the next world. */
    void committed();
    /* There is a second copy of each rank. */
    void twins_made();
    /* The checkpoint whose copies stand by; 0: none do. */
    std::uint64_t standby_number() const { return standby_.number(); }
    /* The copy that this process is refuses to live. is_final: so would its twin. */
    void refused(pid_t process, const std::string &why, bool is_final);
    /* The end of the job was requested: no rank comes back. */
    void stop();
    /* Does what has become possible. Call it after each turn of the loop. */
    void look();

    bool is_under_way() const { return phase_ != Phase::idle || replay_.is_under_way(); }
    /* A rank alone comes back. */
    ReplayInPlace &replay() { return replay_; }
    /* The other nodes: tell it what their agents say. */
    Partners &partners() { return partners_; }

  private:
    using Clock = std::chrono::steady_clock;
    /* Worlds that the ranks try to enter after one failure. */
    static constexpr int most_attempts = 3;
    /* For the survivors to end, for a checkpoint under way, and for the next world to be
     * registered. */
    static constexpr std::chrono::seconds longest_end{30};
    static constexpr const char *no_process_left = "mpirun ends with its last process";
    enum class Phase {
        idle,
        awaiting, /* the end of a rank that has disconnected, and the answer of `ckpt run` */
        ending,   /* of all other ranks, and of a checkpoint that is under way */
        ready,    /* all have ended here; the coordinator's next order is awaited */
        rolling_back,
        thawing
    };
    /* A rank's present process. */
    struct Process {
        Fd process; /* empty: it has ended */
        std::optional<Streams> streams;
        bool was_copy = false; /* the launcher has not started it */
    };

    ReplayInPlace::Hooks replay_hooks();
    Partners::Hooks partner_hooks();
    void ordered(const RecoveryOrder &order);
    void asked(const RecoveryOrder &order);
    void ordered_to_end();
    void ordered_to_thaw(const RecoveryOrder &order);
    void reported(const std::string &host, const RecoveryReport &report);
    void partner_died(const std::string &host, const RecoveryReport &report);
    void partner_failed();
    void partner_lost(const std::string &host);
    void died(int rank, const std::string &why);
    void aborted(int rank, int code);
    void report(RecoveryReport::Step step, const std::string &why = {});
    void has_returned();
    void look_as_follower();
    bool has_ended(int rank) const;
    bool copies_are_complete() const;
    bool shells_are_missing() const;

    std::string obstacle(int rank) const;
    std::string obstacle_of_job() const;
    void begin(int rank);
    void not_begun(int rank, const std::string &why);
    void watch_end_of(int rank);
    void ended(int rank);
    void take_streams(Process &known) const;
    void take_launcher_streams();
    std::string leave_launcher();
    void try_to_adopt();
    void close_streams();
    void find_library();
    void memory_is_short();
    void end_others();
    void end_process(int rank);
    void overdue();
    bool all_have_ended() const;
    void roll_back();
    void thaw();
    void thaw_frozen();
    void wake_standing();
    void failed(const std::string &why);
    void lead(int rank, std::unique_ptr<Thawing> thawing, Fd own);
    void stand_by();
    void stand_again();
    void done();
    void tell_done();
    void end_copies() const;
    void clean_up(const std::string &why);
    void attempt_failed(const std::string &why);
    void fail(const std::string &why);
    void settle();

    EventLoop &loop_;
    LocalNode &local_;
    const Settings &settings_;
    Hooks hooks_;
    const bool can_have_worlds_; /* copies are wanted, and ranks use Open MPI */
    std::string library_;        /* PMIx library of new worlds; "": no worlds */
    /* The launcher ends with its last process, so the ranks' first processes stay as shells. */
    bool uses_shells_;
    /* With them a rank needs no process of the launcher. Nothing: they cannot be had. */
    std::optional<Streams> launcher_streams_;
    bool is_asked_to_adopt_ = false;
    bool is_adopting_ = false; /* no rank has died: the launcher has ended */
    Partners partners_;
    WorldService worlds_;
    /* Set if copies are kept only with room. */
    std::optional<PressureWatch> pressure_;
    Standby standby_;
    bool wants_standby_ = false; /* second copies can stand as soon as there is a world */
    int late_ = 0;               /* how often copies of this checkpoint did not stand in time */
    ReplayInPlace replay_;
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
    bool awaits_shells_ = false;       /* processes have been told to become shells */
    bool must_answer_ = false;         /* the coordinator's question, after the process's end */
    bool has_reported_ = false;        /* how this attempt to thaw the copies has ended here */
    std::string partner_failure_;      /* why another node cannot go on; look() acts on it */
    std::optional<NextWorld> entered_; /* the world that the coordinator has told, if the copies do
                                          not live yet */
    std::string checkpoint_;           /* name of the checkpoint, if the coordinator has given it */
    std::map<int, std::unique_ptr<Thawing>> thawing_;
};

} // namespace ckpt
