/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sweep.hpp - one node's part in one sweep, as a state machine without I/O. A
 * sweep tells a node how many messages the ranks of all nodes have sent to each
 * of its ranks before the cut. No node has to send a message to every other
 * node.
 *
 * It replaces the markers m_NS of Plank (1993), section 2.6, which follow all
 * cross-cut messages through the links of the machine. The network here does
 * not keep that order, so the sweep's messages carry counts instead, and the
 * mesh is virtual.
 */
#pragma once

#include "protocol/rank_counts.hpp"
#include "protocol/sweep_topology.hpp"

#include <cstdint>
#include <vector>

namespace ckpt
{

/* From a place to its neighbour in a dimension. It has a number of messages
 * for each rank beyond the neighbour. It counts those from all ranks that
 * the sender knows about and the receiver does not. Ranks are numbered as in
 * SweepRanks. */
struct SweepMessage {
    SweepTopology::Place from;
    SweepTopology::Place to;
    std::uint32_t dimension;
    RankCounts counts;
};

/* The ranks of a job in the order of their nodes: those of node a are
 * [first[a], first[a + 1]). These are MPI's numbers only if ranks are placed
 * on nodes in order. */
class SweepRanks
{
  public:
    /* ranks_of_node: the number of ranks on each node. */
    explicit SweepRanks(const std::vector<std::uint32_t> &ranks_of_node);

    std::uint32_t nodes() const;
    std::uint32_t ranks() const { return first_.back(); }
    /* Returns the first rank of a node, or of the next node that has ranks;
     * ranks() if there are no more nodes. */
    std::uint32_t first(SweepTopology::Node node) const;

  private:
    std::vector<std::uint32_t> first_;
};

class Sweep
{
  public:
    /* The part of `node` in a sweep. Both references must outlive this
     * object. */
    Sweep(const SweepTopology &topology, const SweepRanks &ranks,
          SweepTopology::Node node);

    /* A rank of this node has been cut; sent: messages to each rank of the
     * job since the start. Call once for each rank, or once for `cuts` ranks
     * together. After the last rank the node begins to send. */
    void add(const RankCounts &sent, std::uint32_t cuts = 1);
    /* Takes a message for one of this node's places, in any order, and also
     * before the node's ranks are cut. Throws Error for a message that does
     * not belong to this sweep or was received before. */
    void receive(SweepMessage message);

    /* Returns the messages to send now, each to the host of `to`, which is
     * another node. */
    std::vector<SweepMessage> take_messages();

    bool complete() const;
    /* For each rank of this node, the number of messages that all ranks sent to it before their
     * cuts. Requires complete(). */
    const RankCounts &expected() const;

  private:
    using Direction = SweepTopology::Direction;

    struct Place {
        SweepTopology::Place place;
        unsigned dimension = 0; /* the present dimension */
        bool received_up = false;
        bool received_down = false;
        /* The known counts, for all ranks that this place has to know about. */
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
    std::vector<SweepMessage> early_; /* messages that wait for their
                                         dimension */
    std::vector<SweepMessage> ready_; /* to be sent */
};

} // namespace ckpt
