/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * network_sweep_run.cpp - network sweeping (Plank 1993, section 2.6). The
 * agents are the nodes; their part is launcher/protocol/sweep.hpp, which ckptd
 * uses too. Staggered (section 3.4): a node's ranks save one after the other;
 * then the node begins to sweep, which starts the other nodes.
 */
#include "config.h"
#include "common/invariant.hpp"
#include "protocol/sweep.hpp"
#include "simulator/checkpoint.hpp"
#include "simulator/marker_box.hpp"

#include <deque>

namespace ckpt::simulator
{

namespace
{

SweepRanks ranks_of(const JobModel &job)
{
    std::vector<std::uint32_t> ranks(job.nodes());
    for (Node node = 0; node < job.nodes(); node++) {
        ranks[node] = job.ranks_on(node);
    }
    return SweepRanks(ranks);
}

class NetworkSweepRun : public Checkpoint
{
  public:
    NetworkSweepRun(EventQueue &queue, const JobModel &job,
                    Application &application, const CheckpointOptions &options)
        : Checkpoint(queue, job, application, options),
          topology_(options.dimensions == 0
                        ? SweepTopology::hypercube(job.nodes())
                        : SweepTopology::cube(job.nodes(), options.dimensions)),
          ranks_(ranks_of(job)),
          box_(queue, job, application,
               [this](Rank rank, Rank from) { handle_marker(rank, from); }),
          expected_(job.ranks), complete_(job.ranks), done_(job.ranks)
    {
        for (Node node = 0; node < job.nodes(); node++) {
            nodes_.emplace_back(Sweep(topology_, ranks_, node),
                                job.ranks_on(node));
        }
    }

    bool accepts_new(Rank rank, Rank from) const override
    {
        return complete_[rank] || over_at(rank) || box_.is_complete(rank, from);
    }

    void before_new_send(Rank from, Rank to) override
    {
        const std::uint64_t *count = application_.sent(from).get(to);
        if (!over_at(from) &&
            box_.send_for_first_use(from, to, count != nullptr ? *count : 0)) {
            messages_.first_use_markers++;
        }
    }

    void old_arrived(Rank rank, Rank from, std::uint64_t count) override
    {
        box_.old_arrived(rank, from, count);
        look_if_complete(rank);
    }

    std::string detail() const override
    {
        return topology_.name() +
               (options_.uniform > 0
                    ? "; first-use markers in closed form: n(n-1), if all "
                      "pairs communicate meanwhile"
                    : "");
    }

  private:
    enum OwnKind : std::uint32_t {
        request_at_node = own_kinds,
        request_at_rank,
        sweep_arrives,
        sweep_handled
    };

    struct NodeState {
        NodeState(Sweep part, Rank rank_count)
            : sweep(std::move(part)), missing_cuts(rank_count),
              missing_saves(rank_count), missing_ranks(rank_count)
        {
        }
        Sweep sweep;
        Rank missing_cuts;
        Rank missing_saves;
        Rank missing_ranks; /* ranks that are not both saved and complete */
        bool requested = false;
        bool is_swept = false;
        Seconds free = 0; /* when the agent is free */
    };

    void begin() override
    {
        const Node last = options_.stagger ? 1 : job_.nodes();
        messages_.requests += last;
        if (options_.uniform > 0) {
            messages_.first_use_markers =
                std::uint64_t{job_.ranks} * (job_.ranks - 1);
        }
        for (Node node = 0; node < last; node++) {
            queue_.schedule(agent_hears(node), *this, request_at_node, node);
        }
    }

    void on_event(const Event &event) override
    {
        switch (event.kind) {
        case request_at_node:
            request_node(event.one);
            break;
        case request_at_rank:
            ask_to_cut(event.one);
            break;
        case sweep_arrives:
            queue_.schedule(handling_done(event.one), *this, sweep_handled,
                            event.one, event.two);
            break;
        case sweep_handled:
            handle_sweep(event);
            break;
        }
    }

    /* Returns when the agent, which handles one message at a time, will have
     * handled one more. */
    Seconds handling_done(Node node, Seconds longer = 0)
    {
        NodeState &state = nodes_[node];
        state.free =
            std::max(state.free, queue_.now()) + job_.handling + longer;
        return state.free;
    }

    void request_node(Node node)
    {
        if (nodes_[node].requested) {
            return;
        }
        nodes_[node].requested = true;
        const Rank first = job_.first_rank(node);
        const Rank last = options_.stagger ? 1 : job_.ranks_on(node);
        for (Rank i = 0; i < last; i++) {
            request_rank(first + i);
        }
    }

    void request_rank(Rank rank)
    {
        queue_.schedule(handling_done(job_.node_of(rank)) + job_.latency_inside,
                        *this, request_at_rank, rank);
    }

    void handle_marker(Rank rank, Rank)
    {
        ask_to_cut(rank);
        request_node(job_.node_of(rank));
        application_.look_again(rank);
    }

    void on_cut(Rank rank) override
    {
        const Node node = job_.node_of(rank);
        CKPT_INVARIANT(nodes_[node].missing_cuts > 0);
        if (--nodes_[node].missing_cuts == 0 && !options_.stagger) {
            begin_sweep(node);
        }
        save(rank);
    }

    void on_saved(Rank rank) override
    {
        application_.resume(rank);
        const Node node = job_.node_of(rank);
        CKPT_INVARIANT(nodes_[node].missing_saves > 0);
        if (--nodes_[node].missing_saves == 0 && options_.stagger) {
            begin_sweep(node);
        } else if (options_.stagger) {
            request_next(rank);
        }
        look_if_complete(rank);
        end_if_done(rank);
    }

    /* Asks the next rank of the same node that was not asked yet. */
    void request_next(Rank rank)
    {
        const Node node = job_.node_of(rank);
        const Rank count = job_.ranks_on(node);
        for (Rank i = 0; i < count; i++) {
            const Rank other = job_.first_rank(node) + i;
            if (!is_asked(other)) {
                request_rank(other);
                return;
            }
        }
    }

    /* Returns the messages that all ranks of the node have sent before their
     * cuts. */
    RankCounts sent_by(Node node) const
    {
        const Rank first = job_.first_rank(node);
        const Rank end = first + job_.ranks_on(node);
        std::vector<RankCounts::Run> runs;
        for (Rank rank = first; rank < end; rank++) {
            application_.sent(rank).for_each([&](Rank to, std::uint64_t count) {
                runs.push_back({to, to + 1, count});
            });
        }
        if (const std::uint64_t each = options_.uniform; each > 0) {
            const std::uint64_t all = each * (end - first);
            runs.push_back({0, first, all});
            runs.push_back({first, end, all - each}); /* not to itself */
            runs.push_back({end, job_.ranks, all});
        }
        return RankCounts(runs);
    }

    void begin_sweep(Node node)
    {
        nodes_[node].sweep.add(sent_by(node), job_.ranks_on(node));
        pass_on(node);
    }

    void handle_sweep(const Event &event)
    {
        const Node node = event.one;
        request_node(node);
        SweepMessage message = std::move(network_[event.two]);
        network_[event.two] = {};
        nodes_[node].sweep.receive(std::move(message));
        pass_on(node);
    }

    void pass_on(Node node)
    {
        NodeState &state = nodes_[node];
        for (SweepMessage &message : state.sweep.take_messages()) {
            const double bytes =
                32 + 16.0 * static_cast<double>(message.counts.runs().size());
            const Seconds sent = handling_done(node, bytes * job_.byte_between);
            messages_.sweep++;
            queue_.schedule(sent + job_.latency_between, *this, sweep_arrives,
                            topology_.host(message.to), network_.size());
            network_.push_back(std::move(message));
        }
        if (state.sweep.complete() && !state.is_swept) {
            state.is_swept = true;
            learn(node);
        }
    }

    void learn(Node node)
    {
        const RankCounts &counts = nodes_[node].sweep.expected();
        for (Rank i = 0; i < job_.ranks_on(node); i++) {
            const Rank rank = job_.first_rank(node) + i;
            expected_[rank] = counts.at(rank);
            look_if_complete(rank);
        }
    }

    std::uint64_t arrived(Rank rank) const
    {
        return options_.uniform > 0 ? options_.uniform * (job_.ranks - 1)
                                    : application_.arrived(rank);
    }

    void look_if_complete(Rank rank)
    {
        if (complete_[rank] || !nodes_[job_.node_of(rank)].is_swept ||
            arrived(rank) != expected_[rank]) {
            return;
        }
        complete_[rank] = true;
        application_.look_again(rank);
        end_if_done(rank);
    }

    /* Called when a rank is saved and when it is complete. */
    void end_if_done(Rank rank)
    {
        if (!complete_[rank] || !is_saved(rank) || done_[rank]) {
            return;
        }
        done_[rank] = true;
        if (--nodes_[job_.node_of(rank)].missing_ranks > 0) {
            return;
        }
        messages_.ends++;
        coordinator_free_ =
            std::max(coordinator_free_,
                     queue_.now() + job_.latency_between + job_.handling) +
            job_.handling;
        if (messages_.ends == job_.nodes()) {
            messages_.over += job_.nodes();
            commit(coordinator_free_);
        }
    }

    SweepTopology topology_;
    SweepRanks ranks_;
    MarkerBox box_;
    std::vector<NodeState> nodes_;
    std::deque<SweepMessage> network_;    /* all messages sent */
    std::vector<std::uint64_t> expected_; /* messages expected, by rank */
    std::vector<bool> complete_;
    std::vector<bool> done_; /* complete and saved */
    Seconds coordinator_free_ = 0;
};

} // namespace

std::unique_ptr<Checkpoint> make_network_sweep(EventQueue &queue,
                                               const JobModel &job,
                                               Application &application,
                                               const CheckpointOptions &options)
{
    return std::make_unique<NetworkSweepRun>(queue, job, application, options);
}

} // namespace ckpt::simulator
