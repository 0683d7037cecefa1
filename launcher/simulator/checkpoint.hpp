/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * checkpoint.hpp - one simulated checkpoint: the common part of the protocols,
 * from the alignment of collectives until all ranks know that the checkpoint is
 * over.
 */
#pragma once

#include "simulator/application.hpp"
#include "simulator/shared_disk.hpp"

#include <memory>
#include <string>
#include <vector>

namespace ckpt::simulator
{

/* Messages of a checkpoint, by kind. In Sync-and-Stop and Chandy-Lamport they
 * are between the coordinator and ranks, or between ranks. In network sweeping
 * they are between nodes, except the markers. */
struct MessageCounts {
    std::uint64_t alignment = 0; /* positions of ranks in collectives: 2n */
    std::uint64_t requests = 0;  /* requests to stop or to cut */
    /* Sync-and-Stop only: the counts to the coordinator and back, and the
     * reports that all messages are received. */
    std::uint64_t stopped = 0;
    std::uint64_t drain_orders = 0;
    std::uint64_t drained = 0;
    std::uint64_t save_orders = 0;
    std::uint64_t saved = 0;   /* the rank is stopped and readable */
    std::uint64_t resumed = 0; /* orders to resume */
    std::uint64_t markers = 0; /* on used channels, in Chandy-Lamport */
    std::uint64_t first_use_markers = 0;
    std::uint64_t sweep = 0;
    std::uint64_t counts = 0; /* of all ranks, to each: Chandy-Lamport */
    std::uint64_t ends = 0;   /* m_S to the coordinator */
    std::uint64_t over = 0;   /* announcements that the checkpoint is over */
    std::uint64_t logged = 0; /* the log is closed: Chandy-Lamport */
};

struct CheckpointOptions {
    bool stagger = false;
    /* Ranks that are saved at the same time on one file system; 0: any number.
     * An agent reads its ranks one after the other. */
    Rank writers = 0;
    /* Replaces the application's messages: each rank has sent so many to each
     * other rank, and all have arrived. 0: off. */
    std::uint64_t uniform = 0;
    /* Network sweeping: dimensions of the mesh; 0: a hypercube. */
    unsigned dimensions = 0;
};

class Checkpoint : public EventHandler, public CutRules
{
  public:
    Checkpoint(EventQueue &queue, const JobModel &job, Application &application,
               const CheckpointOptions &options);

    void request(); /* requests a checkpoint now */
    bool over() const { return over_known_count_ == job_.ranks; }

    const MessageCounts &messages() const { return messages_; }
    /* Times since the request. */
    struct Times {
        Seconds first_cut = 0;
        Seconds last_cut = 0;
        Seconds last_saved = 0;
        Seconds commit = 0;
    };
    const Times &times() const { return times_; }
    const Log &log() const { return log_; } /* state at the commit */
    Rank most_writers() const;              /* at the same time, on one file system */
    virtual std::string detail() const
    {
        return {};
    } /* text for people */

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
        own_kinds /* protocols number their own events from here */
    };

    /* Reports of all ranks to the coordinator. An agent passes reports on when
     * it has those of all its ranks. */
    class Gathering
    {
      public:
        Gathering(Checkpoint &checkpoint, std::uint32_t kind);
        void report(Rank rank); /* the last one schedules `kind` */

      private:
        Checkpoint &checkpoint_;
        std::uint32_t kind_;
        std::vector<Rank> missing_; /* ranks that have not reported, by node */
        Node nodes_missing_;
        Seconds coordinator_free_ = 0;
    };

    virtual void begin() = 0; /* called when all targets are set */
    virtual void on_cut(Rank rank) = 0;
    virtual void on_saved(Rank rank) = 0;
    virtual void on_event(const Event &event) = 0;

    /* Schedules an event for each rank; the messages go through the agents. */
    void tell_all_ranks(std::uint32_t kind);
    Seconds agent_hears(Node node) const; /* if sent to all now */
    /* Cuts the rank as soon as possible; has no effect if it was asked
     * before. */
    void ask_to_cut(Rank rank);
    void save(Rank rank);
    void commit(Seconds when);

    bool over_at(Rank rank) const { return over_known_[rank]; }
    bool is_saved(Rank rank) const { return saved_[rank]; }
    bool is_asked(Rank rank) const { return asked_[rank]; }

    /* Limits simultaneous writers on each file system; 0: any number. */
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
