/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sync_and_stop_run.cpp - Sync-and-Stop (Plank 1993, section 2.4) as
 * implemented in ckpt: all ranks stop and report their counts, drain their
 * messages, and are saved. A rank resumes when its own image has been read.
 */
#include "config.h"
#include "common/invariant.hpp"
#include "simulator/checkpoint.hpp"

namespace ckpt::simulator
{

namespace
{

class SyncAndStopRun : public Checkpoint
{
  public:
    SyncAndStopRun(EventQueue &queue, const JobModel &job,
                   Application &application, const CheckpointOptions &options)
        : Checkpoint(queue, job, application, options),
          stopped_(*this, all_stopped), drained_(*this, all_drained),
          done_(*this, commit_now),
          expected_(job.ranks), draining_(job.ranks)
    {
        limit_writers(options.stagger ? 1 : options.writers);
    }

    bool accepts_new(Rank, Rank) const override
    {
        return true;
    }
    void old_arrived(Rank rank, Rank, std::uint64_t) override
    {
        report_if_drained(rank);
    }

  private:
    enum OwnKind : std::uint32_t {
        stop_request = own_kinds,
        all_stopped,
        drain_order,
        all_drained,
        save_order
    };

    void begin() override
    {
        messages_.requests += job_.ranks;
        tell_all_ranks(stop_request);
    }

    void on_event(const Event &event) override
    {
        switch (event.kind) {
        case stop_request:
            ask_to_cut(event.one);
            break;
        case all_stopped:
            sum_up();
            messages_.drain_orders += job_.ranks;
            tell_all_ranks(drain_order);
            break;
        case drain_order:
            draining_[event.one] = true;
            report_if_drained(event.one);
            break;
        case all_drained:
            messages_.save_orders += job_.ranks;
            tell_all_ranks(save_order);
            break;
        case save_order:
            messages_.saved++;
            save(event.one);
            break;
        }
    }

    void on_cut(Rank rank) override
    {
        messages_.stopped++;
        stopped_.report(rank);
    }

    void sum_up()
    {
        for (Rank from = 0; from < job_.ranks; from++) {
            application_.sent(from).for_each(
                [&](Rank to, std::uint64_t count) { expected_[to] += count; });
        }
    }

    void report_if_drained(Rank rank)
    {
        CKPT_INVARIANT(!draining_[rank] || application_.arrived(rank) <= expected_[rank]);
        if (draining_[rank] && application_.arrived(rank) == expected_[rank]) {
            draining_[rank] = false;
            messages_.drained++;
            drained_.report(rank);
        }
    }

    void on_saved(Rank rank) override
    {
        application_.resume(rank);
        messages_.resumed++;
        done_.report(rank);
    }

    Gathering stopped_;
    Gathering drained_;
    Gathering done_;
    std::vector<std::uint64_t> expected_; /* messages expected, by rank */
    std::vector<bool> draining_;
};

} // namespace

std::unique_ptr<Checkpoint> make_sync_and_stop(EventQueue &queue,
                                               const JobModel &job,
                                               Application &application,
                                               const CheckpointOptions &options)
{
    return std::make_unique<SyncAndStopRun>(queue, job, application, options);
}

} // namespace ckpt::simulator
