/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * coordinator.hpp - one job's checkpoints: takes requests, drives the state
 * machine, and writes the manifest and the job file. It runs in the agent of
 * rank 0's node.
 */
#pragma once

#include "agent/control/control.hpp"
#include "agent/coordinator/capped_logs.hpp"
#include "agent/coordinator/checkpoint_request.hpp"
#include "agent/coordinator/held_clients.hpp"
#include "agent/coordinator/job_opener.hpp"
#include "agent/coordinator/job_opening.hpp"
#include "agent/coordinator/joint_request.hpp"
#include "agent/coordinator/launch_statistics.hpp"
#include "agent/messages/launch_facts.hpp"
#include "agent/coordinator/pmix_event_log.hpp"
#include "agent/messages/milestones.hpp"
#include "agent/messages/node.hpp"
#include "agent/coordinator/node_level.hpp"
#include "agent/base/settings.hpp"
#include "agent/coordinator/tier_flush.hpp"
#include "protocol/cut/cut_protocol.hpp"
#include "agent/coordinator/rank_places.hpp"
#include "agent/coordinator/trace_recorder.hpp"
#include "agent/coordinator/unopened_requests.hpp"
#include "agent/coordinator/writing_turns.hpp"
#include "agent/ranks/unprotected.hpp"
#include "agent/base/worker_thread.hpp"
#include "image/store/job_owner.hpp"
#include "image/store/node_record.hpp"
#include "image/store/store.hpp"
#include "journal/rollback.hpp"
#include "protocol/cut_choice.hpp"
#include "protocol/lanes.hpp"

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>

namespace ckpt
{

class Coordinator : public NodeEvents
{
  public:
    using Time = CutProtocol::Time;
    using Answer = std::function<void(ClientId, const control::Reply &)>;
    struct Hooks {
        /* The coordinator is about to end the ranks after this checkpoint, on request. */
        std::function<void(const std::string &checkpoint)> ends;
        /* The job has become unprotected, or protected again. */
        std::function<void(const Unprotected::News &news)> protection;
        /* All ranks but this one, which is to be replayed, stand still and are described. Returns
         * true if nothing is to be written: goes_on_in_place() or save_instead() follows. */
        std::function<bool(int rank)> replays = [](int) { return false; };
    };

    /* Takes over the job: its directory and its job file. If the directory cannot be used, the
     * job runs on, and requests fail with the reason. If the file system does not answer, the
     * ranks wait only for a moment. The coordinator then takes the job over as soon as it
     * answers. */
    Coordinator(const Settings &settings, WorkerThread &worker,
                const LaunchFacts &facts, int rank_count, Answer answer, Hooks hooks);

    const std::string &job() const { return job_; }
    /* Number of the newest committed checkpoint of this launch; 0: there is none. */
    std::uint64_t committed() const { return committed_; }

    /* Requests a checkpoint. The answers go to `client`. */
    void request(ClientId client, Then then);
    void client_gone(ClientId client);
    /* An invariant was violated in this agent: no checkpoint is taken any more. */
    void give_up();

    /* Does everything that is due at `now`. next_tick() returns the latest time for the next
     * call. */
    void tick(Time now);
    Time next_tick(Time now) const;

    /* Whether no checkpoint is under way or requested. */
    bool idle() const;
    /* Whether no checkpoint is under way, and nothing of one that has failed is left to undo. */
    bool is_settled() const
    {
        return machine_.phase() == Phase::idle && attempt_.undoing.empty();
    }
    /* Returns the rollback of the job's files to the checkpoint that was committed last; nothing:
     * the job has no journal. */
    std::optional<journal::Wish> files_at(std::uint64_t number) const;
    /* The nodes with their ranks, in the order of their first ranks; empty: a rank is missing. */
    std::vector<world::WorldNode> nodes() const { return places_.hosts(); }
    /* The connection to a node's agent was lost. */
    void node_gone(Node &node);
    /* A rank has died, and the job has gone back in place: a failure for the automatic interval. */
    void has_recovered();
    /* The rank that has died comes back in place, in another world. The others go on behind their
     * change of worlds, and nothing is saved. */
    void goes_on_in_place();
    /* The rank does not come back in place: the others are saved, and the job is restarted. */
    void save_instead();
    /* The job is over: writes its final state. is_asked_for: the job was ended on request. */
    void end(bool is_asked_for = false);

    void fill(control::Status &status) const;
    /* State of the job as the launcher reports it. */
    PmixEventLog &pmix_events() { return pmix_events_; }
    /* Returns the values whose change makes a report on the job out of date. */
    Milestones milestones() const;

    void rank_here(Node &node, int rank, int rank_count, pid_t pid,
                   const RankCut &cut) override;
    void rank_said(int rank, const ckpt_message &message) override;
    void rank_finished(int rank) override;
    void rank_gone(int rank) override;
    void proxy_here(Node &node, int rank, const RankCut &cut) override;
    void rank_lost(int rank);
    void captured(int rank) override;
    void written(Node &node, const WrittenPiece &written) override;
    void failed(const Refusal &reason) override;
    void failed_once(const Refusal &reason) override;
    void folded(Node &node, std::uint64_t number, const Piece &piece) override;
    void copied(Node &node, const std::string &file, const std::string &error) override;
    void redundancy_written(Node &node, std::uint64_t number,
                            const std::string &error) override;
    void sweep_opened(Node &node) override;
    void sweep_failed(Node &node, const std::string &reason) override;
    void undone(Node &node) override;

  private:
    using Waiting = CheckpointRequest;

    /* State of the checkpoint under way. */
    struct Attempt {
        std::uint64_t number = 0;
        std::uint64_t files_mark = 0; /* as in Manifest */
        Then then = Then::go_on;
        int replayed = -1;                      /* the rank that a proxy replaces, or -1 */
        bool is_in_place = false;               /* that rank comes back in place */
        std::optional<action::Capture> unsaved; /* to be written otherwise */
        std::filesystem::path directory;
        std::set<Node *> writing;
        std::set<Node *> undoing;
        std::set<Node *> opening; /* nodes that still open their part of the sweep */
        Stagger stagger = Stagger::no;
        std::vector<Piece> pieces;
        std::optional<Manifest> on_nodes; /* set if only the nodes see the pieces and a
                                             NodeRecord is written */
        Lanes lanes;
        WritingTurns turns; /* with Sync-and-Stop */
        std::uint64_t memory = 0;
        int standing = 0; /* as in WrittenPiece */
        FaultSummary faults;
        bool once_more = false;          /* whether to try again if it fails */
        std::optional<Time> undo_until;  /* clients do not wait longer than this for the undo */
        std::optional<Time> flush_until; /* latest end of the copy to the slow tier, for which
                                            ranks are stopped */
        control::Result result;
        double cpu_before = 0; /* CPU seconds of this agent when the attempt began */
    };

    void choose_name(const LaunchFacts &facts);
    bool lacks_journal() const;
    void open_at_start();
    void begin_opening();
    void take_opened();
    void use(OpenedJob job);
    void wait_until_opened(std::vector<Waiting> clients, Protocol protocol);
    void start_unopened();
    void tick_opening(Time now);
    Refusal no_answer() const;
    void tell_unopened();
    Refusal obstacle() const;
    void refuse(const std::vector<Waiting> &clients, const Refusal &why);
    void wait_for_undo(Time since);
    void tick_undo(Time now);
    SweepPlan sweep_plan() const;
    void open_sweeps();
    void finish_opening();
    JobState job_state(const char *state) const;
    void write_job_state(const JobState &state);
    bool can_name_logs() const;
    void request(const Waiting &waiting);
    void rank_asks(int rank, const ckpt_message &message);
    void drop_asks(const Refusal &reason);
    HeldClients::Hooks held_hooks();
    void hold(std::vector<Waiting> clients);
    void tell_safe_point(std::uint64_t number);
    void tick_held(Time now);
    void drop_held(const Refusal &reason);
    void end_held();
    void end_salvage(std::uint64_t number, const Refusal &why);
    bool watches_logs() const;
    void tick_cap(Time now);
    void start(std::vector<Waiting> clients, Time now, Protocol protocol);
    void begin(std::vector<Waiting> clients, Time now, Protocol protocol);
    std::uint64_t next_files_mark();
    std::string directory_of_files() const;
    void drop_old_records(const Store &store, const std::filesystem::path &journal) const;
    void start_once_more(std::vector<Waiting> clients, Protocol protocol);
    void start_waiting();
    void perform();
    void fault_in_phase() const;
    void perform(const action::SetTargets &set);
    void perform(const action::SetExpected &set);
    void perform(const action::AddToPiece &add);
    void perform(const action::Settled &settled);
    void perform(const action::Send &order);
    void trace(const action::Send &order);
    void perform(const action::Capture &capture);
    void save(const action::Capture &capture);
    void perform(const action::OpenPieces &open);
    void perform(const action::ClosePieces &close);
    void begin_writing();
    void make_directory(std::function<void()> then);
    void open_pieces();
    void perform(const action::Commit &commit);
    void perform(const action::Undo &undo);
    void perform(const action::Kill &kill);
    void perform(const action::Finish &finish);
    bool try_again(const action::Finish &finish, std::vector<Waiting> &clients);
    control::Reply result_reply() const;
    void complete_result();
    void has_committed(const std::vector<Waiting> &clients);
    void has_failed(const Refusal &reason);
    std::string checkpoint_name() const;
    void write_pieces();
    void learn();
    double cost_of_last() const;
    void note_progress();
    void tick_protection(Time now);
    Manifest manifest() const;
    void remove_attempt();
    void written_down();
    void use_slow_store(Store slow, std::uint64_t redundant);
    void flush_leftover();
    void protect_leftover(const NodeRecord &newest);
    TierFlush::Hooks flush_hooks();
    NodeLevel::Hooks node_level_hooks();
    std::filesystem::path records() const { return opener_.records(job_); }
    std::string copy_piece(const TierCopy &copy, const Piece &piece);
    void secure_before_kill();
    void tick_flush(Time now);
    void free_nodes();
    void collect_garbage();
    void discard_flushed(const Store &store, const std::string &job);
    control::Timings timings() const;
    control::Progress progress(Time now) const;
    void tell_progress(bool always);
    Time next_periodic() const;
    Time next_of_phase(Time now) const;
    void fill_tiers(control::Status &status) const;
    void fill_interval(control::Status &status) const;
    void answer(const Waiting &waiting, const control::Reply &reply);
    void answer_refusal(const Waiting &waiting, const Refusal &why);

    const Settings &settings_;
    WorkerThread &worker_;
    Answer answer_;
    Hooks hooks_;
    LaunchFacts facts_;
    const JobOpener opener_;
    std::string job_;                    /* may change when the job is opened */
    std::filesystem::path file_journal_; /* directory of the job's file journal; empty: not made
                                            yet */
    std::uint64_t committed_ = 0;        /* the checkpoint that was committed last, and its mark */
    std::uint64_t committed_mark_ = 0;
    std::uint64_t files_mark_ = 0; /* the greatest mark in the journal */
    UnopenedRequests unopened_;
    Refusal store_error_;
    std::optional<Store> store_;
    std::shared_ptr<JobOwnership> ownership_; /* lives as long as store_; the workers use it as
                                                 well */
    std::uint64_t least_number_ = 1;          /* lowest number that no checkpoint has used */
    RankPlaces places_;
    CutProtocol machine_;
    std::deque<Action> due_; /* actions of the machine that are still to be performed */
    CutChoice choice_;
    SweepPlan told_plan_; /* the plan that all nodes have */
    TraceRecorder trace_; /* of the attempt under way */
    PmixEventLog pmix_events_;

    std::uint64_t epoch_;
    Attempt attempt_;
    std::vector<Waiting> clients_; /* of the attempt under way */
    std::vector<Waiting> queue_;
    bool leftover_due_ = false; /* flush_leftover() is due as soon as no checkpoint is under way */
    HeldClients held_;
    JointRequest joint_;
    /* when the latest checkpoint ended, or when all ranks were there */
    std::optional<Time> last_end_;
    CheckpointInterval interval_;
    JobHistory earlier_;  /* earlier launches of the job; failures: of this one, too */
    bool killed_ = false; /* the job was ended after a checkpoint, on request */
    Time last_progress_{};
    Phase told_phase_ = Phase::idle;

    LaunchStatistics statistics_;
    int proxy_ = -1;            /* the dead rank that a proxy replaces; -1: none */
    control::Salvage salvaged_; /* the newest one, of this launch or of an earlier one */
    CappedLogs logs_;
    std::string ended_as_; /* final state of the job; "" while the job runs */

    std::unique_ptr<TierFlush> flush_;      /* null: no slow tier */
    std::unique_ptr<NodeLevel> node_level_; /* null: no slow tier */
    /* this object and the next come last, so that the work of their threads ends before other
     * members are destroyed */
    JobOpening opening_;
    WorkerThread remover_;
};

} // namespace ckpt
