/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * coordinator.hpp - one job's checkpoints: takes requests, drives the state
 * machine, and writes manifest and job file. In the agent of rank 0's node.
 */
#pragma once

#include "agent/control.hpp"
#include "agent/job_opener.hpp"
#include "agent/launch_facts.hpp"
#include "agent/launcher_news.hpp"
#include "agent/milestones.hpp"
#include "agent/node.hpp"
#include "agent/node_level.hpp"
#include "agent/settings.hpp"
#include "agent/tier_flush.hpp"
#include "protocol/cut_protocol.hpp"
#include "agent/trace_recorder.hpp"
#include "agent/unprotected.hpp"
#include "agent/worker_thread.hpp"
#include "image/job_owner.hpp"
#include "image/node_record.hpp"
#include "image/store.hpp"
#include "protocol/cut_choice.hpp"
#include "protocol/held_request.hpp"
#include "protocol/lanes.hpp"
#include "protocol/log_cap.hpp"

#include <deque>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <set>

namespace ckpt
{

/* A command of `ckpt` that waits for its answer. */
using ClientId = std::uint64_t;

/* What becomes of the ranks behind a checkpoint: control::Request::then. */
enum class Then { go_on, move, kill };

class Coordinator : public NodeEvents, private RankPages
{
  public:
    using Time = CutProtocol::Time;
    using Answer = std::function<void(ClientId, const control::Reply &)>;
    struct Hooks {
        /* The ranks are about to be ended behind this checkpoint, on request. */
        std::function<void(const std::string &checkpoint)> ends;
        /* Whether the job can be saved has changed. */
        std::function<void(const Unprotected::News &news)> protection;
    };

    /* Takes over the job: its directory, its job file. If the directory cannot be used,
     * the job runs on, and requests fail with the reason. If its file system does not
     * answer, ranks wait for a moment only, and the job is taken over when it does. */
    Coordinator(const Settings &settings, WorkerThread &worker,
                const LaunchFacts &facts, int rank_count, Answer answer, Hooks hooks);

    const std::string &job() const { return job_; }

    /* Asks for a checkpoint; the answers go to `client`. */
    void request(ClientId client, Then then);
    void client_gone(ClientId client);

    /* What is due by now; and when to call again at the latest. */
    void tick(Time now);
    Time next_tick(Time now) const;

    /* No checkpoint is under way or asked for. */
    bool idle() const;
    /* A node's agent was lost. */
    void node_gone(Node &node);
    /* The job is over: writes its state. is_asked_for: somebody has wanted that. */
    void end(bool is_asked_for = false);

    void fill(control::Status &status) const;
    /* What the launcher tells of the job. */
    LauncherNews &launcher_news() { return launcher_news_; }
    /* What must have changed for a report on the job to be out of date. */
    Milestones milestones() const;

    void rank_here(Node &node, int rank, int rank_count, pid_t pid,
                   const RankCut &cut) override;
    void rank_said(int rank, const ckpt_message &message) override;
    void rank_finished(int rank) override;
    void rank_gone(int rank) override;
    void ghost_here(Node &node, int rank, const RankCut &cut) override;
    void rank_lost(int rank);
    void captured(int rank) override;
    void written(Node &node, const WrittenPiece &written) override;
    void failed(const std::string &reason) override;
    void failed_once(const std::string &reason) override;
    void folded(Node &node, std::uint64_t number, const Piece &piece) override;
    void copied(Node &node, const std::string &file, const std::string &error) override;
    void redundancy_written(Node &node, std::uint64_t number,
                            const std::string &error) override;
    void sweep_opened(Node &node) override;
    void sweep_failed(Node &node, const std::string &reason) override;
    void undone(Node &node) override;

  private:
    /* A command, or a rank whose program asks; or neither: it is periodic, or for LogCap. */
    struct Waiting {
        ClientId client;
        Then then = Then::go_on;
        int rank = -1;
        std::uint64_t number = 0; /* of the rank's request */
        bool is_for_cap = false;
    };

    /* A node's piece, which is written in one go. */
    struct Turn {
        Node *node;
        RankSnapshots snapshots;
    };
    using Turns = std::deque<Turn>; /* the first one writes */

    /* What the thread that opens the job's directories hands over. */
    struct Opened {
        std::optional<OpenedJob> job;         /* if it was not open */
        std::optional<OpenedJournal> journal; /* if somebody waits for a checkpoint */
    };

    /* Requests that wait for that. */
    struct Unopened {
        std::vector<Waiting> clients;
        Protocol protocol;
        Time until;
    };

    /* Of the checkpoint under way. */
    struct Attempt {
        std::uint64_t number = 0;
        std::uint64_t files_mark = 0; /* as in Manifest */
        Then then = Then::go_on;
        int replayed = -1; /* ghost_ */
        std::filesystem::path directory;
        std::set<Node *> writing;
        std::set<Node *> undoing;
        std::set<Node *> opening;     /* their part in the sweep */
        Stagger stagger = Stagger::no;
        std::vector<Piece> pieces;
        std::optional<Manifest> on_nodes; /* where only they see them, and that is noted */
        Lanes lanes;
        std::vector<Turns> turns; /* with Sync-and-Stop */
        std::uint64_t memory = 0;
        int standing = 0; /* WrittenPiece */
        FaultSummary faults;
        bool once_more = false; /* when it has failed */
        std::optional<Time> undo_until;  /* then nobody waits for it any more */
        std::optional<Time> flush_until; /* ranks stand still for the slow tier */
        control::Result result;
        double cpu_before = 0; /* seconds that this agent has computed */
    };

    std::vector<ckpt_clock> clocks(int rank) const override;
    std::uint64_t sent(int from, int to) const override;
    std::uint64_t received(int to, int from) const override;

    std::vector<TraceNode> nodes_to_trace() const;
    void choose_name(const LaunchFacts &facts);
    bool lacks_journal() const;
    void open_at_start();
    void begin_opening();
    void take_opened();
    void use(OpenedJob job);
    void wait_until_opened(std::vector<Waiting> clients, Protocol protocol);
    void start_unopened();
    void tick_opening(Time now);
    Time next_of_opening() const;
    std::string no_answer() const;
    void tell_unopened();
    std::string obstacle() const;
    void refuse(const std::vector<Waiting> &clients, const std::string &why);
    Lanes lanes(Stagger stagger) const;
    void make_turns(const std::vector<std::uint64_t> &snapshots);
    void begin_turn(const Turns &lane);
    void end_turn(const Node &node);
    void drop_turns(const Node &node);
    void wait_for_undo(Time since);
    void tick_undo(Time now);
    std::vector<Node *> nodes() const;
    SweepPlan sweep_plan() const;
    void open_sweeps();
    void finish_opening();
    JobState job_state(const char *state) const;
    void write_job_state(const JobState &state);
    std::string name_of_two_nodes() const;
    bool can_name_logs() const;
    void request(const Waiting &waiting);
    void rank_asks(int rank, const ckpt_message &message);
    void drop_asks(const std::string &reason);
    bool rank_of_held(int rank, const ckpt_message &message);
    bool is_holding() const { return !held_clients_.empty(); }
    void hold(std::vector<Waiting> clients);
    void tell_held();
    void tell_safe_point(std::uint64_t number);
    void tick_held(Time now);
    void drop_held(const std::string &reason);
    void end_held();
    void end_salvage(std::uint64_t number, const std::string &why);
    bool watches_logs() const;
    void tick_cap(Time now);
    void count_capped(const std::vector<Waiting> &clients, std::uint64_t number);
    void start(std::vector<Waiting> clients, Time now, Protocol protocol);
    void begin(std::vector<Waiting> clients, Time now, Protocol protocol);
    std::uint64_t next_files_mark();
    std::string mark_of_files() const;
    void drop_old_records(const Store &store, const std::filesystem::path &journal) const;
    void start_once_more(std::vector<Waiting> clients, Protocol protocol);
    void start_waiting();
    void perform();
    void fault_in_phase() const;
    void perform(const action::Send &order);
    void trace(const action::Send &order);
    void perform(const action::Capture &capture);
    void perform(const action::OpenPieces &open);
    void perform(const action::ClosePieces &close);
    void make_directory(std::function<void()> then);
    void open_pieces();
    void perform(const action::Commit &commit);
    void perform(const action::Undo &undo);
    void perform(const action::Kill &kill);
    void perform(const action::Finish &finish);
    std::string checkpoint_name() const;
    void write_pieces();
    void learn();
    double cost_of_last() const;
    void note_progress();
    void note_unprotected(const std::string &why);
    void tick_protection(Time now);
    Manifest manifest() const;
    void remove_attempt();
    void written_down();
    void use_slow_store(Store slow, std::uint64_t redundant);
    void flush_leftover();
    void protect_leftover(const NodeRecord &newest);
    TierFlush::Hooks flush_hooks();
    NodeLevel::Hooks node_level_hooks();
    Node *agent_of(const std::string &host) const;
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
    void fill_interval(control::Status &status) const;
    void fill_nodes(control::Status &status) const;
    void count_committed(const control::Result &result);
    void answer(const Waiting &waiting, const control::Reply &reply);
    void answer_error(const Waiting &waiting, const std::string &text);

    const Settings &settings_;
    WorkerThread &worker_;
    Answer answer_;
    Hooks hooks_;
    LaunchFacts facts_;
    const JobOpener opener_;
    std::string job_; /* may become another one when the job is open */
    std::filesystem::path file_journal_; /* of the job; empty: not made yet */
    std::uint64_t files_mark_ = 0; /* the greatest mark in it */
    std::future<Opened> opening_; /* valid: under way */
    Time opening_since_{};
    bool is_opening_late_ = false; /* and it has been told */
    std::deque<Unopened> unopened_;
    std::string store_error_;
    std::optional<Store> store_;
    std::shared_ptr<JobOwnership> ownership_; /* as long as store_; the workers ask it, too */
    std::uint64_t least_number_ = 1; /* that no checkpoint has had */
    std::vector<Node *> where_; /* by rank; null: not here */
    std::vector<std::string> hosts_; /* by rank: where it was last; empty: nowhere yet */
    std::vector<Node *> agents_; /* that ranks were on */
    std::set<std::string> apart_; /* hosts with a directory of their own */
    CutProtocol machine_;
    CutChoice choice_;
    SweepPlan told_plan_; /* to all nodes */
    TraceRecorder trace_; /* of the attempt under way */
    LauncherNews launcher_news_;

    std::uint64_t epoch_;
    Attempt attempt_;
    std::vector<Waiting> clients_; /* of the attempt under way */
    std::vector<Waiting> queue_;
    bool leftover_due_ = false; /* flush_leftover(), once no checkpoint is under way */
    HeldRequest held_; /* of the attempt under way, and until the next one */
    std::vector<Waiting> held_clients_;
    Time held_since_{};
    std::map<int, std::uint64_t> asked_by_all_; /* numbers of requests, by rank */
    std::optional<Time> last_end_; /* of a checkpoint, or of the start */
    CheckpointInterval interval_;
    JobHistory earlier_; /* launches of the job */
    bool killed_ = false; /* the job, after a checkpoint: as it was asked for */
    Time last_progress_{};
    Phase told_phase_ = Phase::idle;

    std::uint64_t committed_count_ = 0;
    std::uint64_t failed_count_ = 0;
    std::string last_error_;
    control::Result last_;
    double last_at_ = 0; /* seconds since 1970 */
    control::Totals totals_;
    Unprotected unprotected_;
    std::optional<Time> begun_; /* the attempt under way */
    int ghost_ = -1; /* the rank that has died, for which one answers; -1: none */
    control::Salvage salvaged_; /* the last one, of this launch or an earlier one */
    LogCap cap_;
    control::Capped capped_;
    std::string ended_as_; /* state of the job when it is over */

    std::unique_ptr<TierFlush> flush_; /* null: there is no slow tier */
    std::unique_ptr<NodeLevel> node_level_; /* null: likewise */
    WorkerThread opening_thread_; /* last, like the next: their work ends before all else does */
    WorkerThread remover_;
};

} // namespace ckpt
