# SPDX-License-Identifier: BSD-3-Clause
"""sweep_formula.py - how many messages a sweep over N nodes takes (m_NS: Plank 1993,
section 2.6; docs/simulator.md), from the rules of the mesh alone: what real sweeps and
simulated ones are compared with, so nothing here is asked of ckpt."""

import itertools
import math


def sides(nodes, dimensions):
    """The mesh of so many nodes: a hypercube (dimensions 0), or at most so many sides,
    the longest as short as can be, then with as few places as can be, then with the
    shortest first side and the others from long to short."""
    if dimensions == 0:
        return (2,) * (nodes - 1).bit_length()
    lengths = range(nodes, 0, -1)
    meshes = [
        (-(-nodes // math.prod(others)), *others)
        for others in itertools.combinations_with_replacement(
            lengths, dimensions - 1
        )
        if math.prod(others) <= nodes
    ]
    best = min(meshes, key=lambda mesh: (max(mesh), math.prod(mesh), mesh))
    return tuple(side for side in best if side > 1)


def _steps(place, mesh):
    """(dimension, step, neighbour) for each neighbour of a place."""
    for dimension, side in enumerate(mesh):
        for step in (1, -1):
            at = place[dimension] + step
            if 0 <= at < side:
                yield dimension, step, (*place[:dimension], at, *place[dimension + 1 :])


def messages(nodes, mesh):
    """Between the nodes, counted one by one. A place tells its neighbour about the
    nodes that agree with it in the dimensions before, and are there or further on; not
    if there is none, nor if the same node looks after both places."""
    places = list(itertools.product(*map(range, mesh)))
    layer = math.prod(mesh[1:])
    host = {
        place: number if number < nodes else number - layer
        for number, place in enumerate(places)
    }

    def is_sent(place, dimension, step, to):
        return host[place] != host[to] and any(
            other[:dimension] == to[:dimension]
            and (other[dimension] - to[dimension]) * step >= 0
            for other in places[:nodes]
        )

    return sum(
        is_sent(place, *neighbour)
        for place in places
        for neighbour in _steps(place, mesh)
    )


def formula(nodes, dimensions):
    """(in words, number): the messages of a sweep. In closed form where the mesh has a
    node at each place and equal sides; with others the mesh is told."""
    mesh = sides(nodes, dimensions)
    count = messages(nodes, mesh)
    if nodes == 1:
        return "one node", count
    if math.prod(mesh) > nodes or len(set(mesh)) > 1:
        return f"{nodes} nodes in {'x'.join(map(str, mesh))} = {count}", count
    side, of_sides = mesh[0], len(mesh)
    if side == 2:
        return f"N log2 N = {nodes * of_sides}", nodes * of_sides
    closed = 2 * of_sides * (nodes - nodes // side)
    return f"2 d (N - N / k) = {closed}, d = {of_sides}", closed
