/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * local_node.hpp - the ranks on this agent's own node.
 */
#pragma once

#include "agent/ranks/freezer.hpp"
#include "agent/ranks/increments.hpp"
#include "agent/ranks/kept_copies.hpp"
#include "agent/ranks/rank_question.hpp"
#include "agent/messages/node.hpp"
#include "agent/ranks/node_image.hpp"
#include "agent/ranks/node_sweep.hpp"
#include "agent/ranks/piece_keeper.hpp"
#include "agent/base/processors.hpp"
#include "agent/ranks/protector.hpp"
#include "agent/ranks/rank_session.hpp"
#include "agent/blocks/redundancy_writer.hpp"
#include "agent/ranks/salvage.hpp"
#include "agent/base/settings.hpp"
#include "agent/ranks/shared_segments.hpp"
#include "agent/ranks/shells.hpp"
#include "agent/ranks/signal_watch.hpp"
#include "agent/base/worker_thread.hpp"
#include "common/event_loop.hpp"

#include <chrono>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <set>

namespace ckpt
{

class LocalNode : public Node
{
  public:
    /* Events that the agent itself handles. */
    struct Hooks {
        /* A rank has connected: returns the text of its WELCOME. */
        std::function<std::string(const RankSession &)> welcome;
        /* A rank names the coordinating agent. */
        std::function<void(const std::string &address)> joined;
        /* A rank has been welcomed; has called MPI_Finalize; has disconnected, though its
         * process may live on. These hooks are optional. */
        std::function<void(const RankSession &)> here = [](const RankSession &) {};
        std::function<void(int rank)> finished = [](int) {};
        std::function<void(int rank, Fd process)> gone = [](int, Fd) {};
        /* The process of a connected rank is a shell: the rank has gone, as if it had ended. */
        std::function<void(int rank)> is_shell = [](int) {};
        /* Progress of a salvage after the death of a rank. */
        std::function<void(const SalvageEvent &)> salvage = [](const SalvageEvent &) {};
        /* A checkpoint is committed. */
        std::function<void()> committed = [] {};
        /* There is a second frozen copy of each rank. */
        std::function<void()> twins = [] {};
        /* A rank has taken an independent checkpoint. */
        std::function<void()> kept = [] {};
        /* A rank has answered an order to change worlds. Returns false if it had none. */
        std::function<bool(int rank, const ckpt_message &answer)> changes_world =
            [](int, const ckpt_message &) { return false; };
        /* All ranks are about to be ended, on request. */
        std::function<void()> kills = [] {};
        /* The frozen copy with this process id refuses to become the rank. is_final: not since it
         * has ended. */
        std::function<void(pid_t process, const std::string &why, bool is_final)> refused_to_thaw =
            [](pid_t, const std::string &, bool) {};
    };

    LocalNode(EventLoop &loop, WorkerThread &worker, const Settings &settings,
              RejectedFrames &rejected, Hooks hooks);
    ~LocalNode() override;

    /* A rank has connected, or is about to. process: as for RankSession. */
    void accept(Fd socket, pid_t process = 0);

    /* Sends events to `events` from now on, beginning with the ranks that
     * are connected. null: to no object. */
    void attach(NodeEvents *events);

    /* Shared memory of this process's MPI library is removed when the job is over. */
    void note_segments(pid_t process) { segments_.note(process); }
    /* The job is over. */
    void end()
    {
        keeper_.stop();
        redundancy_.stop();
        segments_.remove_leftovers();
    }

    bool had_ranks() const { return had_ranks_; }
    bool has_connections() const
    {
        return !sessions_.empty() || !shells_.empty() || salvage_.is_under_way();
    }
    /* Number of frozen copies of a rank that are kept in case it dies. */
    int copies(int rank) const { return salvage_.copies(rank); }
    /* By rank. */
    const std::map<int, RankSession *> &ranks() const { return ranks_; }
    /* Whether the rank has called MPI_Finalize. */
    bool has_finished(int rank) const;
    /* Returns why the job cannot go on without a rank that has just gone; "" if it can. Requires
     * that all others are connected and have not finished. */
    std::string obstacle_without(int rank) const;
    /* Returns why the ranks of this node cannot go back to a checkpoint after the death of a rank,
     * of any node; "" if they can. */
    std::string obstacle_to_going_back(int rank) const;
    /* The frozen copies of the newest checkpoint. */
    KeptCopies &kept_copies() { return copies_; }
    const KeptCopies &kept_copies() const { return copies_; }
    /* Makes another copy of each, in the background. Without them a second failure before the next
     * checkpoint ends the job. */
    void make_twins();
    /* From now on ranks go on from this checkpoint instead of that of `ckpt restart`. */
    void recovered_from(std::uint64_t number) { recovered_from_ = number; }

    /* A dead rank with a proxy, and its copy. */
    Salvage &salvage() { return salvage_; }
    const Salvage &salvage() const { return salvage_; }

    /* Orders that the rank's process becomes a shell, which waits for the end of `successor`. The
     * answer comes through Hooks::is_shell, or the process ends. */
    void become_shell(int rank, pid_t successor);
    Shells &shells() { return shells_; }

    /* Sets the key with which the job's agents authenticate each other. */
    void set_job_key(const MessageKey &key);
    /* Sets the address at which other agents reach this one. */
    void set_address(std::string address) { address_ = std::move(address); }
    /* Takes a connection of another agent for the sweep. */
    void add_neighbour(std::unique_ptr<FrameStream> stream)
    {
        sweep_.accept(std::move(stream));
    }

    const std::string &host() const override { return settings_.host; }
    const std::string &address() const override { return address_; }
    const std::string &blocks() const override { return blocks_; }
    FileSystem file_system() const override;
    int memory_of(int rank) const override;
    void set_targets(int rank,
                     const std::vector<std::uint64_t> &targets) override;
    void set_expected(int rank,
                      const std::vector<std::uint64_t> &expected) override;
    void send(const action::Send &order, std::uint64_t epoch) override;
    void capture(const std::filesystem::path &directory,
                 const RankSnapshots &snapshots) override;
    void open_piece(const std::filesystem::path &directory) override;
    void add_to_piece(int rank, std::uint64_t snapshot) override;
    void close_piece(const std::vector<int> &ranks) override;
    std::uint64_t saved(const std::filesystem::path &directory) const override;
    void set_sweep_plan(const SweepPlan &plan) override;
    void open_sweep(std::uint64_t epoch) override;
    void undo() override;
    void pause_protection(const std::string &reason) override { protector_.pause_too(reason); }
    void committed(std::uint64_t number) override;
    void copy_piece(const std::filesystem::path &from, const std::filesystem::path &to,
                    const Piece &piece) override;
    void write_redundancy(const RedundancyOrder &order) override;
    void discard(const std::filesystem::path &job, std::uint64_t end,
                 const std::set<std::uint64_t> &stay) override;
    void kill() override;
    /* An invariant was violated in this agent: the checkpoint under way fails. */
    void give_up();
    void salvage_over(std::uint64_t number, const Refusal &why) override;
    std::optional<IndependentState> independent() const override
    {
        return salvage_.independent();
    }
    std::vector<ckpt_clock> clocks(int rank) const override;
    std::uint64_t sent(int rank, int peer) const override;
    std::uint64_t received(int rank, int peer) const override;
    RankSeen seen(int rank, std::uint64_t epoch) const override;

  private:
    std::uint64_t restarted_from() const
    {
        return recovered_from_ != 0 ? recovered_from_ : settings_.restart_number;
    }
    void readable(RankSession *session);
    void handle(RankSession *session, const ckpt_message &message);
    void hello(RankSession *session, const ckpt_message &message);
    void note_memory(const RankSession &session);
    void prepare_to_write();
    void look_at_file_system() const;
    void try_direct_io();
    void ended(RankSession *session);
    void drop(RankSession *session);
    std::unique_ptr<RankSession> take_out(RankSession *session);
    void leave(const RankSession &session);
    void is_shell(RankSession *session, const ckpt_message &message);
    void shell_ended(int rank);
    RankSession *find(int rank) const;
    NodeSweep::Hooks sweep_hooks();
    Salvage::Hooks salvage_hooks();
    void note_cut(const RankSession &session, const ckpt_message &message);
    void tell_swept(int rank, std::uint64_t messages);
    void refuse_for(int rank, std::uint64_t epoch, const std::string &why);

    StoppedRank stopped(int rank, std::uint64_t snapshot) const;
    void prepare(const Freezer::Ranks &ranks, Freezer::Then then);
    void watch(const Freezer::Ranks &ranks, Freezer::Then then);
    bool is_to_protect(int rank) const;
    void fold();
    void watched(RankSession *session, const ckpt_message &message);
    void unprotect();
    void freeze(const Freezer::Ranks &ranks, Freezer::Then then);

    using Image = std::shared_ptr<NodeImage>;
    Image begin_image(const std::filesystem::path &directory,
                      const std::vector<int> &logging);
    void make_directory(const std::filesystem::path &directory);
    void open_log_in(const std::filesystem::path &job) const;
    void send_held_cuts();
    void end_image();
    void work(std::function<void(const Image &)> task);
    void tell(const Image &image, std::function<void(NodeEvents &)> event);
    void tell_written(const Image &image, const WrittenPiece &written);
    NodeImage::Captured tell_captured(const Image &image);

    EventLoop &loop_;
    WorkerThread &worker_;
    const Settings &settings_;
    RejectedFrames &rejected_;
    Hooks hooks_;
    std::string address_;
    std::string blocks_; /* address of redundancy_'s server */
    NodeEvents *events_ = nullptr;
    NodeSweep sweep_;
    std::uint64_t swept_epoch_ = 0; /* epoch of the latest sweep */
    FileIdentities identities_;     /* of all images; gives the next one */
    WriteRate write_rate_;
    mutable std::shared_future<FileSystem> file_system_; /* valid after the first request */
    mutable std::chrono::steady_clock::time_point file_system_until_;
    bool direct_io_tried_ = false;
    SharingChoice sharing_;
    Image image_; /* of the latest checkpoint, under way or not; or null */
    Increments increments_;
    PieceKeeper keeper_;
    RedundancyWriter redundancy_;
    RankQuestion watching_;
    Protector protector_;
    Freezer freezer_;
    KeptCopies copies_;
    std::uint64_t recovered_from_ = 0;
    bool is_making_directory_ = false;
    std::vector<std::pair<action::Send, std::uint64_t>> held_cuts_; /* with their epochs */
    Salvage salvage_;
    SignalWatch signal_watch_;
    std::map<RankSession *, std::unique_ptr<RankSession>> sessions_;
    std::map<int, RankSession *> ranks_; /* the sessions that sent HELLO */
    std::set<int> becoming_shells_;      /* ranks whose answer to BECOME_SHELL has not come */
    Shells shells_;
    std::map<int, bool> finished_;
    std::optional<Processors> processors_; /* set as soon as there is a rank */
    std::map<int, int> memory_;            /* by rank: memory_of() */
    SharedSegments segments_;
    bool had_ranks_ = false;
    WorkerThread remover_; /* removes checkpoints that only this node sees */
    /* Examines the file system, which may hang, before anything is saved. */
    mutable WorkerThread prober_;
};

} // namespace ckpt
