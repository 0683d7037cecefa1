/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sweep_topology.hpp - the virtual network that the counts of a checkpoint are
 * swept over: a mesh with a side (radix) for each dimension, for any number of
 * nodes. With all sides 2 it is a hypercube, with d sides k a k-ary d-cube
 * (Plank 1993, section 2.6.2).
 */
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ckpt
{

/* Places are the nodes of the mesh, numbered by their coordinates as digits,
 * the first dimension's the most significant. There are at least as many as
 * nodes of the job. Node a is at place a; the places that are left, all of them
 * in the last layer of the first dimension, are looked after by the node one
 * layer below. So a node has one place or two, and two are neighbours.
 *
 * A sweep goes through the dimensions in order. In each it goes along each line
 * of places, both ways. A place sends to the next one the counts for the nodes
 * further on in that direction; as the most significant digit goes first, these
 * are nodes with successive numbers. */
class SweepTopology
{
  public:
    using Place = std::uint32_t;
    using Node = std::uint32_t;

    enum class Direction { up, down };

    /* Places [begin, end). */
    struct Range {
        Place begin;
        Place end;
    };

    /* Sides as given, none of them 1. Throws Error unless each layer of the
     * first dimension has a node, and the mesh room for all nodes. */
    SweepTopology(Node nodes, std::vector<std::uint32_t> sides);
    static SweepTopology hypercube(Node nodes);
    /* At most `dimensions` sides, which differ as little as `nodes` allows:
     * the longest is as short as can be, then places are as few as can be. */
    static SweepTopology cube(Node nodes, unsigned dimensions);

    Node nodes() const { return nodes_; }
    Place places() const { return places_; }
    unsigned dimensions() const { return static_cast<unsigned>(sides_.size()); }
    const std::vector<std::uint32_t> &sides() const { return sides_; }
    std::string name() const; /* for people: "mesh of 4x3" */

    Node host(Place place) const;
    std::vector<Place> places_of(Node node) const;

    /* The coordinate of a place in a dimension. */
    std::uint32_t coordinate(Place place, unsigned dimension) const;
    bool has_next(Place place, unsigned dimension, Direction direction) const;
    /* The neighbour in that direction, if has_next(). */
    Place next(Place place, unsigned dimension, Direction direction) const;
    /* The places that have all coordinates up to `dimension` in common with
     * `place`: what it has counts for after that dimension. */
    Range alike(Place place, unsigned dimension) const;
    /* The places that a message in this direction to `to` has counts for. */
    Range beyond(Place to, unsigned dimension, Direction direction) const;
    /* Whether `from` sends its neighbour a message in this dimension: unless
     * there is none, or no node is beyond it. */
    bool sends(Place from, unsigned dimension, Direction direction) const;

    /* Messages of a sweep: between places, and of these the ones between
     * nodes, which have to be sent: fewer by 2 (places - nodes). The first is
     * at most 2 places (1 - 1/side), added up over the dimensions, and is that
     * with as many nodes as places: nodes log2(nodes) for a hypercube. */
    struct MessageCount {
        std::uint64_t between_places;
        std::uint64_t between_nodes;
    };
    MessageCount count_messages() const;

  private:
    Node nodes_;
    Place places_ = 1;
    std::vector<std::uint32_t> sides_;
    std::vector<Place> strides_; /* between neighbours, by dimension */
};

} // namespace ckpt
