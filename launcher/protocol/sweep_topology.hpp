/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sweep_topology.hpp - the virtual network over which the counts of a
 * checkpoint are swept. It is a mesh for any number of nodes, with one side
 * (radix) per dimension. With all sides 2 it is a hypercube; with d sides of k
 * it is a k-ary d-cube (Plank 1993, section 2.6.2).
 */
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ckpt
{

/* Places are the nodes of the mesh. A place's number has its coordinates as
 * digits, with the first dimension as the most significant one. There are at
 * least as many places as nodes of the job. Node a is at place a. All places
 * without a node are in the last layer of the first dimension; the node one
 * layer below hosts each of them. So a node has one place or two, and the
 * two are neighbours.
 *
 * A sweep goes through the dimensions in order. In each dimension it goes
 * along each line of places, in both directions. A place sends to the next
 * one the counts for the nodes further on in that direction. As the most
 * significant digit goes first, these nodes have consecutive numbers. */
class SweepTopology
{
  public:
    using Place = std::uint32_t;
    using Node = std::uint32_t;

    enum class Direction {
        up,
        down
    };

    /* Places [begin, end). */
    struct Range {
        Place begin;
        Place end;
    };

    /* Makes a mesh with these sides, none of which is 1. Throws Error unless
     * each layer of the first dimension has a node, and the mesh has a place
     * for every node. */
    SweepTopology(Node nodes, std::vector<std::uint32_t> sides);
    static SweepTopology hypercube(Node nodes);
    /* Makes a mesh with at most `dimensions` sides, which differ as little
     * as `nodes` allows. The longest side is minimal, and then the number of
     * places. */
    static SweepTopology cube(Node nodes, unsigned dimensions);

    Node nodes() const { return nodes_; }
    Place places() const { return places_; }
    unsigned dimensions() const { return static_cast<unsigned>(sides_.size()); }
    const std::vector<std::uint32_t> &sides() const { return sides_; }
    std::string name() const; /* for messages to users: "mesh of 4x3" */

    Node host(Place place) const;
    std::vector<Place> places_of(Node node) const;

    /* Returns the coordinate of a place in a dimension. */
    std::uint32_t coordinate(Place place, unsigned dimension) const;
    bool has_next(Place place, unsigned dimension, Direction direction) const;
    /* Returns the neighbour in that direction. Requires has_next(). */
    Place next(Place place, unsigned dimension, Direction direction) const;
    /* Returns the places that have the same coordinates as `place` up to
     * `dimension`: after that dimension, `place` has their counts. */
    Range alike(Place place, unsigned dimension) const;
    /* Returns the places for which a message in this direction to `to` has
     * counts. */
    Range beyond(Place to, unsigned dimension, Direction direction) const;
    /* Whether `from` sends a message to its neighbour in this dimension:
     * there is a neighbour, and a node is beyond it. */
    bool sends(Place from, unsigned dimension, Direction direction) const;

    /* Number of messages of a sweep: between places, and between nodes,
     * which have to be sent. The second number is smaller by 2 (places -
     * nodes). The first is at most 2 places (1 - 1/side), summed over the
     * dimensions. It has that value if there are as many nodes as places:
     * nodes log2(nodes) for a hypercube. */
    struct MessageCount {
        std::uint64_t between_places;
        std::uint64_t between_nodes;
    };
    MessageCount count_messages() const;

  private:
    Node nodes_;
    Place places_ = 1;
    std::vector<std::uint32_t> sides_;
    std::vector<Place> strides_; /* distance between neighbours, by dimension */
};

} // namespace ckpt
