/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sweep.hpp - how a node learns the number of messages that the ranks of all
 * nodes have sent each of its own by the cut, without a message to each of the
 * other nodes: one node's part in one sweep, as a state machine without I/O.
 *
 * After the markers m_NS of Plank (1993), section 2.6: they follow all
 * cross-cut messages through the links of the machine. The network here does
 * not keep that order, so they carry counts instead, and the mesh is a virtual
 * one.
 */
#pragma once

#include "protocol/rank_counts.hpp"
#include "protocol/sweep_topology.hpp"

#include <cstdint>
#include <vector>

namespace ckpt
{

/* From a place to its neighbour in a dimension: for each rank beyond it, the
 * messages to that rank from all ranks that the sender knows of and the
 * receiver does not. Ranks are numbered as in SweepRanks. */
struct SweepMessage {
    SweepTopology::Place from;
    SweepTopology::Place to;
    std::uint32_t dimension;
    RankCounts counts;
};

/* The ranks of a job in the order of their nodes: those of node a are
 * [first[a], first[a + 1]). These are not MPI's numbers unless ranks are placed
 * on nodes in order. */
class SweepRanks
{
  public:
    /* The number of ranks on each node. */
    explicit SweepRanks(const std::vector<std::uint32_t> &ranks_of_node);

    std::uint32_t nodes() const;
    std::uint32_t ranks() const { return first_.back(); }
    /* The first rank of a node, or of the nodes from this one on; ranks() if
     * there are no more nodes. */
    std::uint32_t first(SweepTopology::Node node) const;

  private:
    std::vector<std::uint32_t> first_;
};

class Sweep
{
  public:
    /* What `node` does in a sweep; both references must outlive it. */
    Sweep(const SweepTopology &topology, const SweepRanks &ranks,
          SweepTopology::Node node);

    /* A rank of this node has cut, and has sent so many messages to each rank
     * of the job since the start. To be called once for each rank (or once for
     * `cuts` ranks together); after the last the node begins to send. */
    void add(const RankCounts &sent, std::uint32_t cuts = 1);
    /* A message for one of this node's places; before its ranks have cut, too,
     * and in any order. Throws Error for one that this sweep has no use for, or
     * has had already. */
    void receive(SweepMessage message);

    /* The messages to be sent now: each to the host of `to`, another node. */
    std::vector<SweepMessage> take_messages();

    bool complete() const;
    /* For each rank of this node the messages sent to it by all ranks until
     * they cut, once complete(). */
    const RankCounts &expected() const { return places_.front().held; }

  private:
    using Direction = SweepTopology::Direction;

    struct Place {
        SweepTopology::Place place;
        unsigned dimension = 0; /* the present one */
        bool received_up = false;
        bool received_down = false;
        /* What is known here, for all ranks that it is this place's part to
         * know about. */
        RankCounts held;
    };

    Place &at(SweepTopology::Place place);
    Direction direction_of(const SweepMessage &message) const;
    void check(const SweepMessage &message);
    bool has_cut() const;
    bool done(const Place &place) const;

    void start();
    void begin(Place &place);
    void take(Place &place, const SweepMessage &message);
    void pass_on(Place &place, Direction direction);
    void advance();
    bool advance_place(Place &place);
    RankCounts part(const RankCounts &counts, SweepTopology::Range range) const;

    const SweepTopology &topology_;
    const SweepRanks &ranks_;
    SweepTopology::Node node_;
    std::uint32_t cuts_missing_;
    std::vector<Place> places_;       /* the first is this node's own */
    std::vector<SweepMessage> early_; /* received before its time */
    std::vector<SweepMessage> ready_; /* to be sent */
};

} // namespace ckpt
