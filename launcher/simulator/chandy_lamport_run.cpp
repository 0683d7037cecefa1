/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * chandy_lamport_run.cpp - Chandy-Lamport (Plank 1993, section 2.5). Markers
 * have message counts, and go to the peers to which a rank has sent messages.
 * Staggered (section 3.4): a rank sends its markers after its image is saved,
 * and they start the other ranks.
 */
#include "config.h"
#include "common/invariant.hpp"
#include "simulator/checkpoint.hpp"
#include "simulator/marker_box.hpp"

#include <fmt/format.h>

namespace ckpt::simulator
{

namespace
{

class ChandyLamportRun : public Checkpoint
{
  public:
    ChandyLamportRun(EventQueue &queue, const JobModel &job,
                     Application &application, const CheckpointOptions &options)
        : Checkpoint(queue, job, application, options),
          box_(queue, job, application,
               [this](Rank rank, Rank from) { handle_marker(rank, from); }),
          reported_(job.ranks, none)
    {
    }

    bool accepts_new(Rank rank, Rank from) const override
    {
        return over_at(rank) || box_.is_complete(rank, from);
    }

    void before_new_send(Rank from, Rank to) override
    {
        const bool has_marker = application_.sent(from).get(to) != nullptr;
        if (!over_at(from) && !has_marker &&
            box_.send_for_first_use(from, to, 0)) {
            messages_.first_use_markers++;
        }
    }

    void old_arrived(Rank rank, Rank from, std::uint64_t count) override
    {
        box_.old_arrived(rank, from, count);
        report_if_complete(rank);
    }

    std::string detail() const override
    {
        return options_.uniform > 0
                   ? "markers counted in closed form, n(n-1); each rank sends "
                     "and handles its own one after the other"
                   : "";
    }

  private:
    enum OwnKind : std::uint32_t {
        request_at_rank = own_kinds,
        reached, /* a marker of the closed form arrives */
        markers_sent
    };
    static constexpr std::uint64_t none = ~0ULL;

    void begin() override
    {
        if (options_.stagger) {
            ask_next();
        } else {
            messages_.requests += job_.ranks;
            tell_all_ranks(request_at_rank);
        }
    }

    void on_event(const Event &event) override
    {
        switch (event.kind) {
        case request_at_rank:
        case reached:
            reach(event.one);
            break;
        case markers_sent:
            on_markers_sent(event.one);
            break;
        }
    }

    /* A request or a marker has arrived at the rank. */
    void reach(Rank rank)
    {
        on_way_--;
        busy_ += is_asked(rank) ? 0 : 1;
        ask_to_cut(rank);
        ask_next_if_idle();
    }

    void handle_marker(Rank rank, Rank from)
    {
        const bool of_first_use = application_.sent(from).get(rank) == nullptr;
        handled_ += of_first_use ? 0 : 1;
        reach(rank);
        application_.look_again(rank);
        report_if_complete(rank);
    }

    void on_cut(Rank rank) override
    {
        messages_.saved++;
        if (options_.stagger) {
            save(rank);
        } else {
            send_markers(rank);
        }
    }

    void send_markers(Rank rank)
    {
        Seconds when = queue_.now();
        if (options_.uniform > 0) {
            when = send_to_all(rank);
        }
        application_.sent(rank).for_each([&](Rank to, std::uint64_t count) {
            when += job_.handling;
            box_.send(when, rank, to, count);
            messages_.markers++;
            on_way_++;
        });
        queue_.schedule(when, *this, markers_sent, rank);
    }

    /* Computes the markers in closed form. Schedules only those that start
     * other ranks. */
    Seconds send_to_all(Rank rank)
    {
        messages_.markers += job_.ranks - 1;
        for (Rank i = 1; i < job_.ranks && !has_spread_; i++) {
            on_way_++;
            queue_.schedule(queue_.now() + i * job_.handling +
                                job_.latency_between,
                            *this, reached, (rank + i) % job_.ranks);
        }
        has_spread_ = true;
        return queue_.now() + (job_.ranks - 1) * job_.handling;
    }

    void on_markers_sent(Rank rank)
    {
        if (options_.stagger) {
            finish(rank);
        } else {
            save(rank);
        }
    }

    void on_saved(Rank rank) override
    {
        if (options_.stagger) {
            send_markers(rank);
        } else {
            finish(rank);
        }
    }

    void finish(Rank rank)
    {
        application_.resume(rank);
        messages_.resumed++;
        finished_++;
        CKPT_INVARIANT(finished_ <= job_.ranks);
        messages_.counts += finished_ == job_.ranks ? job_.ranks : 0;
        busy_--;
        report_if_complete(rank);
        ask_next_if_idle();
    }

    void report_if_complete(Rank rank)
    {
        if (!is_saved(rank) || !box_.is_complete(rank) ||
            reported_[rank] == box_.handled_by(rank)) {
            return;
        }
        reported_[rank] = box_.handled_by(rank);
        messages_.ends++;
        commit_if_done();
    }

    /* The coordinator compares sums; the last report makes them equal. */
    void commit_if_done()
    {
        const std::uint64_t expected =
            options_.uniform > 0 ? 0 : messages_.markers;
        if (committing_ || finished_ < job_.ranks || handled_ < expected ||
            !box_.all_complete()) {
            return;
        }
        committing_ = true;
        messages_.over += job_.ranks;
        messages_.logged += job_.ranks;
        const Seconds all_markers =
            options_.uniform > 0 ? (job_.ranks - 1) * job_.handling : 0;
        commit(queue_.now() + all_markers + job_.latency_inside +
               job_.latency_between + 2 * job_.handling);
    }

    /* Staggered: if markers no longer reach any rank, asks the next rank. */
    void ask_next_if_idle()
    {
        if (options_.stagger && on_way_ == 0 && busy_ == 0) {
            ask_next();
        }
    }

    void ask_next()
    {
        while (next_ < job_.ranks && is_asked(next_)) {
            next_++;
        }
        if (next_ < job_.ranks) {
            messages_.requests++;
            on_way_++;
            queue_.schedule(agent_hears(job_.node_of(next_)) +
                                job_.latency_inside + job_.handling,
                            *this, request_at_rank, next_);
        }
    }

    MarkerBox box_;
    std::vector<std::uint64_t> reported_; /* markers handled, by rank */
    std::uint64_t handled_ = 0;           /* markers of used channels */
    std::uint64_t on_way_ = 0;            /* markers and requests in transit */
    Rank busy_ = 0;                       /* asked; not done saving and sending */
    Rank finished_ = 0;                   /* ranks that have finished saving and sending */
    Rank next_ = 0;
    bool has_spread_ = false;
    bool committing_ = false;
};

} // namespace

std::unique_ptr<Checkpoint>
make_chandy_lamport(EventQueue &queue, const JobModel &job,
                    Application &application, const CheckpointOptions &options)
{
    return std::make_unique<ChandyLamportRun>(queue, job, application, options);
}

} // namespace ckpt::simulator
