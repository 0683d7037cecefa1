/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * checkpoint.cpp - alignment, saving, and the end of a checkpoint.
 */
#include "config.h"
#include "simulator/checkpoint.hpp"

#include "common/invariant.hpp"

#include <algorithm>

namespace ckpt::simulator
{

Checkpoint::Checkpoint(EventQueue &queue, const JobModel &job,
                       Application &application,
                       const CheckpointOptions &options)
    : queue_(queue), job_(job), application_(application), options_(options),
      asked_(job.ranks), saved_(job.ranks), over_known_(job.ranks)
{
    limit_writers(options.writers);
}

void Checkpoint::limit_writers(Rank at_once)
{
    disks_.clear();
    disks_.reserve(job_.file_systems()); /* events refer to their addresses */
    for (Rank i = 0; i < job_.file_systems(); i++) {
        disks_.emplace_back(queue_, job_.image_bytes, job_.bandwidth, at_once,
                            [this](Rank rank) { finish_save(rank); });
    }
}

Rank Checkpoint::most_writers() const
{
    Rank most = 0;
    for (const SharedDisk &disk : disks_) {
        most = std::max(most, disk.most_writers());
    }
    return most;
}

void Checkpoint::request()
{
    requested_ = queue_.now();
    reports_ = std::make_unique<Gathering>(*this, all_reported);
    messages_.alignment += job_.ranks;
    tell_all_ranks(align_rank);
}

void Checkpoint::handle(const Event &event)
{
    switch (event.kind) {
    case align_rank:
        target_ = std::max(target_, application_.shut_gate(event.one));
        messages_.alignment++;
        reports_->report(event.one);
        break;
    case all_reported:
        for (Node node = 0; node < job_.nodes(); node++) {
            queue_.schedule(agent_hears(node), *this, align_node, node);
        }
        break;
    case align_node: {
        const Node node = event.one;
        for (Rank i = 0; i < job_.ranks_on(node); i++) {
            application_.set_target(job_.first_rank(node) + i, target_);
        }
        if (node == job_.nodes() - 1) {
            begin();
        }
        break;
    }
    case commit_now:
        times_.commit = queue_.now() - requested_ + job_.closing;
        log_ = application_.log();
        tell_all_ranks(over_at_rank);
        break;
    case over_at_rank:
        over_known_[event.one] = true;
        over_known_count_++;
        CKPT_INVARIANT(over_known_count_ <= job_.ranks);
        application_.look_again(event.one);
        break;
    default:
        on_event(event);
    }
}

/* The coordinator is the agent of node 0. */
Seconds Checkpoint::agent_hears(Node node) const
{
    return queue_.now() +
           (node == 0
                ? 0
                : node * job_.handling + job_.latency_between + job_.handling);
}

void Checkpoint::tell_all_ranks(std::uint32_t kind)
{
    for (Node node = 0; node < job_.nodes(); node++) {
        const Seconds when = agent_hears(node) + job_.latency_inside;
        for (Rank i = 0; i < job_.ranks_on(node); i++) {
            queue_.schedule(when + (i + 1) * job_.handling, *this, kind,
                            job_.first_rank(node) + i);
        }
    }
}

Checkpoint::Gathering::Gathering(Checkpoint &checkpoint, std::uint32_t kind)
    : checkpoint_(checkpoint), kind_(kind), missing_(checkpoint.job_.nodes()),
      nodes_missing_(checkpoint.job_.nodes())
{
    for (Node node = 0; node < nodes_missing_; node++) {
        missing_[node] = checkpoint.job_.ranks_on(node);
    }
}

void Checkpoint::Gathering::report(Rank rank)
{
    const JobModel &job = checkpoint_.job_;
    const Node node = job.node_of(rank);
    CKPT_EXPECT(missing_[node] > 0 && nodes_missing_ > 0);
    if (--missing_[node] > 0) {
        return;
    }
    const Seconds arrives = checkpoint_.queue_.now() + job.latency_inside +
                            job.handling +
                            (node == 0 ? 0 : job.latency_between);
    coordinator_free_ = std::max(coordinator_free_, arrives) + job.handling;
    if (--nodes_missing_ == 0) {
        checkpoint_.queue_.schedule(coordinator_free_, checkpoint_, kind_);
    }
}

void Checkpoint::ask_to_cut(Rank rank)
{
    if (asked_[rank]) {
        return;
    }
    asked_[rank] = true;
    if (application_.is_aligned(rank)) {
        cut(rank);
    }
}

void Checkpoint::left_collective(Rank rank)
{
    if (asked_[rank] && !application_.has_cut(rank) &&
        application_.is_aligned(rank)) {
        cut(rank);
    }
}

void Checkpoint::cut(Rank rank)
{
    CKPT_EXPECT(asked_[rank] && application_.is_aligned(rank));
    times_.last_cut = queue_.now() - requested_;
    if (cut_count_++ == 0) {
        times_.first_cut = times_.last_cut;
    }
    application_.cut(rank);
    application_.open_gate(rank);
    on_cut(rank);
}

void Checkpoint::save(Rank rank)
{
    disks_[job_.file_system_of(rank)].write(rank);
}

void Checkpoint::finish_save(Rank rank)
{
    CKPT_EXPECT(!saved_[rank]);
    times_.last_saved = queue_.now() - requested_;
    saved_[rank] = true;
    saved_count_++;
    CKPT_INVARIANT(saved_count_ <= cut_count_ && cut_count_ <= job_.ranks);
    on_saved(rank);
}

void Checkpoint::commit(Seconds when)
{
    queue_.schedule(when, *this, commit_now);
}

} // namespace ckpt::simulator
