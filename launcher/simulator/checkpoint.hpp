/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * checkpoint.hpp - one simulated checkpoint: what the protocols have in common,
 * from the alignment of collectives to the news that it is over.
 */
#pragma once

#include "simulator/application.hpp"
#include "simulator/shared_disk.hpp"

#include <memory>
#include <string>
#include <vector>

namespace ckpt::simulator
{

/* Messages of a checkpoint, by kind. Those of Sync-and-Stop and Chandy-Lamport
 * are between the coordinator and ranks, or between ranks; those of network
 * sweeping between nodes, but for the markers. */
struct MessageCounts {
    std::uint64_t alignment = 0; /* where ranks are in collectives: 2n */
    std::uint64_t requests = 0;  /* to stop, or to cut */
    /* Sync-and-Stop only: the counts to the coordinator, and back; all is
     * received. */
    std::uint64_t stopped = 0;
    std::uint64_t drain_orders = 0;
    std::uint64_t drained = 0;
    std::uint64_t save_orders = 0;
    std::uint64_t saved = 0;   /* the rank stands still, and may be read */
    std::uint64_t resumed = 0; /* it may go on */
    std::uint64_t markers = 0; /* on used channels: Chandy-Lamport */
    std::uint64_t first_use_markers = 0;
    std::uint64_t sweep = 0;
    std::uint64_t counts = 0; /* what all have sent: Chandy-Lamport */
    std::uint64_t ends = 0;   /* m_S to the coordinator */
    std::uint64_t over = 0;   /* and back */
    std::uint64_t logged = 0; /* the log is closed: Chandy-Lamport */
};

struct CheckpointOptions {
    bool stagger = false;
    /* Ranks of a file system that are saved at the same time; 0: any number. An
     * agent reads its ranks one after the other. */
    Rank writers = 0;
    /* Instead of the application's messages: all ranks have sent so many to
     * each other one, and all have arrived. 0: no. */
    std::uint64_t uniform = 0;
    /* Of network sweeping: dimensions of the mesh; 0: a hypercube. */
    unsigned dimensions = 0;
};

class Checkpoint : public EventHandler, public CutRules
{
  public:
    Checkpoint(EventQueue &queue, const JobModel &job, Application &application,
               const CheckpointOptions &options);

    void request(); /* now */
    bool over() const { return over_known_count_ == job_.ranks; }

    const MessageCounts &messages() const { return messages_; }
    /* From the request to these. */
    struct Times {
        Seconds first_cut = 0;
        Seconds last_cut = 0;
        Seconds last_saved = 0;
        Seconds commit = 0;
    };
    const Times &times() const { return times_; }
    const Log &log() const { return log_; } /* at the commit */
    Rank most_writers() const; /* on one file system at the same time */
    virtual std::string detail() const
    {
        return {};
    } /* for people */

    void handle(const Event &event) override;
    void before_new_send(Rank, Rank) override {}
    void left_collective(Rank rank) override;

  protected:
    enum Kind : std::uint32_t {
        align_rank,
        all_reported,
        align_node,
        over_at_rank,
        commit_now,
        own_kinds /* and from here on a protocol's own */
    };

    /* Reports of all ranks on their way to the coordinator: an agent passes
     * them on when it has those of all its ranks. */
    class Gathering
    {
      public:
        Gathering(Checkpoint &checkpoint, std::uint32_t kind);
        void report(Rank rank); /* once for each; the last schedules `kind` */

      private:
        Checkpoint &checkpoint_;
        std::uint32_t kind_;
        std::vector<Rank> missing_; /* by node */
        Node nodes_missing_;
        Seconds coordinator_free_ = 0;
    };

    virtual void begin() = 0; /* all targets are set */
    virtual void on_cut(Rank rank) = 0;
    virtual void on_saved(Rank rank) = 0;
    virtual void on_event(const Event &event) = 0;

    /* Schedules an event for each rank, by way of the agents. */
    void tell_all_ranks(std::uint32_t kind);
    Seconds agent_hears(Node node) const; /* told now, together with all */
    /* The rank cuts as soon as it can; nothing if it was asked before. */
    void ask_to_cut(Rank rank);
    void save(Rank rank);
    void commit(Seconds when);

    bool over_at(Rank rank) const { return over_known_[rank]; }
    bool all_saved() const { return saved_count_ == job_.ranks; }
    bool is_saved(Rank rank) const { return saved_[rank]; }
    bool is_asked(Rank rank) const { return asked_[rank]; }

    /* Writers at the same time on a file system; 0: any number. */
    void limit_writers(Rank at_once);

    EventQueue &queue_;
    const JobModel &job_;
    Application &application_;
    const CheckpointOptions options_;
    MessageCounts messages_;

  private:
    void cut(Rank rank);
    void finish_save(Rank rank);

    Times times_;
    Log log_;
    Seconds requested_ = 0;
    std::uint64_t target_ = 0;
    std::vector<SharedDisk> disks_;
    std::vector<bool> asked_;
    std::vector<bool> saved_;
    std::vector<bool> over_known_;
    Rank cut_count_ = 0;
    Rank saved_count_ = 0;
    Rank over_known_count_ = 0;
    std::unique_ptr<Gathering> reports_;
};

std::unique_ptr<Checkpoint>
make_sync_and_stop(EventQueue &queue, const JobModel &job,
                   Application &application, const CheckpointOptions &options);
std::unique_ptr<Checkpoint>
make_chandy_lamport(EventQueue &queue, const JobModel &job,
                    Application &application, const CheckpointOptions &options);
std::unique_ptr<Checkpoint>
make_network_sweep(EventQueue &queue, const JobModel &job,
                   Application &application, const CheckpointOptions &options);

} // namespace ckpt::simulator
