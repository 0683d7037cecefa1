/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cut_protocol.hpp - the coordinator's state machine by which the ranks of a job agree on a
 * consistent cut. Events go in, and actions come out. No call blocks, reads a descriptor or looks
 * at a clock (docs/protocol.md, sections 4 to 6; docs/consistent-cuts.md).
 */
#pragma once

#include "protocol/actions.hpp"
#include "protocol/lanes.hpp"
#include "protocol/protocol.hpp"
#include "protocol/rank_cut.hpp"

#include "ckpt/wire.h"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ckpt
{

enum class Phase {
    idle,
    align,
    stop,
    drain,
    save,
    open,
    cut,
    log,
    write,
    commit,
    undo
};
const char *phase_name(Phase phase);

/* Parameters of a checkpoint. */
struct CutPlan {
    /* Falls back to Sync-and-Stop if a rank cannot be saved otherwise. */
    Protocol protocol = Protocol::sync_and_stop;
    /* Ranks of a lane are cut one after another, each when the previous one
     * has been saved. Empty: all at once. With Sync-and-Stop all are cut at
     * once, and the receiver of Capture staggers the saving. */
    Lanes lanes;
    /* The dead rank that a ghost replaces (protocol/ghost.hpp); -1: none. */
    int replayed = -1;
    /* With a ghost: time limit until all ranks have described themselves. */
    std::chrono::steady_clock::duration agree_within{};
};

/* The parts of the rank pages that the coordinator reads. For a rank of
 * another node, the values that the node's agent has reported last. */
class RankPages
{
  public:
    virtual ~RankPages() = default;
    /* Slots [0, clock_count) of the rank; unused ones have id 0. */
    virtual std::vector<ckpt_clock> clocks(int rank) const = 0;
    /* Number of messages from one rank to another: sent() by the sender's count, received() by
     * the receiver's. */
    virtual std::uint64_t sent(int from, int to) const = 0;
    virtual std::uint64_t received(int to, int from) const = 0;
};

class CutProtocol
{
  public:
    using Time = std::chrono::steady_clock::time_point;
    using Duration = std::chrono::steady_clock::duration;

    struct Options {
        Duration timeout = std::chrono::minutes(30); /* of a whole request */
        /* Time without any progress after which a gate is opened (stall). */
        Duration patience = std::chrono::milliseconds(10);
        Duration long_patience = std::chrono::milliseconds(500);
        /* How often ranks are reminded that messages cross the cut. */
        Duration reminder = std::chrono::milliseconds(10);
        /* How long a rank may take to answer CUT while others of its lane wait. */
        Duration turn = std::chrono::milliseconds(100);
    };

    /* Seconds, of the latest checkpoint. */
    struct Times {
        double request_to_stop = 0;
        double stop = 0; /* the longest stop of any rank */
        double drain = 0;
        double capture = 0;
        double commit = 0;
        double total = 0;
    };

    /* Messages that crossed the cut of the latest checkpoint. */
    struct Logged {
        std::uint64_t messages = 0;
        std::uint64_t bytes = 0;
    };

    /* `pages` must outlive the machine. */
    CutProtocol(int rank_count, const RankPages &pages, Options options);

    /* Why the present or latest attempt was given up. */
    const Refusal &reason() const { return reason_; }

    /* Events. Each may request actions, to be taken and performed in order. */
    void hello(int rank, const RankCut &cut = {}, Time now = {});
    void goodbye(int rank, Time now);
    void gone(int rank, Time now);
    /* The rank's agent is lost. The rank will return, unless it dies as well. */
    void lost(int rank, Time now);
    /* Requires that obstacle() is empty. */
    void request(std::uint64_t epoch, bool kill, Time now, CutPlan plan = {});
    void message(int rank, const ckpt_message &message, Time now);
    void opened(Time now);
    /* The agents cannot tell the ranks their message counts. */
    void sweep_failed();
    void captured(int rank, Time now);
    void written();
    void committed(Time now);
    void failed(Refusal reason, Time now);
    void undone(Time now);
    /* The passing of time: call every few milliseconds in phase align, as
     * only a rank's page shows that the rank enters a collective. Call also
     * at deadline(). */
    void tick(Time now);

    std::vector<Action> take_actions();

    /* Returns why no checkpoint can be requested now; empty if one can. */
    Refusal obstacle() const;
    /* Returns why no ghost can replace a rank that has just gone; empty if one can. */
    Refusal ghost_obstacle() const;
    /* Whether a further request may share the checkpoint under way: no rank
     * has got STOP yet. */
    bool may_join() const { return phase_ == Phase::align; }
    void join(bool kill) { kill_ = kill_ || kill; }
    /* Whether the ranks are killed after this checkpoint. */
    bool will_kill() const { return kill_; }

    Phase phase() const { return phase_; }
    std::uint64_t epoch() const { return epoch_; }
    int rank_count() const { return static_cast<int>(ranks_.size()); }
    int present() const; /* ranks that are connected and have not finished */
    bool ending() const; /* a rank has finished or died */
    bool has_finished() const; /* all ranks have finished */
    double elapsed(Time now) const; /* seconds since the request */
    int ranks_done() const; /* ranks that have completed the present phase */
    const char *state_name(int rank) const;
    bool stands_still(int rank) const; /* as far as it has reported */
    std::optional<Time> deadline() const;
    const Times &times() const { return times_; }
    const Logged &logged() const { return log_; }
    /* Number of ranks that waited for others when the first rank was cut. */
    int waiting_at_cut() const { return waiting_at_cut_; }
    /* The protocol that the latest cut has used. */
    Protocol protocol() const
    {
        return moved_ ? plan_.protocol : Protocol::sync_and_stop;
    }
    /* Ranks run on while the checkpoint is taken. */
    bool is_moving() const { return phase_ >= Phase::open && phase_ <= Phase::log; }
    /* The loss of an agent has ended the checkpoint, and only its cut is being completed
     * (docs/consistent-cuts.md, section 1, rule 9). No checkpoint is taken. */
    bool is_settling() const { return settling_; }
    /* The agents tell the ranks their message counts. */
    bool is_sweeping() const
    {
        return is_moving() && !quiet_ &&
               plan_.protocol == Protocol::network_sweep;
    }

  private:
    enum class Presence { unseen, here, finished, gone };

    struct Rank {
        Presence presence = Presence::unseen;
        /* enum ckpt_place, or 0: it runs at an unknown place. */
        std::uint32_t place = 0;
        std::uint32_t slot = 0;
        std::uint32_t flags = 0;
        bool holds = false;    /* waits for the coordinator's next message */
        bool reported = false; /* has answered REQUEST */
        bool answered = false; /* has answered the message of this phase */
        bool captured = false;
        bool shared = false;  /* goes on together with all other ranks that share memory */
        bool leads_out = false; /* has a connection to another process */
        bool resumed = false; /* has got RESUME after it was captured */
        std::uint64_t snapshot = 0;
        std::optional<Time> still_since;
        /* Gates at which a thread waits while other threads run on. Key:
         * slot; value: `entered` of that clock. An entry is valid until
         * `entered` changes. */
        std::map<std::uint32_t, std::uint64_t> gates;
        std::uint64_t needs = 0;    /* CKPT_NEEDS_* */
        bool has_sent = false;      /* has sent messages since the last cut */
        bool synchronous = false;   /* uses synchronous sends */
        std::optional<Time> asked_at; /* when it got CUT */
        RankCutWatch watch;
        std::uint64_t used = 0;     /* channels that it had used at its cut */
        std::uint64_t complete = 0; /* channels to it that have delivered all messages */
    };
    static Rank fresh(const RankCutWatch &watch);
    static double seconds(Duration duration);
    static std::string text_of(const ckpt_message &message);
    static Refusal refusal_by(int rank, const ckpt_message &message);
    using Clocks = std::vector<std::vector<ckpt_clock>>; /* by rank */
    using Fewest = std::map<std::uint64_t, std::uint64_t>;

    bool is_needed(const Rank &rank) const;
    void enter(Phase phase, Time now);
    bool all_answered() const;
    void send(int rank, ckpt_message_type type, bool signal,
              std::uint64_t argument = 0, std::string_view text = {});
    void hold(Rank &rank, Time now);
    void let_continue(Rank &rank, Time now);
    void set_place(Rank &rank, const ckpt_message &message, Time now);

    Clocks read_clocks() const;
    void raise_targets(const Clocks &clocks);
    static Fewest fewest_entered(const Clocks &clocks);
    void raise_for_those_about_to_leave(const Clocks &clocks);
    std::uint64_t target(std::uint64_t id) const;
    bool inside_unclocked(const Rank &rank) const;
    bool any_synchronous() const;
    bool may_be_redone(const Rank &rank, std::size_t slot) const;
    bool is_aligned(const Rank &rank,
                    const std::vector<ckpt_clock> &clocks) const;
    bool all_aligned(const Clocks &clocks) const;
    void write_targets(const Clocks &clocks);

    void align(Time now);
    void run_those_who_may(const Clocks &clocks, Time now);
    bool opened(const Rank &rank, const std::vector<ckpt_clock> &clocks) const;
    std::vector<std::uint64_t>
    shut_gates(const Rank &rank, const std::vector<ckpt_clock> &clocks) const;
    bool has_moved(const Clocks &clocks);
    bool can_move(const Rank &rank, const std::vector<ckpt_clock> &clocks,
                  const Fewest &fewest) const;
    void began_to_be_still(Time now);
    void ask_where(Time now);
    void break_stall(const Clocks &clocks, Time now);
    bool open_gates(const Clocks &clocks, bool also_lagging);

    void stop(Time now);
    void examine_stopped(Time now);
    bool raise_for_messages_in_flight(const Clocks &clocks);
    void realign(Time now);
    void drain(Time now);
    void save(Time now);
    bool must_save_again() const;
    void save_again(Time now);
    void write(Time now);
    void resume_captured(Time now);

    bool is_to_move() const;
    bool may_move() const;
    void open(Time now);
    void cut(Time now);
    static bool waits(const Rank &rank);
    void order_cut(int rank, Time now);
    void cut_next(const std::vector<int> &lane, Time now);
    void cut_after(int rank, Time now);
    void cut_rest(Time now);
    void pass_turns(Time now);
    ckpt_cut kind_of_cut() const;
    bool must_tell_counts() const;
    void examine_quiet();
    void on_cut(int rank, const ckpt_message &message, Time now);
    void on_complete(Rank &rank, const ckpt_message &message, Time now);
    void on_logged(int rank, const ckpt_message &message, Time now);
    void release(Rank &rank, int number, Time now);
    void release_failed(Time now);
    void captured_moving(int rank, Time now);
    ckpt_outcome outcome() const;
    void mark_failed(Refusal reason);
    void settle(Time now);
    void finish_cut(Time now);
    void ask_to_finish(int rank, Time now);
    void abandon(Refusal reason, Time now);
    void settled(Time now);
    void closed_before_the_loss(Rank &rank, Time now);
    void examine_logs(Time now);
    void tell_counts();
    void close_logs(Time now);
    void all_logged(Time now);
    void remind(Time now);

    void on_report(Rank &rank, const ckpt_message &message, Time now);
    void on_stopped(Rank &rank, const ckpt_message &message, Time now);
    void on_drained(Rank &rank, Time now);
    void on_ready(Rank &rank, const ckpt_message &message, Time now);
    void proceed(Time now);
    void give_up(Refusal reason, Time now);
    void finish(bool committed, Time now);

    const RankPages &pages_;
    Options options_;
    std::vector<Rank> ranks_;
    std::vector<Action> actions_;

    Phase phase_ = Phase::idle;
    std::uint64_t epoch_ = 0;
    bool kill_ = false;
    bool left_early_ = false; /* a rank left its collective after STOPPED */
    int times_saved_ = 0;     /* since the last DRAIN */
    CutPlan plan_;
    bool moved_ = false;      /* ranks run on during the checkpoint */
    bool swept_ = false;      /* the agents can sweep */
    bool quiet_ = false;      /* no rank has sent a message since the last cut */
    bool closing_ = false;    /* CLOSE was sent */
    bool unsettled_ = false;  /* some ranks may be cut and others not */
    bool settling_ = false;
    bool may_retry_ = false;  /* given up for a reason that Sync-and-Stop does not have */
    Logged log_;
    Time last_reminder_{};
    std::map<std::uint64_t, std::uint64_t> targets_; /* by clock id; only increase */
    Refusal reason_;
    int waiting_at_cut_ = 0;

    std::vector<std::uint64_t> fingerprint_; /* of everything that can change */
    Time still_since_;                       /* since when it has not changed */
    Duration ask_after_{}; /* time after still_since_ at which running ranks are asked where they
                              are */
    Time requested_at_;
    Time phase_began_;
    Times times_;
};

} // namespace ckpt
